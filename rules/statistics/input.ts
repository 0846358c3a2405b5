/**
 * Checks of what a statistic is asked for.
 * Promises: every refusal is E_STATS_INPUT and says the field, what was wanted and what was found; nothing is guessed
 * from a double: a number with a fraction must come as a decimal string.
 * Does not promise: that the numbers make sense as an experiment.
 */
import { fail } from '../../store/format/errors.ts';
import { compare, ONE, parse, type Rational, ZERO } from './rational.ts';

export type Alternative = 'two-sided' | 'greater' | 'less';
export type Fields = Readonly<Record<string, unknown>>;

/** Units that a list may hold. */
export const MAX_LIST = 1_000_000;

/** The input as named fields, none of which is outside `allowed`. */
export function fields(input: unknown, allowed: readonly string[]): Fields {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    refuse('input', `a map with ${allowed.join(', ')}`, input);
  for (const key of Object.keys(input))
    if (!allowed.includes(key)) refuse(key, `one of ${allowed.join(', ')}`, key);
  return input as Fields;
}

export function refuse(where: string, wanted: string, found: unknown): never {
  fail('E_STATS_INPUT', { where, wanted, found: shown(found) });
}

function shown(found: unknown): string {
  if (found === undefined) return 'nothing';
  const text = typeof found === 'bigint' ? found.toString() : (JSON.stringify(found) ?? typeof found);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** A whole number >= least, as a number or in decimal digits. */
export function count(value: unknown, where: string, least = 0): number {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < least || Object.is(number, -0))
    refuse(where, `a whole number >= ${least}`, value);
  return number;
}

/** A whole number or decimal or rational string. */
export function number(value: unknown, where: string): Rational {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return { num: BigInt(value), den: 1n };
  const parsed = typeof value === 'string' ? parse(value) : undefined;
  return parsed ?? refuse(where, 'a whole number, a decimal string or "num/den"', value);
}

/** Largest denominator of a level or significance level: some 300 decimal digits. */
const FINEST = 1n << 1024n;

/** A number in (0, 1) of at most some 300 digits. */
export function openUnit(value: unknown, where: string): Rational {
  const parsed = number(value, where);
  if (compare(parsed, ZERO) <= 0 || compare(parsed, ONE) >= 0)
    refuse(where, 'a number above 0 and below 1', value);
  return parsed.den > FINEST ? refuse(where, 'at most 300 digits', value) : parsed;
}

/** A number in [0, 1]. */
export function closedUnit(value: unknown, where: string): Rational {
  const parsed = number(value, where);
  if (compare(parsed, ZERO) < 0 || compare(parsed, ONE) > 0) refuse(where, 'a number from 0 to 1', value);
  return parsed;
}

export function list(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) refuse(where, 'a list', value);
  if (value.length > MAX_LIST) refuse(where, `at most ${MAX_LIST} elements`, value.length);
  return value;
}

/** Digits that the numbers of one question may have together, powers of ten written out. */
const MAX_DIGITS = 20_000_000;

/** What a question has spent of its digits. */
export interface Digits {
  spent: number;
}

/** A list of numbers. `digits` is shared by the lists of one question. */
export function numbers(value: unknown, where: string, digits: Digits = { spent: 0 }): readonly Rational[] {
  return list(value, where).map((item, index) => {
    spend(item, `${where}[${index}]`, digits);
    return number(item, `${where}[${index}]`);
  });
}

/** Counts the digits of one number of a question. Throws E_STATS_LIMIT above what `most` allows. */
export function spend(item: unknown, where: string, digits: Digits, most = MAX_DIGITS): void {
  digits.spent += digitsOf(item);
  if (digits.spent > most)
    fail('E_STATS_LIMIT', {
      where,
      wanted: `numbers of at most ${most} digits together`,
      found: 'more',
    });
}

function digitsOf(item: unknown): number {
  if (typeof item !== 'string') return 1;
  const power = /[eE]([+-]?\d{1,7})$/.exec(item)?.[1];
  return item.length + (power === undefined ? 0 : Math.abs(Number(power)));
}

export function oneOf<T extends string>(
  value: unknown,
  where: string,
  allowed: readonly T[],
  otherwise: T,
): T {
  if (value === undefined) return otherwise;
  const found = allowed.find((name) => name === value);
  return found ?? refuse(where, allowed.map((name) => JSON.stringify(name)).join(' or '), value);
}

/** Sides of a test; two-sided where none is given. */
export function alternativeOf(value: unknown): Alternative {
  return oneOf(value, 'alternative', ['two-sided', 'greater', 'less'], 'two-sided');
}

/** Confidence level; 0.95 where none is given. */
export function levelOf(value: unknown): Rational {
  return openUnit(value ?? '0.95', 'level');
}

/** Significance level; 0.05 where none is given. */
export function alphaOf(value: unknown): Rational {
  return openUnit(value ?? '0.05', 'alpha');
}

/** k of n: k successes in n trials. */
export function successes(input: Fields): { readonly k: number; readonly n: number } {
  const n = count(input.n, 'n');
  const k = count(input.k, 'k');
  if (k > n) refuse('k', `at most n = ${n}`, k);
  return { k, n };
}
