/**
 * One comparison of two arms by reward: task first, these tasks only beside it.
 * Promises: swapping the arms mirrors every number; a run that does not count changes none; no p is an approximation.
 * Does not promise: independence of tasks; the registered cluster field joins those that hang together.
 */
import type { Study } from '../contracts/study.ts';
import type { Comparison, Result } from '../contracts/summary.ts';
import { marginLevel, registeredSize } from '../power/design.ts';
import { exactly, floorOfSides, thresholdOf } from '../power/sides.ts';
import { mcnemarTest } from '../statistics/mcnemar.ts';
import { discordantOddsRatioCI } from '../statistics/odds-ratio.ts';
import { oneSidedUpper } from '../statistics/rate.ts';
import { HALF, multiply, print, type Rational, ZERO } from '../statistics/rational.ts';
import { signFlipOf } from '../statistics/sign-flip.ts';
import { type Aggregate, aggregate, missingRange, type PairTable, passes } from '../statistics/tasks.ts';
import { wilcoxonSignedRank } from '../statistics/wilcoxon.ts';
import type { Asked } from './asked.ts';
import type { Intervals } from './numbers.ts';
import { type Cell, isPair, missingOf, outcomesOf, partialOutcomes } from './pairs.ts';
import { resourcesOf } from './resources.ts';
import { spendingP, stopOf } from './stop.ts';

/** Holm and the verdict are added once all tests are there: see `conclude`. */
export function compareArms(
  asked: Asked,
  cells: readonly Cell[],
  study: Study,
  intervals: Intervals,
): Comparison {
  const { id, treatment, control, standing, primary, test } = asked;
  const pairs = cells.filter(isPair);
  const units = aggregate(outcomesOf(pairs));
  const { b, c, n } = units.table;
  const solved = passes(units.table);
  const threshold = thresholdOf(study.alpha, registeredSize(study));
  const reached = { planned: cells.length, completed: n, b, c, threshold: print(threshold) };
  const stop = stopOf(study.stop, test, standing === 'registered', reached);
  const range = missingRange(partialOutcomes(cells));
  return {
    ...{ id, treatment, control, standing, primary, test },
    challenges: asked.tasks.map(({ challenge }) => challenge),
    keys: [...new Set(asked.tasks.map(({ key }) => key))].sort(),
    tasks: units.tasks.length,
    clusters: units.clusters.length,
    pairs: n,
    table: named(units.table),
    byTask: units.tasks.map(({ task, table, difference }) => ({
      challenge: task,
      table: named(table),
      difference: print(difference),
    })),
    treatmentRate: intervals.rate(solved.treatment, n),
    controlRate: intervals.rate(solved.control, n),
    difference: print(units.perTask ?? ZERO),
    differencePairs: print(units.perPair ?? ZERO),
    differenceInterval: intervals.difference({ b, c, n }),
    result: resultOf(asked, units, spendingP(study.stop, stop)),
    flip: flipOf(asked, units),
    ...theseTasks(units.table, test.sides, intervals.level),
    ...noWorseOf(asked, units.table, threshold, intervals),
    order: orderOf(units),
    missing: {
      ...missingOf(cells),
      range: range === null ? null : { lo: print(range.lo), hi: print(range.hi) },
    },
    stop,
    treatmentResources: resourcesOf(pairs.map((pair) => pair.treatment)),
    controlResources: resourcesOf(pairs.map((pair) => pair.control)),
    verdict: 'exploratory',
  };
}

const named = ({ a, b, c, d }: PairTable): Comparison['table'] => ({
  both: a,
  treatmentOnly: b,
  controlOnly: c,
  neither: d,
});

function resultOf(asked: Asked, units: Aggregate, spending: ReturnType<typeof spendingP>): Result {
  const { statistic } = asked.test;
  if (units.table.n === 0) return untested(asked, 'no pair counts');
  if (statistic === 'signFlip') return flipOf(asked, units);
  if (statistic === 'wilcoxonSignedRank') return ranksOf(asked, units);
  if (statistic === 'nonInferiority')
    return { ...untested(asked, 'decided by the exact interval and the margin'), unit: 'pair' };
  const { b, c } = units.table;
  const { p, pExact } = mcnemarTest(b, c, asked.test.sides);
  const floor = print(floorOfSides(b + c, asked.test.sides));
  return { unit: 'pair', informative: b + c, p: pExact ?? p, floor, adjusted: null, ...spending };
}

const untested = ({ test }: Asked, why: string): Result => ({
  unit: test.cluster,
  informative: 0,
  p: null,
  floor: null,
  adjusted: null,
  why,
});

function flipOf(asked: Asked, units: Aggregate): Result {
  const { sides, cluster } = asked.test;
  const floor = print(floorOfSides(units.informative, sides));
  const shape = { unit: cluster, informative: units.informative, floor, adjusted: null };
  const found = exactly(() =>
    signFlipOf(
      units.clusters.map(({ difference }) => difference),
      sides,
    ),
  );
  return 'refused' in found ? { ...shape, p: null, why: found.refused } : { ...shape, p: found.pExact };
}

function ranksOf(asked: Asked, units: Aggregate): Result {
  const { sides, cluster, zeros } = asked.test;
  const floor = print(floorOfSides(units.informative, sides));
  const shape = { unit: cluster, informative: units.informative, floor, adjusted: null };
  const diffs = units.clusters.map(({ difference }) => print(difference));
  const found = exactly(() => wilcoxonSignedRank({ diffs, zeroMethod: zeros, alternative: sides }));
  return 'refused' in found ? { ...shape, p: null, why: found.refused } : { ...shape, p: found.pExact };
}

function theseTasks({ b, c }: PairTable, sides: Asked['test']['sides'], level: string) {
  const { p, pExact, pMid, pMidExact } = mcnemarTest(b, c, sides);
  const { estimateExact, lo, hi } = discordantOddsRatioCI({ b, c, level });
  return {
    mcnemar: { p: pExact ?? p, midP: pMidExact ?? pMid },
    oddsRatio: { estimate: estimateExact, lo, hi },
  };
}

function noWorseOf(
  { test, standing }: Asked,
  { b, c, n }: PairTable,
  threshold: Rational,
  intervals: Intervals,
): Pick<Comparison, 'noWorse'> {
  if (test.statistic !== 'nonInferiority' || test.margin === undefined || standing !== 'registered')
    return {};
  const found = intervals.difference({ b, c, n }, marginLevel(test.sides, threshold));
  if ('refused' in found) return {};
  const alpha = print(test.sides === 'two-sided' ? multiply(threshold, HALF) : threshold);
  const harmedUpper = oneSidedUpper({ k: c, n, alpha }).hi;
  return {
    noWorse: { margin: test.margin, alpha, level: found.level, lo: found.lo, harmed: c, harmedUpper },
  };
}

/** A sign test of discordant pairs by which arm ran first: two-sided whatever the test is. */
function orderOf({ order }: Aggregate): Comparison['order'] {
  const { p, pExact } = mcnemarTest(order.firstWon, order.secondWon, 'two-sided');
  return { ...order, p: pExact ?? p };
}
