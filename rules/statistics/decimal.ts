/**
 * Decimal strings with a stated number of significant digits.
 * Promises: `significant` and `certified` give the decimal nearest to the value: the true value lies within half a unit
 * of the last digit. `bounds` gives a decimal on either side.
 * Does not promise: digits for an enclosure that straddles a rounding boundary: `tryRound` then gives undefined and the
 * caller comes back with more bits.
 */
import { bitLength, type Enclosure, enclose, over, power, times, whole } from './enclosure.ts';
import type { Rational } from './rational.ts';

/** Digits that every decimal of a result carries. */
export const DIGITS = 20;
/** Precision at which `certified` gives up separating: by then the value is a rounding boundary to 2^-1000. */
const MAX_BITS = 1280;

export type Rounding = 'nearest' | 'down' | 'up';

interface Scaled {
  /** The digits before and after directed rounding of a magnitude: a whole number with the wanted count of digits. */
  readonly units: bigint;
  /** Power of ten of the first digit. */
  readonly exponent: number;
}

/** `value` to `digits` significant digits. `down` is toward minus infinity. Exact. */
export function significant(value: Rational, digits = DIGITS, rounding: Rounding = 'nearest'): string {
  if (value.num === 0n) return '0';
  const negative = value.num < 0n;
  const num = negative ? -value.num : value.num;
  const up = rounding === 'nearest' ? 'nearest' : (rounding === 'up') !== negative ? 'up' : 'down';
  const scaled = scale(num, value.den, digits, up);
  return `${negative ? '-' : ''}${layout(scaled, digits)}`;
}

function scale(num: bigint, den: bigint, digits: number, rounding: Rounding): Scaled {
  let exponent = guess(num, den);
  if (!atLeastPower(num, den, exponent)) exponent -= 1;
  else if (atLeastPower(num, den, exponent + 1)) exponent += 1;
  const shift = digits - 1 - exponent;
  const top = shift >= 0 ? num * 10n ** BigInt(shift) : num;
  const bottom = shift >= 0 ? den : den * 10n ** BigInt(-shift);
  let units = top / bottom;
  const rest = top - units * bottom;
  if (rest > 0n && (rounding === 'up' || (rounding === 'nearest' && rest * 2n >= bottom))) units += 1n;
  return units === 10n ** BigInt(digits)
    ? { units: units / 10n, exponent: exponent + 1 }
    : { units, exponent };
}

/** floor(log10(num/den)), or one beside it. log10 2 = 0.30102999566..., so six digits do up to 10^6 bits. */
function guess(num: bigint, den: bigint): number {
  return Math.floor(((bitLength(num) - bitLength(den)) * 30102999566) / 100000000000);
}

function atLeastPower(num: bigint, den: bigint, exponent: number): boolean {
  return exponent >= 0 ? num >= den * 10n ** BigInt(exponent) : num * 10n ** BigInt(-exponent) >= den;
}

/** Plain notation from 10^-5 up to the count of digits, else one digit, a point and an exponent. */
function layout({ units, exponent }: Scaled, digits: number): string {
  const text = units.toString();
  if (exponent < -5 || exponent > digits) {
    const mantissa = digits === 1 ? text : `${text[0]}.${text.slice(1)}`;
    return `${mantissa}e${exponent < 0 ? '' : '+'}${exponent}`;
  }
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${text}`;
  if (exponent >= digits - 1) return text + '0'.repeat(exponent - digits + 1);
  return `${text.slice(0, exponent + 1)}.${text.slice(exponent + 1)}`;
}

/** The decimal nearest to every value of the enclosure, or undefined where they differ. */
export function tryRound(value: Enclosure, digits = DIGITS): string | undefined {
  if (value.lo === 0n && value.hi === 0n) return '0';
  if (value.lo <= 0n && value.hi >= 0n) return undefined;
  const negative = value.hi < 0n;
  const magnitude = negative ? { lo: -value.hi, hi: -value.lo, exp: value.exp } : value;
  const low = scaleEnd(magnitude.lo, magnitude.exp, digits, 'nearest', 'low');
  const high = scaleEnd(magnitude.hi, magnitude.exp, digits, 'nearest', 'high');
  if (low.units !== high.units || low.exponent !== high.exponent) return undefined;
  return `${negative ? '-' : ''}${layout(low, digits)}`;
}

/** Decimals below and above every value of a non-negative enclosure. */
export function bounds(value: Enclosure, digits: number): { readonly lo: string; readonly hi: string } {
  if (value.hi === 0n) return { lo: '0', hi: '0' };
  const hi = layout(scaleEnd(value.hi, value.exp, digits, 'up', 'high'), digits);
  if (value.lo <= 0n) return { lo: '0', hi };
  return { lo: layout(scaleEnd(value.lo, value.exp, digits, 'down', 'low'), digits), hi };
}

/**
 * Rounds m·2^exp. Large exponents go through an enclosure of the power of ten, so that 10^301030 is never written out;
 * `side` says which end of that enclosure to round.
 */
function scaleEnd(m: bigint, exp: number, digits: number, rounding: Rounding, side: 'low' | 'high'): Scaled {
  if (Math.abs(exp) < 4096) {
    const shift = BigInt(Math.abs(exp));
    return exp >= 0 ? scale(m << shift, 1n, digits, rounding) : scale(m, 1n << shift, digits, rounding);
  }
  const bits = bitLength(m) + 96;
  const tens = Math.floor((exp * 30102999566) / 100000000000);
  const ten = power(whole(10n), Math.abs(tens), bits);
  const rest = tens >= 0 ? over(scaledTwo(m, exp), ten, bits) : times(scaledTwo(m, exp), ten, bits);
  const near = scaleEnd(side === 'low' ? rest.lo : rest.hi, rest.exp, digits, rounding, side);
  return { units: near.units, exponent: near.exponent + tens };
}

function scaledTwo(m: bigint, exp: number): Enclosure {
  return { lo: m, hi: m, exp };
}

/** The nearest decimal of a number that `compute` encloses ever more narrowly as it is given more bits. */
export function certified(compute: (bits: number) => Enclosure, digits = DIGITS, first = 96): string {
  for (let bits = first; ; bits *= 2) {
    const value = compute(bits);
    const text = tryRound(value, digits);
    if (text !== undefined) return text;
    if (bits >= MAX_BITS) return significant(rationalOf(value.hi, value.exp), digits);
  }
}

function rationalOf(m: bigint, exp: number): Rational {
  return exp >= 0 ? { num: m << BigInt(exp), den: 1n } : { num: m, den: 1n << BigInt(-exp) };
}

/** The nearest decimal of a rational that may be very long: through enclosures, so that 10^300000 costs little. */
export function rationalDecimal(value: Rational, digits = DIGITS): string {
  if (value.num === 0n) return '0';
  const long = bitLength(value.den) > 4096 || bitLength(value.num) > 4096;
  return long ? certified((bits) => enclose(value, bits), digits) : significant(value, digits);
}
