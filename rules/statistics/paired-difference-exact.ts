/**
 * Exact unconditional interval for the difference of two paired proportions: two one-sided tests ordered by Tango's
 * score, each p the worst case over the nuisance rate q = P(b) + P(c).
 * Promises: the printed interval contains the defined one. The lower end is a D0 below which p <= (1-level)/2 is PROVEN
 * for every D0 and every q; `lower.to` is a D0 at which p > (1-level)/2 is proven. The end lies between the two, which are
 * some 1e-9 apart unless the scores of many tables cross at one point. The upper end is the mirror of (c, b).
 * Does not promise: more than MAX_PAIRS pairs (E_STATS_LIMIT), or the shortest exact interval (Wang 2012).
 *
 * Proof. For a fixed region that is an up-set, raising D at fixed q turns losses into wins and so raises the region's
 * probability. Hence over a cell [from, to] of D0 the p is at most the probability, at D = to, of the union of the
 * regions of the cell, for the q that exist there; smaller q in a cell above 0 are covered by q = to in the same way. That is
 * one polynomial in q, bounded by its Bernstein coefficients (region-mass). Cells are laid side by side from -1 on.
 */
import { fail } from '../../store/format/errors.ts';
import { count, fields, levelOf, refuse } from './input.ts';
import { mirrored } from './paired-difference.ts';
import { tailOf } from './rate.ts';
import type { Rational } from './rational.ts';
import { coefficients, exceeds, staysBelow } from './region-mass.ts';
import { certain, type ObservedTable, possible } from './score-region.ts';

/** Largest number of pairs. */
export const MAX_PAIRS = 300;
/** Smallest cell: the fineness of the answer, 2^-34. */
const FINEST = 2 ** -34;
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
  const lower = lowerEnd({ b, c, n }, tail);
  const upper = lowerEnd({ b: c, c: b, n }, tail);
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

function lowerEnd(observed: ObservedTable, tail: Rational): readonly [string, string] {
  // At D0 = -1 the only possible table is the observed one, with p = 1.
  if (observed.c === observed.n) return ['-1', '-1'];
  const limit = tailDown(tail);
  const proven = sweep(observed, limit);
  // At the end of the sweep the region jumps or p passes the limit; 1 + 8e-16 makes the limit one not below the tail.
  const reached = firstAbove(observed, proven, limit * (1 + 8e-16));
  return [rounded(proven, 'down'), rounded(reached, 'up')];
}

/**
 * The largest D up to which every cell is proven. It starts beside -1: there all tables but (0, n) may be in the region,
 * (0, n) has a negative score and the observed table a positive one, and the others' probability is at most
 * 1 - (1-h)^n <= n·h.
 */
function sweep(observed: ObservedTable, limit: number): number {
  let width = 2 ** -4;
  while (width * observed.n > limit) width /= 2;
  let proven = -1 + width;
  while (width >= FINEST) {
    const to = proven < 0 ? Math.min(0, proven + width) : Math.min(1, proven + width);
    const region = possible(observed, { from: proven, to });
    if (to > proven && staysBelow(coefficients(region, to), limit)) {
      proven = to;
      width *= 2;
    } else {
      width /= 2;
    }
  }
  return proven;
}

/** A D at or above `proven` where p is above the limit, for sure: the first of a few, ever farther; 1 if none is. */
function firstAbove(observed: ObservedTable, proven: number, limit: number): number {
  const above = (at: number): boolean => exceeds(coefficients(certain(observed, at), at), limit);
  for (let width = FINEST; width < 2; width *= 2) {
    // Where the sweep stopped just below 0, the ties at 0 itself may be what stopped it.
    if (proven <= 0 && proven + width > 0 && proven + width / 2 <= 0 && above(0)) return 0;
    const at = Math.min(1, proven + width);
    if (above(at)) return at;
  }
  return 1;
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
