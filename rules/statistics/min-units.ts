/**
 * The floor of p: what a number of informative units can reach at best.
 * Promises: exact powers of two.
 */
import { alphaOf, count, fields } from './input.ts';
import { dyadic, ONE, print, type Rational } from './rational.ts';

/** Smallest two-sided p of k nonzero units, 2^(1-k); 1 for none. */
export function floorOfP(k: number): Rational {
  return k <= 1 ? ONE : dyadic(1n, k - 1);
}

/** {alpha, tests} -> the least n with 2^(1-n) <= alpha/tests, Holm's first step. */
export function minUnits(input: unknown): { readonly units: number; readonly minPExact: string } {
  const given = fields(input, ['alpha', 'tests']);
  const alpha = alphaOf(given.alpha);
  const tests = BigInt(count(given.tests ?? 1, 'tests', 1));
  let units = 1;
  while (alpha.num << BigInt(units - 1) < alpha.den * tests) units += 1;
  return { units, minPExact: print(floorOfP(units)) };
}
