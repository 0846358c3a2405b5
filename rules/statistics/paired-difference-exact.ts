/**
 * Exact unconditional interval for the difference of two paired proportions: two one-sided tests ordered by Tango's
 * score, each p the worst case over the nuisance rate q = P(b) + P(c).
 * Promises: the printed interval contains the defined one. The lower end is a D0 below which p <= (1-level)/2 is PROVEN
 * for every D0 and every q; `loEnclosure[1]` is a D0 at which p > (1-level)/2 is proven. The end lies between the two,
 * which are some 1e-9 apart unless the scores of many tables cross at one point. The upper end is the mirror of (c, b).
 * The proofs: lower-end (cells of D0), region-mass (all q), score-region (which tables).
 * Does not promise: more than MAX_PAIRS pairs (E_STATS_LIMIT), or the shortest exact interval (Wang 2012).
 */
import { fail } from '../../store/format/errors.ts';
import { count, fields, levelOf, refuse } from './input.ts';
import { lowerEnd } from './lower-end.ts';
import { mirrored } from './paired-difference.ts';
import { tailOf } from './rate.ts';
import type { Rational } from './rational.ts';
import type { ObservedTable } from './score-region.ts';

/** Largest number of pairs: about a second. Work grows with n² per cell, and a little with the number of cells. */
export const MAX_PAIRS = 1000;
const LEAST_TAIL = 1e-9;
/** Decimals of the ends. */
const PLACES = 10n ** 9n;

export interface PairedDifferenceExact {
  readonly lo: string;
  readonly hi: string;
  /** Where each end is proven to lie, ascending. */
  readonly loEnclosure: readonly [string, string];
  readonly hiEnclosure: readonly [string, string];
  readonly note?: string;
}

/** {b, c, n, level} -> {lo, hi} and what encloses them; b treatment only, c control only, of n pairs. */
export function pairedDifferenceExact(input: unknown): PairedDifferenceExact {
  const given = fields(input, ['b', 'c', 'n', 'level']);
  const [b, c, n] = [count(given.b, 'b'), count(given.c, 'c'), count(given.n, 'n')];
  if (b + c > n) refuse('n', `at least b + c = ${b + c}`, n);
  const tail = tailOf(levelOf(given.level));
  if (n > MAX_PAIRS)
    fail('E_STATS_LIMIT', {
      where: 'pairedDifferenceExact',
      wanted: `n <= ${MAX_PAIRS}`,
      found: `${n}`,
      hint: 'discordantOddsRatioCI and mcnemar are exact at this size',
    });
  if (tailDown(tail) < LEAST_TAIL)
    fail('E_STATS_LIMIT', {
      where: 'level',
      wanted: 'at most 1 - 2e-9',
      found: 'more',
      hint: 'Rounding would decide',
    });
  if (n === 0)
    return { lo: '-1', hi: '1', loEnclosure: ['-1', '-1'], hiEnclosure: ['1', '1'], note: 'no data' };
  const lower = endOf({ b, c, n }, tail);
  const upper = endOf({ b: c, c: b, n }, tail);
  return {
    lo: lower[0],
    hi: mirrored(upper[0]),
    loEnclosure: lower,
    hiEnclosure: [mirrored(upper[1]), mirrored(upper[0])],
  };
}

/** The tail as a double, not above it. */
function tailDown({ num, den }: Rational): number {
  return (Number((num << 1000n) / den) / 2 ** 1000) * (1 - 4e-16);
}

function endOf(observed: ObservedTable, tail: Rational): readonly [string, string] {
  // At D0 = -1 the only possible table is the observed one, with p = 1.
  if (observed.c === observed.n) return ['-1', '-1'];
  const { proven, reached } = lowerEnd(observed, tailDown(tail));
  return [rounded(proven, 'down'), rounded(reached, 'up')];
}

/** A dyadic double with nine decimals, rounded outward. */
function rounded(value: number, direction: 'down' | 'up'): string {
  const scaled = BigInt(value * 2 ** 52) * PLACES;
  const one = 1n << 52n;
  const down = scaled / one - (scaled % one !== 0n && scaled < 0n ? 1n : 0n);
  const units = direction === 'down' || down * one === scaled ? down : down + 1n;
  return units === 0n ? '0' : plain(units);
}

function plain(units: bigint): string {
  const size = units < 0n ? -units : units;
  const text = `${size / PLACES}.${(size % PLACES).toString().padStart(9, '0')}`.replace(/\.?0+$/, '');
  return units < 0n ? `-${text}` : text;
}
