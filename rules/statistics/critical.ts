/**
 * Rejection limits of the fair-coin test for every number of discordant pairs.
 * Promises: for n = 0..last, the largest m with P(X <= m) <= alpha for n fair coins, or -1 where there is none; exact.
 */
import type { Rational } from './rational.ts';

/**
 * Limits for n = 0..last. From n to n+1 the limit stays or grows by one, and
 * S(n+1,m) = 2·S(n,m) - C(n,m), so each step costs a few operations on n bits.
 */
export function criticalCounts(last: number, alpha: Rational): readonly number[] {
  const limits: number[] = [-1];
  const fits = (sum: bigint, n: number): boolean => sum * alpha.den <= alpha.num << BigInt(n);
  let m = -1;
  let sum = 0n;
  /** C(n, m); 0 while m = -1. */
  let term = 0n;
  for (let n = 1; n <= last; n += 1) {
    sum = 2n * sum - term;
    if (m >= 0) term = (term * BigInt(n)) / BigInt(n - m);
    const next = m < 0 ? 1n : (term * BigInt(n - m)) / BigInt(m + 1);
    if (fits(sum + next, n)) {
      m += 1;
      sum += next;
      term = next;
    }
    limits.push(m);
  }
  return limits;
}
