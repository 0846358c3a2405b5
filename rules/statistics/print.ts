/**
 * Numbers as a report prints them.
 * Promises: interval ends are rounded outward, p upward; a percent never stands without its count and total; a p is
 * printed as the rational while its denominator fits 64 bits, else with two digits and an exponent; never as 0.000.
 * Does not promise: anything for text that is not one of our decimals or rationals (E_STATS_INPUT).
 */
import { significant } from './decimal.ts';
import { refuse } from './input.ts';
import { compare, ONE, parse, type Rational, rational, ZERO } from './rational.ts';

const WORD = 2n ** 64n;

function read(text: string): Rational {
  return parse(text) ?? refuse('number', 'a decimal or "num/den"', text);
}

/** floor or ceil of value·10^places. */
function unitsOf({ num, den }: Rational, places: number, direction: 'down' | 'up'): bigint {
  const scaled = num * 10n ** BigInt(places);
  const quotient = scaled / den;
  if (quotient * den === scaled) return quotient;
  if (direction === 'down') return scaled < 0n ? quotient - 1n : quotient;
  return scaled < 0n ? quotient : quotient + 1n;
}

/** Fixed decimals without a leading zero: .671, -.044, 1, 0, 23.5. */
function fixed(units: bigint, places: number): string {
  const size = units < 0n ? -units : units;
  const unit = 10n ** BigInt(places);
  const whole = size / unit;
  const sign = units < 0n ? '-' : '';
  if (size % unit === 0n) return `${sign}${whole}`;
  return `${sign}${whole === 0n ? '' : whole}.${(size % unit).toString().padStart(places, '0')}`;
}

/** The lower end of an interval, rounded down. 'Infinity' stays. */
export function printLow(end: string, places = 3): string {
  return end === 'Infinity' ? end : fixed(unitsOf(read(end), places, 'down'), places);
}

/** The upper end of an interval, rounded up. 'Infinity' stays. */
export function printHigh(end: string, places = 3): string {
  return end === 'Infinity' ? end : fixed(unitsOf(read(end), places, 'up'), places);
}

/** `[.671,.875]`, both ends outward. */
export function printInterval(ends: { readonly lo: string; readonly hi: string }, places = 3): string {
  return `[${printLow(ends.lo, places)},${printHigh(ends.hi, places)}]`;
}

/** `1/1024 (0.00098)`, `4.8e-295`, `1`: a p-value, from its rational where there is one, else from its decimal. */
export function printP(p: string): string {
  const value = read(p);
  if (compare(value, ZERO) < 0 || compare(value, ONE) > 0) refuse('p', 'a number from 0 to 1', p);
  if (compare(value, ONE) === 0) return '1';
  if (value.num === 0n) return '0';
  const isRational = p.includes('/');
  if (isRational && value.den <= WORD) return `${value.num}/${value.den} (${significant(value, 2, 'up')})`;
  return withExponent(value);
}

/** Two significant digits and an exponent, rounded up. */
function withExponent(value: Rational): string {
  const text = significant(value, 2, 'up');
  if (text.includes('e')) return text;
  const digits = text.replace('.', '').replace(/^0+/, '').padEnd(2, '0');
  const exponent = text.startsWith('0.') ? -(text.slice(2).search(/[1-9]/) + 1) : 0;
  return `${digits[0]}.${digits[1]}e${exponent}`;
}

/** `10/70 (14%)`: percents are whole below 100 units, with one decimal from there on; nearest. `0/0` has no percent. */
export function printShare(count: number, total: number): string {
  if (total === 0) return `${count}/${total}`;
  const places = total < 100 ? 0 : 1;
  const doubled = rational(BigInt(count) * 200n * 10n ** BigInt(places) + BigInt(total), BigInt(total) * 2n);
  const units = unitsOf(doubled, 0, 'down')
    .toString()
    .padStart(places + 1, '0');
  const percent = places === 0 ? units : `${units.slice(0, -1)}.${units.slice(-1)}`;
  return `${count}/${total} (${percent}%)`;
}

/** `+9/14 (+0.643)`, `-1/70 (-0.014)`, `0`: a difference of rates, to the nearest thousandth. */
export function printDifference(difference: string): string {
  const value = read(difference);
  if (value.num === 0n) return '0';
  const sign = value.num < 0n ? '-' : '+';
  const size = { num: value.num < 0n ? -value.num : value.num, den: value.den };
  const units = unitsOf({ num: size.num * 2000n + size.den, den: size.den * 2n }, 0, 'down');
  const decimal = `${units / 1000n}.${(units % 1000n).toString().padStart(3, '0')}`;
  const exact = size.den === 1n ? `${size.num}` : `${size.num}/${size.den}`;
  return size.den === 1n ? `${sign}${exact}` : `${sign}${exact} (${sign}${decimal})`;
}

/** `2^(1-11)`: the smallest p that k informative units can give; `1` below two. */
export function printFloorOfP(k: number): string {
  return k <= 1 ? '1' : `2^(1-${k})`;
}
