/**
 * Chance that of k attempts drawn from n at least one, or all, passed; unbiased.
 * Promises: rationals; k > n is undefined, so null.
 */
import { fail } from '../../store/format/errors.ts';
import { choose } from './binomial.ts';
import { count, fields, refuse } from './input.ts';
import { ONE, print, rational, subtract } from './rational.ts';

const MAX_ATTEMPTS = 20_000;

/** {n, c, k} -> {passAtKExact: 1 - C(n-c,k)/C(n,k), passHatKExact: C(c,k)/C(n,k)}. */
export function passK(input: unknown): {
  readonly passAtKExact: string | null;
  readonly passHatKExact: string | null;
} {
  const given = fields(input, ['n', 'c', 'k']);
  const [n, c, k] = [count(given.n, 'n'), count(given.c, 'c'), count(given.k, 'k')];
  if (c > n) refuse('c', `at most n = ${n}`, c);
  if (n > MAX_ATTEMPTS)
    fail('E_STATS_LIMIT', {
      where: 'passK',
      wanted: `n <= ${MAX_ATTEMPTS}`,
      found: `${n}`,
      hint: 'The result is a rational of about n bits',
    });
  if (k > n) return { passAtKExact: null, passHatKExact: null };
  const all = choose(n, k);
  return {
    passAtKExact: print(subtract(ONE, rational(choose(n - c, k), all))),
    passHatKExact: print(rational(choose(c, k), all)),
  };
}
