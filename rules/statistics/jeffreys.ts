/**
 * Jeffreys' interval for a rate: quantiles of Beta(k + 1/2, n - k + 1/2), with the ends of Brown, Cai and DasGupta 2001.
 * Promises: quantiles to 20 digits; lo = 0 at k = 0, hi = 1 at k = n.
 * Does not promise: coverage. It is Bayesian, for the comparison block only, never to be labelled exact.
 */
import { enclosedChoose } from './binomial.ts';
import { certified } from './decimal.ts';
import {
  bitLength,
  type Enclosure,
  enclose,
  halved,
  minus,
  over,
  power,
  squareRoot,
  times,
  UNIT,
  whole,
} from './enclosure.ts';
import { fields, levelOf, successes } from './input.ts';
import { pi } from './normal.ts';
import { deviation, limitTrials, type RateInterval, tailOf } from './rate.ts';
import type { Rational } from './rational.ts';
import { enclosedRoot } from './root.ts';
import { factor, seriesSum } from './series.ts';

/** {k, n, level} -> {lo, hi}, Bayesian. */
export function jeffreys(input: unknown): RateInterval {
  const given = fields(input, ['k', 'n', 'level']);
  const { k, n } = successes(given);
  const tail = tailOf(levelOf(given.level));
  limitTrials(2 * n, 'jeffreys');
  if (n === 0) return { lo: '0', hi: '1', note: 'no data' };
  return {
    lo: k === 0 ? '0' : certified((bits) => lowerQuantile(k, n, tail, bits)),
    hi: k === n ? '1' : certified((bits) => minus(UNIT, lowerQuantile(n - k, n, tail, bits), bits + 32)),
  };
}

/** The x with I_x(k + 1/2, n - k + 1/2) = tail. */
function lowerQuantile(k: number, n: number, tail: Rational, bits: number): Enclosure {
  const scale = bits + 16 + bitLength(BigInt(n)) + bitLength(tail.den / tail.num);
  const width = bits + 32;
  const inverse = inverseBeta(k, n, width);
  const target = enclose(tail, width);
  const evaluate = (units: bigint): Enclosure => {
    const x = { lo: units, hi: units, exp: -scale };
    return minus(incompleteBeta(k, n, x, inverse, width), target, width);
  };
  const high = 1n << BigInt(scale);
  const start = (BigInt(2 * k + 1) << BigInt(scale)) / BigInt(2 * n + 2);
  return enclosedRoot({ evaluate, scale, low: 0n, high, start, step: deviation(k, n, scale), bits });
}

/** 1/B(k + 1/2, n - k + 1/2) = 4^n·C(n,k) / (pi·C(2k,k)·C(2n-2k,n-k)). */
function inverseBeta(k: number, n: number, bits: number): Enclosure {
  const width = bits + 32;
  const pairs = times(enclosedChoose(2 * k, k, width), enclosedChoose(2 * (n - k), n - k, width), width);
  const ratio = over(enclosedChoose(n, k, width), times(pi(width), pairs, width), width);
  return { ...ratio, exp: ratio.exp + 2 * n };
}

/**
 * I_x(a, b) = x^a (1-x)^b / (a·B(a,b)) · (1 + (a+b)/(a+1)·x + (a+b)(a+b+1)/((a+1)(a+2))·x² + ...), or 1 - I_(1-x)(b, a),
 * whichever series is short: below the mean the first, except hard by the upper end.
 */
function incompleteBeta(k: number, n: number, x: Enclosure, inverse: Enclosure, bits: number): Enclosure {
  const y = minus(UNIT, x, 2 * bits);
  const nearOne = below(y, 1000n, BigInt(n));
  const belowMean = below(x, BigInt(2 * k + 1), BigInt(2 * n + 2));
  const nearZero = below(x, 1000n, BigInt(n));
  if (nearZero || (belowMean && !nearOne)) return lowerBeta(k, n, x, y, inverse, bits);
  return minus(UNIT, lowerBeta(n - k, n, y, x, inverse, bits), bits + 32);
}

function lowerBeta(
  k: number,
  n: number,
  x: Enclosure,
  y: Enclosure,
  inverse: Enclosure,
  bits: number,
): Enclosure {
  const width = bits + 32;
  const powers = times(power(x, k, width), power(y, n - k, width), width);
  const roots = squareRoot(times(x, y, 2 * width), width);
  const lead = over(
    times(inverse, times(powers, roots, width), width),
    halved(whole(BigInt(2 * k + 1))),
    width,
  );
  const series = seriesSum(
    { top: 2 * n, topStep: 2, bottom: 2 * k + 1, bottomStep: 2, ...factor(x, width) },
    width,
  );
  return times(lead, series, width);
}

/** Whether x < num/den for sure. */
function below(x: Enclosure, num: bigint, den: bigint): boolean {
  return x.exp >= 0 ? (x.hi << BigInt(x.exp)) * den < num : x.hi * den < num << BigInt(-x.exp);
}
