/**
 * Numbers as a report prints them (reference: statistics, section 10): interval ends are rounded outward, a percent
 * never stands without its count and is whole below 100 units.
 */
import { parse, type Rational } from '../statistics/rational.ts';

/** A decimal in [0, 1] cut to `digits` places, towards zero. */
export const downTo = (decimal: string, digits: number): string => rounded(decimal, digits, false);
/** The same, rounded up. */
export const upTo = (decimal: string, digits: number): string => rounded(decimal, digits, true);

function rounded(decimal: string, digits: number, up: boolean): string {
  const value = parse(decimal) as Rational;
  const scale = 10n ** BigInt(digits);
  const scaled = value.num * scale;
  const floor = scaled / value.den;
  const units = up && scaled % value.den !== 0n ? floor + 1n : floor;
  const text = units.toString().padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

export function rateText({ solved, runs }: { readonly solved: number; readonly runs: number }): string {
  return runs === 0 ? '0/0 (no data)' : `${solved}/${runs} (${percent(solved, runs)})`;
}

/** Whole below 100 units, one place from there on; rounded half up. */
function percent(part: number, whole: number): string {
  const places = whole < 100 ? 1 : 10;
  const units = Math.floor((2 * part * 100 * places + whole) / (2 * whole));
  return places === 1 ? `${units}%` : `${Math.floor(units / 10)}.${units % 10}%`;
}
