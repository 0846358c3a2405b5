/**
 * The exact sign-flip test over clusters (tasks): all 2^k ways to swap the arms inside whole clusters.
 * Promises: the statistic is the sum of cluster mean differences; clusters with mean 0 never change p; epochs inside a
 * cluster need not be independent. With one epoch a cluster of binary data it equals McNemar's exact test.
 * Does not promise: many clusters of large, all different values: E_STATS_LIMIT with the exact sign test instead.
 */
import { rationalDecimal } from './decimal.ts';
import { type Alternative, alternativeOf, fields, list, numbers, refuse } from './input.ts';
import { onOneScale } from './ranks.ts';
import { absolute, add, print, type Rational, rational, ZERO } from './rational.ts';
import { sidedP } from './sided.ts';
import { refuseWithSignTest } from './sign-test.ts';
import { signCounts } from './signed-sums.ts';

export interface SignFlipResult {
  readonly nClusters: number;
  /** k: clusters that carry information. The smallest two-sided p is 2^(1-k). */
  readonly nNonzero: number;
  readonly estimateExact: string | null;
  readonly p: string;
  readonly pExact: string;
}

/** {clusters: lists of differences, alternative} -> {nClusters, nNonzero, estimateExact, p, pExact}. */
export function signFlip(input: unknown): SignFlipResult {
  const given = fields(input, ['clusters', 'alternative']);
  const digits = { spent: 0 };
  const clusters = list(given.clusters, 'clusters').map((cluster, index) => {
    const diffs = numbers(cluster, `clusters[${index}]`, digits);
    return diffs.length === 0
      ? refuse(`clusters[${index}]`, 'at least one difference', cluster)
      : mean(diffs);
  });
  return signFlipOf(clusters, alternativeOf(given.alternative));
}

/** The test on cluster means. */
export function signFlipOf(means: readonly Rational[], alternative: Alternative): SignFlipResult {
  const units = onOneScale(means).units.filter((unit) => unit !== 0n);
  const observed = units.reduce((sum, unit) => (unit > 0n ? sum + unit : sum), 0n);
  const counts = signCounts(units.map(absolute), observed);
  if (counts === undefined)
    return refuseWithSignTest(
      'signFlip',
      'up to 44 clusters, or values on a coarser scale',
      `${units.length}`,
      means,
      alternative,
    );
  const p = sidedP(counts, alternative);
  return {
    nClusters: means.length,
    nNonzero: units.length,
    estimateExact: means.length === 0 ? null : print(mean(means)),
    p: rationalDecimal(p),
    pExact: print(p),
  };
}

/** Mean of a list that is not empty. */
export function mean(values: readonly Rational[]): Rational {
  const { units, den } = onOneScale(values);
  const sum = units.reduce((total, unit) => total + unit, 0n);
  return rational(sum, den * BigInt(values.length));
}

/** Sum of rationals. */
export function sumOf(values: readonly Rational[]): Rational {
  return values.reduce(add, ZERO);
}
