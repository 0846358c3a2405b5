/**
 * Exact intervals for a rate (Clopper and Pearson 1934).
 * Promises: ends as decimals of 20 digits, each within half a unit of the last; k = 0, k = n and n = 0 by convention.
 * Does not promise: n above 10^7 (E_STATS_LIMIT).
 */
import { fail } from '../../store/format/errors.ts';
import { MAX_TRIALS, upperTail } from './binomial.ts';
import { certified } from './decimal.ts';
import { bitLength, type Enclosure, enclose, minus, squareRootFloor, UNIT } from './enclosure.ts';
import { fields, levelOf, openUnit, successes } from './input.ts';
import { HALF, multiply, ONE, type Rational, subtract } from './rational.ts';
import { enclosedRoot } from './root.ts';

export interface RateInterval {
  readonly lo: string;
  readonly hi: string;
  readonly note?: string;
}

/** (1 - level)/2. */
export function tailOf(level: Rational): Rational {
  return multiply(subtract(ONE, level), HALF);
}

/** The p with P(X >= k | p) = alpha for n trials, to about `bits` bits; 1 <= k <= n. About 15 tails. */
export function lowerRoot(k: number, n: number, alpha: Rational, bits: number): Enclosure {
  const scale = bits + 16 + bitLength(BigInt(n)) + bitLength(alpha.den / alpha.num);
  const width = bits + 32;
  const tail = upperTail(n, k, width);
  const target = enclose(alpha, width);
  const evaluate = (units: bigint): Enclosure =>
    minus(tail({ lo: units, hi: units, exp: -scale }), target, width);
  const high = 1n << BigInt(scale);
  const start = (BigInt(k) << BigInt(scale)) / BigInt(n + 1);
  return enclosedRoot({ evaluate, scale, low: 0n, high, start, step: deviation(k, n, scale), bits });
}

/** About one standard deviation of k/n, in units of 2^-scale: only where the search begins depends on it. */
export function deviation(k: number, n: number, scale: number): bigint {
  const variance = (BigInt(k) * BigInt(n - k)) / BigInt(n) + 1n;
  return (squareRootFloor(variance) << BigInt(scale)) / BigInt(n + 1) + 1n;
}

/** The lower end for k of n as a decimal. */
export function lowerEnd(k: number, n: number, alpha: Rational): string {
  return k === 0 ? '0' : certified((bits) => lowerRoot(k, n, alpha, bits));
}

/** The upper end: by symmetry 1 - the lower end for n-k of n. */
export function upperEnd(k: number, n: number, alpha: Rational): string {
  return k === n ? '1' : certified((bits) => minus(UNIT, lowerRoot(n - k, n, alpha, bits), bits + 32));
}

export function limitTrials(n: number, name: string): void {
  if (n > MAX_TRIALS)
    fail('E_STATS_LIMIT', {
      where: name,
      wanted: `n <= ${MAX_TRIALS}`,
      found: `${n}`,
      hint: 'The ends are not approximated',
    });
}

/** {k, n, level} -> {lo, hi}: P(X >= k | lo) = P(X <= k | hi) = (1-level)/2. */
export function clopperPearson(input: unknown): RateInterval {
  const given = fields(input, ['k', 'n', 'level']);
  const { k, n } = successes(given);
  const alpha = tailOf(levelOf(given.level));
  limitTrials(n, 'clopperPearson');
  if (n === 0) return { lo: '0', hi: '1', note: 'no data' };
  return { lo: lowerEnd(k, n, alpha), hi: upperEnd(k, n, alpha) };
}

/** {k, n, alpha} -> {hi}: the largest rate that is not excluded at one-sided alpha. For harm and control challenges. */
export function oneSidedUpper(input: unknown): { readonly hi: string; readonly note?: string } {
  const given = fields(input, ['k', 'n', 'alpha']);
  const { k, n } = successes(given);
  const alpha = openUnit(given.alpha ?? '0.05', 'alpha');
  limitTrials(n, 'oneSidedUpper');
  return n === 0 ? { hi: '1', note: 'no data' } : { hi: upperEnd(k, n, alpha) };
}
