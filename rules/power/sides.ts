/** Small numbers that power and summary share: levels, thresholds, floors, and what is out of exact reach. */
import { isFault } from '../../store/format/errors.ts';
import {
  compare,
  dyadic,
  ONE,
  parse,
  print,
  type Rational,
  rational,
  subtract,
} from '../statistics/rational.ts';

export type Sides = 'two-sided' | 'greater' | 'less';

/** alpha as a rational. The contract made sure that it is a decimal. */
export const alphaOf = (alpha: string): Rational => parse(alpha) as Rational;

/** Holm's first step: alpha over the number of registered tests, at least one. */
export function thresholdOf(alpha: string, registered: number): Rational {
  const { num, den } = alphaOf(alpha);
  return rational(num, den * BigInt(Math.max(1, registered)));
}

/** Smallest p of k fair signs: 2^(1-k) on two sides, 2^-k on one; 1 for none. */
export function floorOfSides(k: number, sides: Sides): Rational {
  const exponent = sides === 'two-sided' ? k - 1 : k;
  return exponent <= 0 ? ONE : dyadic(1n, exponent);
}

/** The confidence level that belongs to an error of `alpha`, as a rational `num/den`. */
export const levelOf = (alpha: Rational): string => print(subtract(ONE, alpha));

/** A level as a decimal where it has one: 19/20 is 0.95; else as it stands. */
export function plainLevel(level: string): string {
  const { num, den } = parse(level) as Rational;
  for (let places = 0, scale = 1n; places <= 12; places += 1, scale *= 10n) {
    if ((num * scale) % den !== 0n) continue;
    const digits = ((num * scale) / den).toString().padStart(places + 1, '0');
    return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  }
  return level;
}

export const atMost = (a: Rational, b: Rational): boolean => compare(a, b) <= 0;

/** The result, or the reason in words where an exact answer is out of reach. */
export function exactly<T extends object>(compute: () => T): T | { readonly refused: string } {
  try {
    return compute();
  } catch (error) {
    if (isFault(error, 'E_STATS_LIMIT')) return { refused: error.message };
    throw error;
  }
}
