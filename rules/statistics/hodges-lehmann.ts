/**
 * Hodges-Lehmann estimate with the interval that inverts the signed-rank test (Hodges and Lehmann 1963).
 * Promises: Walsh averages are exact; a level that n cannot reach gives no interval, only the range and its true level.
 * Does not promise: the tie-conditional law. With ties the tie-free distribution is used: closed interval, conservative
 * (Noether 1967).
 */

import { bitLength } from './enclosure.ts';
import { fields, levelOf, numbers } from './input.ts';
import { limitBits, onOneScale } from './ranks.ts';
import { tailOf } from './rate.ts';
import { dyadic, ONE, print, type Rational, rational, subtract } from './rational.ts';
import { refuseWithSignTest } from './sign-test.ts';
import { subsetCounts } from './subset-counts.ts';

/** Largest n: about 180,000 Walsh averages and some seconds of counting. */
const MAX_DIFFS = 600;

export interface HodgesLehmann {
  readonly estimateExact: string | null;
  readonly attainable: boolean;
  readonly loExact: string | null;
  readonly hiExact: string | null;
  readonly achievedLevelExact?: string;
  readonly rangeLoExact?: string | null;
  readonly rangeHiExact?: string | null;
  readonly rangeLevelExact?: string;
}

/** {diffs, level} -> estimate, and the interval or the range. */
export function hodgesLehmann(input: unknown): HodgesLehmann {
  const given = fields(input, ['diffs', 'level']);
  const diffs = numbers(given.diffs, 'diffs');
  const tail = tailOf(levelOf(given.level));
  const n = diffs.length;
  if (n > MAX_DIFFS)
    return refuseWithSignTest(
      'hodgesLehmann',
      `at most ${MAX_DIFFS} differences`,
      `${n}`,
      diffs,
      'two-sided',
    );
  if (n === 0) {
    const none = { estimateExact: null, attainable: false, loExact: null, hiExact: null };
    return { ...none, rangeLoExact: null, rangeHiExact: null, rangeLevelExact: '0/1' };
  }
  const { units, den } = onOneScale(diffs);
  const longest = units.reduce((most, unit) => Math.max(most, bitLength(unit)), 0);
  limitBits((longest * n * (n + 1)) / 2, n);
  const walsh = walshSums(units);
  const at = (index: number): Rational => rational(walsh[index]!, 2n * den);
  const middle = walsh[(walsh.length - 1) >> 1]! + walsh[walsh.length >> 1]!;
  const estimateExact = print(rational(middle, 4n * den));
  const cut = lowerCut(n, tail);
  if (cut === undefined) {
    const range = { rangeLoExact: print(at(0)), rangeHiExact: print(at(walsh.length - 1)) };
    const rangeLevelExact = print(subtract(ONE, dyadic(2n, n)));
    return { estimateExact, attainable: false, loExact: null, hiExact: null, ...range, rangeLevelExact };
  }
  return {
    estimateExact,
    attainable: true,
    loExact: print(at(cut.k)),
    hiExact: print(at(walsh.length - 1 - cut.k)),
    achievedLevelExact: print(subtract(ONE, dyadic(2n * cut.upTo, n))),
  };
}

/** d_i + d_j for i <= j, ascending. */
function walshSums(units: readonly bigint[]): readonly bigint[] {
  const sums: bigint[] = [];
  for (let i = 0; i < units.length; i += 1)
    for (let j = i; j < units.length; j += 1) sums.push(units[i]! + units[j]!);
  return sums.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** The largest k with P(W <= k) <= tail for ranks 1..n without ties, and its count of sign vectors. */
function lowerCut(n: number, tail: Rational): { readonly k: number; readonly upTo: bigint } | undefined {
  const half = (n * (n + 1)) >> 2;
  const ranks = Array.from({ length: n }, (_, index) => index + 1);
  const counts = subsetCounts(ranks, half);
  const fits = (upTo: bigint): boolean => upTo * tail.den <= tail.num << BigInt(n);
  if (!fits(1n)) return undefined;
  let low = 0;
  let high = half + 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(counts.upTo(middle))) low = middle;
    else high = middle;
  }
  return { k: low, upTo: counts.upTo(low) };
}
