/** `summary`: what the admitted runs of a close come to, in exact numbers. */
import { z } from 'zod';
import { count, derived, hex, id, link, map, sentence } from './kit.ts';
import { status } from './receipt.ts';
import { EXCLUSION_REASONS } from './study.ts';

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

export const armCounts = z.strictObject({
  planned: count(),
  started: count(),
  statuses: z.partialRecord(status, count()),
  admitted: count(),
  excluded: z.partialRecord(z.enum(EXCLUSION_REASONS), count()),
  undecided: count(),
});

/** One challenge under one comparability key: counts over its admitted attempts. */
export const task = z.strictObject({
  challenge: id(),
  taskFamily: id(),
  key: hex(64),
  arms: map(
    z.strictObject({
      runs: count(),
      delivered: count(),
      used: count(),
      solved: count(),
      /** Reward by epoch: 1, 0, or null where no run was admitted. */
      outcomes: z.array(z.union([z.literal(0), z.literal(1), z.null()])),
      grades: z.array(link('grade')),
    }),
  ),
});

export const comparison = z.strictObject({
  id: sentence(),
  treatment: id(),
  control: id(),
  /** A registered test, or `exploratory`. */
  standing: z.enum(['registered', 'exploratory']),
  tasks: count(),
  informativeTasks: count(),
  pairs: count(),
  /** Both passed, treatment only, control only, neither. */
  table: z.strictObject({ both: count(), treatmentOnly: count(), controlOnly: count(), neither: count() }),
  treatmentRate: z.strictObject({ solved: count(), runs: count(), interval }),
  controlRate: z.strictObject({ solved: count(), runs: count(), interval }),
  difference: rational,
  /** Exact McNemar over pairs: these tasks only. */
  mcnemar: z.strictObject({ p: exactNumber, midP: exactNumber }),
});

export const summary = derived('summary', {
  close: link('close'),
  study: link('study'),
  scripted: z.boolean(),
  counts: z.strictObject({ planned: count(), started: count(), arms: map(armCounts) }),
  tasks: z.array(task),
  comparisons: z.array(comparison),
});
export type Summary = z.infer<typeof summary>;
