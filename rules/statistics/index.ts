/**
 * The table of all exact statistics: name -> function from input to result.
 * Promises: same input, same result, byte for byte; bad input is E_STATS_INPUT, what is too large for an exact answer is
 * E_STATS_LIMIT. Nothing is sampled, no normal tail stands in for an exact one.
 * Does not promise: anything about how the numbers were obtained.
 */
import { cochranQ } from './cochran.ts';
import { stopRuleCurtail } from './curtail.ts';
import { fisherExact } from './fisher.ts';
import { continuousGate } from './gate.ts';
import { hodgesLehmann } from './hodges-lehmann.ts';
import { holm } from './holm.ts';
import { refuse } from './input.ts';
import { jeffreys } from './jeffreys.ts';
import { mcnemar } from './mcnemar.ts';
import { minUnits } from './min-units.ts';
import { discordantOddsRatioCI } from './odds-ratio.ts';
import { pairedDifference } from './paired-difference.ts';
import { pairedDifferenceExact } from './paired-difference-exact.ts';
import { passK } from './pass-k.ts';
import { mcnemarMde, mcnemarPower } from './power.ts';
import { clopperPearson, oneSidedUpper } from './rate.ts';
import { sequentialBoundary, sequentialCrossing, stopRuleSequential } from './sequential.ts';
import { signFlip } from './sign-flip.ts';
import { signTest } from './sign-test.ts';
import { stratifiedMcnemar } from './stratified.ts';
import { wilcoxonSignedRank } from './wilcoxon.ts';
import { wilson } from './wilson.ts';

/** What a statistic returns: JSON without fractions; every number that is not a count is a string. */
export type StatisticValue =
  | null
  | boolean
  | number
  | string
  | readonly StatisticValue[]
  | { readonly [key: string]: StatisticValue };

export const statistics = {
  clopperPearson,
  cochranQ,
  continuousGate,
  discordantOddsRatioCI,
  fisherExact,
  hodgesLehmann,
  holm,
  jeffreys,
  mcnemar,
  mcnemarMde,
  mcnemarPower,
  minUnits,
  oneSidedUpper,
  pairedDifference,
  pairedDifferenceExact,
  passK,
  sequentialBoundary,
  sequentialCrossing,
  signFlip,
  signTest,
  stopRuleCurtail,
  stopRuleSequential,
  stratifiedMcnemar,
  wilcoxonSignedRank,
  wilson,
} satisfies Record<string, (input: unknown) => unknown>;

export type StatisticName = keyof typeof statistics;

/** Whether there is a statistic of this name. */
export function isStatistic(name: string): name is StatisticName {
  return Object.hasOwn(statistics, name);
}

/** Computes one statistic by name. Throws E_STATS_INPUT for a name that is not in the table, and as the statistic does. */
export function statistic(name: string, input: unknown): StatisticValue {
  if (!isStatistic(name)) refuse('function', `one of ${Object.keys(statistics).join(', ')}`, name);
  return statistics[name](input) as StatisticValue;
}
