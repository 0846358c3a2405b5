/**
 * Multiplicity and the word that each comparison ends with.
 * Promises: Holm's m is the registered number of tests; a test that was not run stays in it with p null. A
 * non-inferiority test is judged at alpha/m by its interval, which keeps the family's error at alpha beside Holm.
 */
import type { Full } from '../contracts/kit.ts';
import type { Study } from '../contracts/study.ts';
import type { Comparison, Measured, Summary } from '../contracts/summary.ts';
import { registeredSize } from '../power/design.ts';
import { alphaOf } from '../power/sides.ts';
import { holmAdjust } from '../statistics/holm.ts';
import { compare, parse, print, type Rational } from '../statistics/rational.ts';
import { verdict } from '../statistics/verdict.ts';

type Multiplicity = Full<Summary>['multiplicity'];

export interface Concluded {
  readonly comparisons: readonly Comparison[];
  readonly measures: readonly Measured[];
  readonly multiplicity: Multiplicity;
}

export function conclude(
  study: Study,
  comparisons: readonly Comparison[],
  measures: readonly Measured[],
): Concluded {
  const registered = registeredSize(study);
  const ran = [...comparisons, ...measures].filter(({ standing }) => standing === 'registered');
  const p = study.tests.map(({ id }) => ran.find((each) => each.id === id)?.result.p ?? null);
  const adjusted = holmAdjust(p.map(read), registered).map((value) => (value === null ? null : print(value)));
  const tests = study.tests.map(({ id }, i) => ({ id, p: p[i] ?? null, adjusted: adjusted[i] ?? null }));
  const of = (id: string) => tests.find((each) => each.id === id)?.adjusted ?? null;
  return {
    comparisons: comparisons.map((each) =>
      each.standing === 'exploratory' ? each : concludeReward(each, of(each.id), study),
    ),
    measures: measures.map((each) => concludeMeasure(each, of(each.id), study)),
    multiplicity: { alpha: study.alpha, registered, tests },
  };
}

const read = (text: string | null): Rational | null => (text === null ? null : (parse(text) ?? null));

function concludeReward(each: Comparison, adjusted: string | null, study: Study): Comparison {
  const { noWorse, difference, differencePairs, result, test } = each;
  const estimate = read(result.unit === 'pair' ? differencePairs : difference);
  const word = verdict({
    confirmatory: true,
    adjustedP: read(adjusted),
    alpha: alphaOf(study.alpha),
    estimate,
    ...(noWorse === undefined ? {} : { noWorse }),
  });
  const unsupported = test.statistic === 'nonInferiority' && noWorse === undefined;
  return { ...each, result: { ...result, adjusted }, verdict: unsupported ? 'inconclusive' : word };
}

function concludeMeasure(each: Measured, adjusted: string | null, study: Study): Measured {
  if (each.standing === 'exploratory' || each.result.p === null) return each;
  const p = read(adjusted);
  const significant = p !== null && compare(p, alphaOf(study.alpha)) <= 0;
  const sign = read(each.difference)?.num ?? 0n;
  const word = !significant || sign === 0n ? 'inconclusive' : sign < 0n ? 'supports less' : 'supports more';
  return { ...each, result: { ...each.result, adjusted }, verdict: word };
}
