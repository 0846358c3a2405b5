/**
 * Holm's step-down adjustment (Holm 1979) over the registered family.
 * Promises: m is the number of REGISTERED tests; a test that was not run has p null, stays null and stays in m.
 */
import { closedUnit, count, fields, list, refuse, spend } from './input.ts';
import { compare, ONE, print, type Rational, rational, smaller, ZERO } from './rational.ts';

export interface HolmResult {
  readonly adjustedExact: readonly (string | null)[];
  readonly rejectAt05: readonly (boolean | null)[];
}

/** Digits of all p together: they are compared and written out as rationals. */
const MAX_DIGITS = 2_000_000;
const FIVE_PERCENT: Rational = { num: 1n, den: 20n };

/** {p: list of p or null, registered} -> adjusted p in input order. */
export function holm(input: unknown): HolmResult {
  const given = fields(input, ['p', 'registered']);
  const digits = { spent: 0 };
  const p = list(given.p, 'p').map((item, index) => {
    if (item === null) return null;
    spend(item, `p[${index}]`, digits, MAX_DIGITS);
    return closedUnit(item, `p[${index}]`);
  });
  const registered = count(given.registered ?? p.length, 'registered');
  if (registered < p.length) refuse('registered', `at least the ${p.length} tests given`, registered);
  const adjusted = holmAdjust(p, registered);
  return {
    adjustedExact: adjusted.map((value) => (value === null ? null : print(value))),
    rejectAt05: adjusted.map((value) => (value === null ? null : compare(value, FIVE_PERCENT) <= 0)),
  };
}

/** p_(r)·(m-r+1), running maximum, at most 1; ties keep input order. */
export function holmAdjust(
  p: readonly (Rational | null)[],
  registered: number,
): readonly (Rational | null)[] {
  const run = p.flatMap((value, index) => (value === null ? [] : [{ value, index }]));
  run.sort((a, b) => compare(a.value, b.value) || a.index - b.index);
  const adjusted: (Rational | null)[] = p.map(() => null);
  let largest = ZERO;
  for (const [rank, { value, index }] of run.entries()) {
    const scaled = smaller(ONE, rational(value.num * BigInt(registered - rank), value.den));
    if (compare(scaled, largest) > 0) largest = scaled;
    adjusted[index] = largest;
  }
  return adjusted;
}
