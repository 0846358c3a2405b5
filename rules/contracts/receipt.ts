/** `receipt`: all that one start came to. Written once for every start, whatever happened. */
import { z } from 'zod';
import { tag, verdictByTag } from './challenge.ts';
import { count, decimal, digestText, evidence, link, map, micros, record, sentence } from './kit.ts';

/** DESIGN section 2, Statuses: those with an outcome, final without one, and ours (void). */
export const OUTCOME_STATUSES = ['completed', 'timeout', 'agent_failed'] as const;
export const FINAL_STATUSES = ['memory_absent', 'memory_present'] as const;
export const VOID_STATUSES = [
  'sandbox_lost',
  'verifier_error',
  'provision_failed',
  'capped',
  'aborted',
  'lost',
] as const;
export const status = z.enum([...OUTCOME_STATUSES, ...FINAL_STATUSES, ...VOID_STATUSES]);
export type Status = z.infer<typeof status>;

export const STOP_REASONS = [
  'exit',
  'context_overflow',
  'turn_limit',
  'token_limit',
  'cost_limit',
  'refusal',
  'oom',
  'pids',
] as const;
export const stopReason = z.enum(STOP_REASONS);
export type StopReason = z.infer<typeof stopReason>;

/** Why a verdict's reward is what it is. */
export const VERDICT_REASONS = [
  'all-passed',
  'tests-failed',
  'mutation-outside',
  'list-incomplete',
  'must-fail-passed',
  'report-disagrees',
  'report-unreadable',
  'verifier-timeout',
] as const;

export const testResult = z.strictObject({
  id: sentence(),
  tag: z.union([tag, z.literal('must-fail')]),
  result: z.enum(['pass', 'fail', 'absent']),
});

export const verdict = z.strictObject({
  reward: z.union([z.literal(0), z.literal(1)]),
  reason: z.enum(VERDICT_REASONS),
  byTag: verdictByTag,
  tests: z.array(testResult),
});
export type Verdict = z.infer<typeof verdict>;

export const receipt = record('receipt', {
  start: link('start'),
  status,
  stopReason: stopReason.exactOptional(),
  /** Ours: which step failed and with which code. Absent where nothing did. */
  fault: z.strictObject({ step: sentence(), code: sentence(), detail: z.string() }).exactOptional(),
  prebuild: link('tree').exactOptional(),
  before: link('snapshot').exactOptional(),
  after: link('snapshot').exactOptional(),
  injections: z.array(link('injection')),
  exchanges: z.array(link('exchange')),
  audit: link('audit').exactOptional(),
  verdict: verdict.exactOptional(),
  /** The verifier's raw report. */
  report: evidence().exactOptional(),
  /** What the agent wrote about itself: session files and its standard streams, by name. */
  natives: z.array(z.strictObject({ name: sentence(), bytes: evidence() })),
  /** The run-time surface that `certify-run` reads, as canonical JSON. */
  surface: evidence().exactOptional(),
  replies: z.array(
    z.strictObject({
      verb: z.enum(['restore', 'snapshot-before', 'snapshot-after', 'destroy']),
      bytes: evidence(),
    }),
  ),
  hostFacts: evidence().exactOptional(),
  spend: z.strictObject({ micros: micros(), requests: count(), inputTokens: count(), outputTokens: count() }),
  /** Seconds by step, as decimals. */
  timings: map(decimal()),
  builds: map(z.strictObject({ version: sentence(), digest: digestText().exactOptional() })),
  agentVersion: sentence().exactOptional(),
  agentBinary: digestText().exactOptional(),
});
export type Receipt = z.infer<typeof receipt>;
