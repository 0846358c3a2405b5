/**
 * A registered test of a continuous measure: tokens, agent seconds or cost, by pairs of counted runs.
 * Promises: below five paired attempts no p is computed; the unit is the registered cluster; differences are exact.
 */
import type { Measured, Result } from '../contracts/summary.ts';
import { exactly, floorOfSides } from '../power/sides.ts';
import { continuousGate, LEAST_ATTEMPTS } from '../statistics/gate.ts';
import { hodgesLehmann } from '../statistics/hodges-lehmann.ts';
import { print, type Rational, rational, subtract } from '../statistics/rational.ts';
import { mean, signFlipOf } from '../statistics/sign-flip.ts';
import { wilcoxonSignedRank } from '../statistics/wilcoxon.ts';
import type { Asked } from './asked.ts';
import { type Cell, isPair, missingOf, type Pair } from './pairs.ts';
import { microsecondsOf, tokensOf } from './resources.ts';
import type { SummedRun } from './runs.ts';

export function measureArms(asked: Asked, cells: readonly Cell[], level: string): Measured {
  const { id, treatment, control, standing, primary, test } = asked;
  const pairs = cells.filter(isPair);
  const value = measureOf(test.measure);
  const clusters = clusterDifferences(pairs, value);
  const average = (of: 'treatment' | 'control') =>
    pairs.length === 0 ? null : print(mean(pairs.map((pair) => value(pair[of]))));
  return {
    ...{ id, treatment, control, standing, primary, test },
    challenges: asked.tasks.map(({ challenge }) => challenge),
    keys: [...new Set(asked.tasks.map(({ key }) => key))].sort(),
    tasks: new Set(pairs.map(({ task }) => task)).size,
    clusters: clusters.length,
    pairs: pairs.length,
    treatmentMean: average('treatment'),
    controlMean: average('control'),
    difference: clusters.length === 0 ? null : print(mean(clusters)),
    hodgesLehmann: locationOf(clusters, level),
    result: resultOf(asked, clusters, pairs.length),
    missing: missingOf(cells),
    verdict: 'exploratory',
  };
}

/** Tokens, seconds, or money in the currency's whole units. */
function measureOf(measure: Asked['test']['measure']): (run: SummedRun) => Rational {
  if (measure === 'tokens') return (run) => rational(BigInt(tokensOf(run)));
  if (measure === 'seconds') return (run) => rational(BigInt(microsecondsOf(run)), 1_000_000n);
  return ({ receipt }) => rational(BigInt(receipt.value.spend.micros), 1_000_000n);
}

/** Mean difference of each cluster's pairs, in the order of cluster names. */
function clusterDifferences(pairs: readonly Pair[], value: (run: SummedRun) => Rational): Rational[] {
  const byCluster = new Map<string, Rational[]>();
  for (const { cluster, treatment, control } of pairs) {
    const own = byCluster.get(cluster) ?? [];
    byCluster.set(cluster, [...own, subtract(value(treatment), value(control))]);
  }
  return [...byCluster].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, differences]) => mean(differences));
}

function locationOf(clusters: readonly Rational[], level: string): Measured['hodgesLehmann'] {
  if (clusters.length === 0) return { refused: 'no pair counts' };
  const found = exactly(() => hodgesLehmann({ diffs: clusters.map(print), level }));
  if ('refused' in found) return found;
  const { estimateExact, loExact, hiExact } = found;
  return { estimate: estimateExact ?? '0/1', lo: loExact ?? null, hi: hiExact ?? null };
}

function resultOf({ test }: Asked, clusters: readonly Rational[], attempts: number): Result {
  const { cluster, sides, statistic, zeros } = test;
  const informative = clusters.filter(({ num }) => num !== 0n).length;
  const shape = { unit: cluster, informative, adjusted: null };
  if (continuousGate({ attempts }).status === 'exploratory') {
    const why = `below ${LEAST_ATTEMPTS} paired attempts no p is computed`;
    return { ...shape, p: null, floor: null, why };
  }
  const floor = print(floorOfSides(informative, sides));
  const found = exactly(() =>
    statistic === 'signFlip'
      ? signFlipOf(clusters, sides)
      : wilcoxonSignedRank({ diffs: clusters.map(print), zeroMethod: zeros, alternative: sides }),
  );
  return 'refused' in found
    ? { ...shape, floor, p: null, why: found.refused }
    : { ...shape, floor, p: found.pExact };
}
