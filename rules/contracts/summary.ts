/** `summary`: what the admitted runs of a close come to, in exact numbers. */
import { z } from 'zod';
import { count, decimal, derived, hex, id, link, map, micros, positive, sentence } from './kit.ts';
import { status } from './receipt.ts';
import { EXCLUSION_REASONS, registeredTest } from './study.ts';

/** An exact rational `num/den` in lowest terms. */
export const rational = z.string().regex(/^-?\d+\/[1-9]\d*$/);
/** A rational, or a decimal of guaranteed digits where the rational is too long to print. */
export const exactNumber = z.string().regex(/^(?:-?\d+\/[1-9]\d*|-?\d+(?:\.\d+)?(?:e-?\d+)?)$/);
export const interval = z.strictObject({
  level: z.string(),
  lo: z.string(),
  hi: z.string(),
  method: sentence(),
});
/** What is not computed, with the reason in words. */
const withheldNumber = z.strictObject({ refused: sentence() });
const rate = z.strictObject({ solved: count(), runs: count(), interval });
export type Rate = z.infer<typeof rate>;

/** How a comparison is tested: registered, or what stands for it where nothing was registered. */
const test = z.strictObject({
  statistic: registeredTest.shape.statistic,
  measure: registeredTest.shape.measure,
  sides: registeredTest.shape.sides,
  zeros: registeredTest.shape.zeros,
  cluster: registeredTest.shape.cluster,
  margin: decimal().exactOptional(),
});
export type TestChoice = z.infer<typeof test>;

/** Sums over counted runs. `perSolved` is micros for each solved run; null where none is. */
const resources = z.strictObject({
  runs: count(),
  solved: count(),
  micros: micros(),
  tokens: count(),
  /** Seconds of agent turns. */
  seconds: decimal(),
  perSolved: z.nullable(rational),
});
export type Resources = z.infer<typeof resources>;

export const armCounts = z.strictObject({
  planned: count(),
  started: count(),
  statuses: z.partialRecord(status, count()),
  /** Decided so, overrides included. */
  admitted: count(),
  excluded: z.partialRecord(z.enum(EXCLUSION_REASONS), count()),
  /** Excluded by an override, which has its reason in words. */
  excludedByOverride: count(),
  undecided: count(),
  /** Starts without a receipt. */
  open: count(),
  /** Runs of an attempt that a fault of ours voided: their outcomes stay and count for nothing. */
  voided: count(),
  /** Starts of plans that no longer stand. */
  withdrawn: count(),
  /** Admitted, of an attempt that stands, with an outcome: what every number below is computed from. */
  counted: count(),
  delivered: count(),
  used: count(),
  resources,
});

/** One receipt and whether it counts. */
export const run = z.strictObject({
  receipt: link('receipt'),
  grade: link('grade').exactOptional(),
  plan: link('plan'),
  challenge: id(),
  key: hex(64),
  arm: id(),
  epoch: positive(),
  attempt: positive(),
  status,
  standing: z.enum(['counted', 'no-outcome', 'void-attempt', 'excluded', 'undecided']),
  reason: z.enum(EXCLUSION_REASONS).exactOptional(),
  override: link('override').exactOptional(),
});

/** The comparability key in the clear (DESIGN section 2). */
export const keyFields = z.strictObject({
  challenge: z.string(),
  fixture: z.string(),
  agent: z.string(),
  model: z.string(),
  conditions: map(z.string()),
  manifest: hex(64),
  verifier: hex(64),
  sourceCommit: z.string(),
});

/** One challenge under one comparability key: counts over its counted runs. */
export const task = z.strictObject({
  challenge: id(),
  taskFamily: id(),
  key: hex(64),
  fields: keyFields,
  /** What the task hangs on together with others: the label that its lesson's and its repository's tasks share. */
  lesson: sentence(),
  repository: sentence(),
  arms: map(
    z.strictObject({
      runs: count(),
      delivered: count(),
      used: count(),
      solved: count(),
      /** Reward by epoch: 1, 0, or null where no run counts. */
      outcomes: z.array(z.union([z.literal(0), z.literal(1), z.null()])),
    }),
  ),
});

const table = z.strictObject({
  /** Both passed. */
  both: count(),
  treatmentOnly: count(),
  controlOnly: count(),
  neither: count(),
});

/** What every comparison says first. */
const head = {
  id: sentence(),
  treatment: id(),
  control: id(),
  /** A registered test, or not. */
  standing: z.enum(['registered', 'exploratory']),
  primary: z.boolean(),
  test,
  /** The tasks that it is over, by challenge, and their comparability keys. */
  challenges: z.array(id()),
  keys: z.array(hex(64)),
};

/** p of the chosen statistic. Null with `why` where none is computed. */
const result = z.strictObject({
  unit: z.enum(['task', 'lesson', 'repository', 'pair']),
  /** Units that carry information. */
  informative: count(),
  p: z.nullable(exactNumber),
  /** Smallest p that this many informative units can give. */
  floor: z.nullable(exactNumber),
  /** After Holm over the registered family; null where not registered or not tested. */
  adjusted: z.nullable(exactNumber),
  why: sentence().exactOptional(),
});
export type Result = z.infer<typeof result>;

const missing = z.strictObject({
  /** Planned pairs that are no pair, and why, by arm. */
  pairs: count(),
  treatment: map(count()),
  control: map(count()),
  /** The difference had every missing run gone against the treatment, and for it. */
  range: z.nullable(z.strictObject({ lo: rational, hi: rational })),
});

const stop = z.strictObject({
  rule: z.enum(['fixed', 'curtailment', 'spending']),
  plannedPairs: count(),
  completedPairs: count(),
  discordant: count(),
  decision: z.enum(['complete', 'incomplete', 'stop-reject', 'stop-no-reject', 'continue', 'not-a-look']),
  /** Of `spending`: exact crossing probability up to each look; the last is the rule's type I error. */
  cumulative: z.array(exactNumber),
});

export const comparison = z.strictObject({
  ...head,
  tasks: count(),
  clusters: count(),
  pairs: count(),
  table,
  byTask: z.array(z.strictObject({ challenge: id(), table, difference: rational })),
  treatmentRate: rate,
  controlRate: rate,
  /** Mean over tasks, and over pairs; the two differ where tasks have unequal numbers of pairs. */
  difference: rational,
  differencePairs: rational,
  /** Of the difference over pairs: these tasks only where a task has more than one epoch. */
  differenceInterval: z.union([interval, withheldNumber]),
  result,
  /** Sign flip over clusters: tasks like these. Printed whatever statistic was chosen. */
  flip: result,
  /** Over pairs: these tasks only. */
  mcnemar: z.strictObject({ p: exactNumber, midP: exactNumber }),
  oddsRatio: z.strictObject({ estimate: z.nullable(z.string()), lo: z.string(), hi: z.string() }),
  /** Of a registered non-inferiority: is the lower end of the exact difference above -margin? */
  noWorse: z
    .strictObject({
      margin: decimal(),
      /** One-sided error of this test: alpha over m; half of it for a two-sided registration. */
      alpha: rational,
      level: z.string(),
      lo: z.string(),
      /** Pairs that the control alone passed, and the one-sided upper bound of their rate. */
      harmed: count(),
      harmedUpper: z.string(),
    })
    .exactOptional(),
  order: z.strictObject({ firstWon: count(), secondWon: count(), p: exactNumber }),
  missing,
  stop,
  treatmentResources: resources,
  controlResources: resources,
  verdict: sentence(),
});
export type Comparison = z.infer<typeof comparison>;

/** A registered test of a continuous measure. */
export const measured = z.strictObject({
  ...head,
  tasks: count(),
  clusters: count(),
  pairs: count(),
  treatmentMean: z.nullable(rational),
  controlMean: z.nullable(rational),
  /** Mean over clusters of the mean difference of their pairs. */
  difference: z.nullable(rational),
  hodgesLehmann: z.union([
    z.strictObject({ estimate: rational, lo: z.nullable(rational), hi: z.nullable(rational) }),
    withheldNumber,
  ]),
  result,
  missing: missing.omit({ range: true }),
  verdict: sentence(),
});
export type Measured = z.infer<typeof measured>;

/** A comparison that may not be made: its tasks differ in what makes results comparable. */
export const unmixed = z.strictObject({
  id: sentence(),
  treatment: id(),
  control: id(),
  standing: z.enum(['registered', 'exploratory']),
  challenges: z.array(id()),
  /** The fields of the comparability key in which they differ. */
  fields: z.array(sentence()),
});
export type Unmixed = z.infer<typeof unmixed>;

/** What the registered design could find, computed before any run and again here. */
export const design = z.strictObject({
  alpha: decimal(),
  registered: count(),
  powerOverride: z.boolean(),
  /** Whether every test can reach its own threshold. */
  reaches: z.boolean(),
  tests: z.array(
    z.strictObject({
      id: id(),
      unit: z.enum(['task', 'lesson', 'repository', 'pair']),
      tasks: count(),
      units: count(),
      pairs: count(),
      /** alpha / registered: Holm's first step. */
      threshold: rational,
      floor: z.nullable(exactNumber),
      reaches: z.boolean(),
      /** Share of units that must be won for 80% power, if none is lost and if 5% are. Null: not at any size of effect. */
      detectable: z.nullable(exactNumber),
      detectableHarmed: z.nullable(exactNumber),
      /** True size of the test at that threshold where 20% of units are discordant by chance. */
      size: z.nullable(exactNumber),
      note: sentence().exactOptional(),
    }),
  ),
});
export type Design = z.infer<typeof design>;

/** What a person decided about this study, in the order of its log. */
export const decided = z.strictObject({
  kind: z.enum(['study', 'amendment', 'addendum', 'deviation', 'task_exclusion', 'override', 'close']),
  record: link('study', 'amendment', 'addendum', 'deviation', 'task_exclusion', 'override', 'close'),
  leaf: count(),
  at: sentence(),
  who: sentence(),
  why: sentence(),
  /** What it says beyond that: the fields an amendment changed, the words of an addendum. */
  what: z.string(),
});
export type Decided = z.infer<typeof decided>;

/** Rates of one arm under each build, in the order in which the builds were first used. */
export const trend = z.strictObject({
  arm: id(),
  points: z.array(
    z.strictObject({
      build: sentence(),
      keys: z.array(hex(64)),
      rate,
      /** Fields in which this point's keys differ from the point before; joined only where there are none. */
      differs: z.array(sentence()),
    }),
  ),
});
export type Trend = z.infer<typeof trend>;

export const summary = derived('summary', {
  close: link('close'),
  study: link('study'),
  scripted: z.boolean(),
  /** The arms whose condition holds no memory: what every other arm stands beside. */
  controls: z.array(id()),
  counts: z.strictObject({ planned: count(), started: count(), micros: micros(), arms: map(armCounts) }),
  tasks: z.array(task),
  comparisons: z.array(comparison),
  /** The same comparisons as if no override had been made; empty where there is none. */
  withoutOverrides: z.array(comparison),
  measures: z.array(measured),
  unmixed: z.array(unmixed),
  multiplicity: z.strictObject({
    alpha: decimal(),
    registered: count(),
    /** Every registered test; p null where it was not run: it stays in the family. */
    tests: z.array(
      z.strictObject({ id: id(), p: z.nullable(exactNumber), adjusted: z.nullable(exactNumber) }),
    ),
  }),
  design,
  decisions: z.array(decided),
  trends: z.array(trend),
  runs: z.array(run),
});
export type Summary = z.infer<typeof summary>;
