/**
 * Wilson's score interval for a rate (1927).
 * Promises: the formula's ends to 20 digits; lo = 0 at k = 0, hi = 1 at k = n.
 * Does not promise: coverage. It is approximate, for the comparison block only, never to be labelled exact.
 */
import { certified } from './decimal.ts';
import {
  type Enclosure,
  enclose,
  halved,
  minus,
  NOUGHT,
  over,
  plus,
  squareRoot,
  times,
  UNIT,
  whole,
} from './enclosure.ts';
import { fields, levelOf, successes } from './input.ts';
import { normalQuantile } from './normal.ts';
import { type RateInterval, tailOf } from './rate.ts';
import { rational } from './rational.ts';

/** {k, n, level} -> {lo, hi}, approximate. */
export function wilson(input: unknown): RateInterval {
  const given = fields(input, ['k', 'n', 'level']);
  const { k, n } = successes(given);
  const tail = tailOf(levelOf(given.level));
  if (n === 0) return { lo: '0', hi: '1', note: 'no data' };
  const at = (bits: number) => wilsonEnds(k, n, normalQuantile(tail, bits), bits);
  return {
    lo: k === 0 ? '0' : certified((bits) => at(bits).lo),
    hi: k === n ? '1' : certified((bits) => at(bits).hi),
  };
}

/** (k + z²/2 -+ z·sqrt(k(n-k)/n + z²/4)) / (n + z²); exact at the edges. n > 0. */
export function wilsonEnds(
  k: number,
  n: number,
  z: Enclosure,
  bits: number,
): { readonly lo: Enclosure; readonly hi: Enclosure } {
  const width = bits + 32;
  const square = times(z, z, width);
  const variance = enclose(rational(BigInt(k) * BigInt(n - k), BigInt(n)), width);
  const reach = times(z, squareRoot(plus(variance, halved(halved(square)), width), width), width);
  const centre = plus(whole(BigInt(k)), halved(square), width);
  const scale = plus(whole(BigInt(n)), square, width);
  return {
    lo: k === 0 ? NOUGHT : over(minus(centre, reach, width), scale, width),
    hi: k === n ? UNIT : over(plus(centre, reach, width), scale, width),
  };
}
