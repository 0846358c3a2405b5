/**
 * Rational numbers on BigInt.
 * Promises: every value is reduced, its denominator positive; arithmetic is exact.
 * Does not promise: speed where both parts have more than some 10^5 bits (reducing is quadratic).
 */

export interface Rational {
  readonly num: bigint;
  readonly den: bigint;
}

export const ZERO: Rational = { num: 0n, den: 1n };
export const ONE: Rational = { num: 1n, den: 1n };
export const HALF: Rational = { num: 1n, den: 2n };

export function absolute(x: bigint): bigint {
  return x < 0n ? -x : x;
}

/** Greatest common divisor, never negative. */
export function gcd(a: bigint, b: bigint): bigint {
  let x = absolute(a);
  let y = absolute(b);
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** num/den, reduced. `den` must not be 0. */
export function rational(num: bigint, den: bigint = 1n): Rational {
  if (den === 0n) throw new RangeError('denominator 0');
  const divisor = gcd(num, den) * (den < 0n ? -1n : 1n);
  return divisor === 1n ? { num, den } : { num: num / divisor, den: den / divisor };
}

/** num/2^exponent, reduced by counting factors of two: linear where `rational` is quadratic. */
export function dyadic(num: bigint, exponent: number): Rational {
  if (num === 0n) return ZERO;
  const shift = Math.min(trailingZeros(num), exponent);
  return { num: num >> BigInt(shift), den: 1n << BigInt(exponent - shift) };
}

function trailingZeros(x: bigint): number {
  let zeros = 0;
  let step = 64;
  while (BigInt.asUintN(zeros + step, x) === 0n) {
    zeros += step;
    step *= 2;
  }
  let rest = BigInt.asUintN(step, x >> BigInt(zeros));
  for (let half = step / 2; half >= 1; half /= 2) {
    if (BigInt.asUintN(half, rest) !== 0n) continue;
    rest >>= BigInt(half);
    zeros += half;
  }
  return zeros;
}

export function add(a: Rational, b: Rational): Rational {
  return rational(a.num * b.den + b.num * a.den, a.den * b.den);
}

export function subtract(a: Rational, b: Rational): Rational {
  return rational(a.num * b.den - b.num * a.den, a.den * b.den);
}

export function multiply(a: Rational, b: Rational): Rational {
  return rational(a.num * b.num, a.den * b.den);
}

/** a/b; b must not be 0. */
export function divide(a: Rational, b: Rational): Rational {
  return rational(a.num * b.den, a.den * b.num);
}

export function negate(a: Rational): Rational {
  return { num: -a.num, den: a.den };
}

/** Negative, 0 or positive as a < b, a = b, a > b. */
export function compare(a: Rational, b: Rational): number {
  const left = a.num * b.den;
  const right = b.num * a.den;
  return left < right ? -1 : left > right ? 1 : 0;
}

export function smaller(a: Rational, b: Rational): Rational {
  return compare(a, b) <= 0 ? a : b;
}

/** The reduced spelling `num/den`, also for whole numbers. */
export function print(a: Rational): string {
  return `${a.num}/${a.den}`;
}

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,7}))?$/;
const FRACTION = /^([+-]?\d+)\/(\d+)$/;
/** Largest power of ten that a spelling may ask for, and longest run of digits. */
const MAX_EXPONENT = 400_000;
const MAX_DIGITS = 400_000;

/** The value of `12`, `-0.3`, `2e-301030` or `3/64`; undefined for any other text or beyond 10^±400000. */
export function parse(text: string): Rational | undefined {
  if (text.length > MAX_DIGITS) return undefined;
  const fraction = FRACTION.exec(text);
  if (fraction !== null) {
    const den = BigInt(fraction[2]!);
    return den === 0n ? undefined : rational(BigInt(fraction[1]!), den);
  }
  const decimal = DECIMAL.exec(text);
  if (decimal === null) return undefined;
  const [, sign, whole = '', part = '', power = '0'] = decimal;
  if (whole === '' && part === '') return undefined;
  const exponent = Number(power) - part.length;
  if (Math.abs(exponent) > MAX_EXPONENT) return undefined;
  const digits = BigInt(`${whole}${part}`) * (sign === '-' ? -1n : 1n);
  return exponent >= 0
    ? { num: digits * 10n ** BigInt(exponent), den: 1n }
    : rational(digits, 10n ** BigInt(-exponent));
}
