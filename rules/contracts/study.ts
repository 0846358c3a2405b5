/** `study`, a decision: the preregistration. Everything that a report may not choose afterwards stands here. */
import { z } from 'zod';
import {
  count,
  decimal,
  decision,
  derivation,
  digestText,
  epochs,
  evidence,
  id,
  link,
  map,
  micros,
  positive,
  record,
  sentence,
} from './kit.ts';

export const STAGES = ['pilot', 'history', 'main', 'extension', 'cross-check', 'exploratory'] as const;
export const executorName = z.enum(['none', 'bwrap', 'docker']);
export type ExecutorName = z.infer<typeof executorName>;
/** How strong an executor isolates: a larger number is stronger. */
export const strengthOf = (name: ExecutorName): number => executorName.options.indexOf(name);
/** Why a run may be excluded: a closed list, none about outcomes. */
export const EXCLUSION_REASONS = [
  'ineligible',
  'void',
  'audit-mutation',
  'certification-finding',
  'parity-finding',
  'registered-defect',
  'task-excluded',
  'withdrawn-by-amendment',
] as const;

/** What a study may withhold: a closed list. `trajectories`: the transcripts that are derived from natives. */
export const WITHHOLDABLE = [
  'source-tree',
  'removed',
  'natives',
  'trajectories',
  'exchanges',
  'replies',
  'reports',
  'host-facts',
] as const;
export type Withholdable = (typeof WITHHOLDABLE)[number];

export const registeredTest = z.strictObject({
  id: id(),
  treatment: id(),
  control: id(),
  /** Task families it is computed over; empty means all. */
  families: z.array(id()),
  statistic: z.enum(['signFlip', 'mcnemar', 'wilcoxonSignedRank', 'nonInferiority']),
  measure: z.enum(['reward', 'tokens', 'seconds', 'cost']),
  sides: z.enum(['two-sided', 'greater', 'less']),
  zeros: z.enum(['pratt', 'wilcox']),
  /** What one independent unit is. */
  cluster: z.enum(['task', 'lesson', 'repository']),
  primary: z.boolean(),
  /** For `nonInferiority`. */
  margin: decimal().exactOptional(),
});
export type RegisteredTest = z.infer<typeof registeredTest>;

export const study = record('study', {
  ...decision,
  /** Only where a fixture's own `explore` yielded this study. */
  derivation: derivation.exactOptional(),
  id: id(),
  /** The first version of this family; absent in the first version itself. */
  family: link('study').exactOptional(),
  version: positive(),
  previous: link('study').exactOptional(),
  stage: z.enum(STAGES),
  hypotheses: z.array(sentence()),
  /** Each pair with the conditions it is run under; an arm has its condition's name. */
  pairs: z
    .array(
      z.strictObject({
        challenge: link('challenge'),
        fixture: link('fixture'),
        conditions: z.array(link('condition')).min(1),
      }),
    )
    .min(1)
    .max(1000),
  agents: z.array(link('agent')).min(1).max(100),
  epochs: epochs(),
  orderSeed: sentence(),
  certificates: z.array(link('certificate')),
  acceptances: z.array(link('acceptance')),
  validations: z.array(link('validation')),
  tests: z.array(registeredTest),
  /** Number of registered tests in the Holm family; a test that did not run stays in it. */
  holmSize: count(),
  alpha: decimal(),
  /** The design cannot reach its own alpha, and its author registers it all the same. */
  powerOverride: z.boolean(),
  stop: z.union([
    z.strictObject({ rule: z.literal('fixed') }),
    z.strictObject({ rule: z.literal('curtailment') }),
    z.strictObject({
      rule: z.literal('spending'),
      looks: z.array(positive()).min(1),
      spend: z.array(decimal()),
    }),
  ]),
  /** Executions allowed per plan; a further one exists only after a void one. */
  attempts: positive(),
  images: map(evidence()),
  /** The weakest executor that a start may use. */
  isolation: executorName,
  network: z.literal('none'),
  caps: z.strictObject({ runMicros: micros(), stageMicros: micros(), totalMicros: micros() }),
  /** The builds under test, by provisioner name: recorded beside each point, never in the comparability key. */
  builds: map(z.strictObject({ version: sentence(), digest: digestText().exactOptional() })),
  /** Price of the model in millionths of `currency` per million tokens. */
  prices: z.strictObject({
    currency: sentence(),
    inputMicros: micros(),
    outputMicros: micros(),
    /** Cached input; as other input where absent. */
    cacheReadMicros: micros().exactOptional(),
    cacheWriteMicros: micros().exactOptional(),
  }),
  /** Digest of the rule table that this study was registered under. */
  rules: digestText(),
  exclusionReasons: z.array(z.enum(EXCLUSION_REASONS)),
  /** What counts as a defect of the apparatus, decided without looking at outcomes. */
  defectRule: z.string(),
  /** Kinds of evidence that will not be published. The first two never are. */
  withheld: z.array(z.enum(WITHHOLDABLE)),
  /** Printed word for word beside every result. */
  scopeLimits: z.array(sentence()),
});
export type Study = z.infer<typeof study>;
