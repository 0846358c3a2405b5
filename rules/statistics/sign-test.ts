/**
 * The exact sign test (Dixon and Mood 1946): zeros are dropped and counted, then McNemar's test of + against -.
 * Promises: works at every size, which is why it is what other tests name when they refuse.
 */
import { fail } from '../../store/format/errors.ts';
import { type Alternative, alternativeOf, fields, numbers } from './input.ts';
import { mcnemarTest } from './mcnemar.ts';
import type { Rational } from './rational.ts';

export interface SignTestResult {
  readonly nPositive: number;
  readonly nNegative: number;
  readonly nZero: number;
  readonly p: string;
  readonly pExact?: string;
}

/** {diffs, alternative} -> {nPositive, nNegative, nZero, p, pExact}. */
export function signTest(input: unknown): SignTestResult {
  const given = fields(input, ['diffs', 'alternative']);
  return signTestOf(numbers(given.diffs, 'diffs'), alternativeOf(given.alternative));
}

export function signTestOf(diffs: readonly Rational[], alternative: Alternative): SignTestResult {
  const nPositive = diffs.filter(({ num }) => num > 0n).length;
  const nNegative = diffs.filter(({ num }) => num < 0n).length;
  const { p, pExact } = mcnemarTest(nPositive, nNegative, alternative);
  const counts = { nPositive, nNegative, nZero: diffs.length - nPositive - nNegative };
  return pExact === undefined ? { ...counts, p } : { ...counts, p, pExact };
}

/** Refuses a test that is out of reach, with the reason and the exact sign test of the same values instead. */
export function refuseWithSignTest(
  where: string,
  wanted: string,
  found: string,
  diffs: readonly Rational[],
  alternative: Alternative,
): never {
  const { nPositive, nNegative, nZero, p, pExact } = signTestOf(diffs, alternative);
  const counts = `${nPositive} positive, ${nNegative} negative, ${nZero} zero`;
  const exact = pExact !== undefined && pExact.length <= 42 ? ` = ${pExact}` : '';
  fail('E_STATS_LIMIT', {
    where,
    wanted,
    found,
    hint: `The exact sign test (${alternative}) of the same values: ${counts}, p = ${p}${exact}`,
  });
}
