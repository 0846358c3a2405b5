/**
 * Pi and the normal quantile, enclosed. Only the approximate intervals of the comparison block need them.
 * Promises: z lies in the result: the distribution function is proven to pass the level between its two ends.
 */
import {
  bitLength,
  type Enclosure,
  enclose,
  minus,
  over,
  squareRoot,
  squareRootFloor,
  times,
  twice,
} from './enclosure.ts';
import { HALF, print, type Rational, subtract } from './rational.ts';
import { enclosedRoot } from './root.ts';
import { factor, seriesSum } from './series.ts';

/** Pi = 2·(1 + 1/3 + 1·2/(3·5) + ...), Euler's form: all terms positive, ratios j/(2j+1). */
export function pi(bits: number): Enclosure {
  const none = { factorLo: 1n, factorHi: 1n, factorBits: 0 };
  return twice(seriesSum({ top: 0, topStep: 1, bottom: 1, bottomStep: 2, ...none }, bits + 32));
}

/** Quantiles that were asked for already: a pure function, so remembering changes nothing. */
const known = new Map<string, Enclosure>();

/** The z with P(Z > z) = tail, 0 < tail < 1/2. */
export function normalQuantile(tail: Rational, bits: number): Enclosure {
  const key = `${print(tail)} ${bits}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size > 200) known.clear();
  const z = solve(tail, bits);
  known.set(key, z);
  return z;
}

/** P(0 < Z < z) = z·(1 + z²/3 + z⁴/(3·5) + ...) / (exp(z²/2)·sqrt(2 pi)); both series have positive terms. */
function solve(tail: Rational, bits: number): Enclosure {
  const inner = subtract(HALF, tail);
  const far = bitLength(tail.den / tail.num);
  const scale = bits + 16 + bitLength(inner.den / inner.num);
  const width = bits + 32 + 2 * far;
  const target = times(enclose(inner, width), squareRoot(twice(pi(width)), width), width);
  const evaluate = (units: bigint): Enclosure => {
    const z = { lo: units, hi: units, exp: -scale };
    const square = factor(times(z, z, width), width);
    const rising = seriesSum({ top: 1, topStep: 0, bottom: 1, bottomStep: 2, ...square }, width);
    const exponential = seriesSum({ top: 1, topStep: 0, bottom: 0, bottomStep: 2, ...square }, width);
    return minus(over(times(z, rising, width), exponential, width), target, width);
  };
  // exp(-z²/2)/2 >= tail bounds z by sqrt(2 ln(1/tail)), and ln 2 < 1.
  const high = (squareRootFloor(BigInt(2 * far)) + 2n) << BigInt(scale);
  const one = 1n << BigInt(scale);
  return enclosedRoot({ evaluate, scale, low: 0n, high, start: one, step: one, bits });
}
