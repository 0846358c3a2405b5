/** `challenge`: one question with its hidden verifier. No field for a judge model exists. */
import { z } from 'zod';
import { id, link, portablePath, positive, record, sentence } from './kit.ts';

export const TAGS = ['func', 'lesson', 'diag'] as const;
export const tag = z.enum(TAGS);
export type Tag = z.infer<typeof tag>;

/** What one tag's tests came to: all passed, one failed, or the list did not run in full. */
export const tagVerdict = z.enum(['pass', 'fail', 'absent']);
export const verdictByTag = z.strictObject({ func: tagVerdict, lesson: tagVerdict, diag: tagVerdict });
export type VerdictByTag = z.infer<typeof verdictByTag>;

export const environment = z.strictObject({
  /** The role that a study binds to an image. */
  image: id(),
  network: z.literal('none'),
  cpus: positive().max(64),
  memoryMb: positive().max(1_048_576),
  /** Run once per attempt, offline and without a key, before the first agent turn; empty for none. */
  prebuildArgv: z.array(z.string()),
});

export const verifier = z.strictObject({
  kind: z.literal('script'),
  /** `node-test`: `node --test` over the asset's `*.test.mjs`, read from its TAP report. */
  runtime: z.literal('node-test'),
  asset: link('tree'),
  timeoutSeconds: positive().max(86_400),
  /** Every test of the hidden suite by its full name (levels joined by ` > `). */
  tests: z.array(z.strictObject({ id: sentence(), tag })).min(1),
  /** Tests that must fail on any honest workspace. */
  mustFail: z.array(sentence()),
});

export const challenge = record('challenge', {
  id: id(),
  taskFamily: id(),
  prompt: link('raw'),
  /** Each resumes the agent's session; the workspace after the last one is graded. */
  followUps: z.array(link('raw')),
  allowedOutputPaths: z.array(portablePath()).min(1),
  agentTimeoutSeconds: positive().max(86_400),
  environment,
  verifier,
  solutions: z.array(
    z.strictObject({
      name: id(),
      /** Laid over the workspace. */
      tree: link('tree'),
      /** Paths of the workspace that the solution takes away. */
      deleted: z.array(portablePath()),
      expected: verdictByTag,
      reward: z.union([z.literal(0), z.literal(1)]),
    }),
  ),
  /** Verbatim fix or hidden-test text that may stand nowhere an agent can read. */
  answerPhrases: z.array(z.string().min(8)),
  lessons: z.array(id()),
  graders: z.array(z.enum(['audit', 'verifier'])).min(1),
});
export type Challenge = z.infer<typeof challenge>;
