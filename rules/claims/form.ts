/**
 * How a field of a record is printed where a claim says so.
 * Promises: the same field and form give the same words; a field that has not the shape of the form is E_CLAIM.
 */
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { ClaimForm } from '../contracts/claim.ts';
import { decimalOfMicros } from '../cost.ts';
import { printDifference, printInterval, printP, printShare } from '../statistics/print.ts';

/** The words for a value. Throws E_CLAIM, E_STATS_INPUT. */
export function inForm(value: Value | undefined, form: ClaimForm): string {
  switch (form) {
    case 'plain':
      return plain(value);
    case 'difference':
      return printDifference(text(value, form));
    case 'p':
      return printP(text(value, form));
    case 'share':
      return share(value);
    case 'percent':
      return /\((.*)\)$/.exec(share(value))?.[1] ?? unfit(value, form);
    case 'interval':
      return interval(value);
    case 'money':
      return typeof value === 'number' ? decimalOfMicros(value) : unfit(value, form);
  }
}

function plain(value: Value | undefined): string {
  const scalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return scalar && value !== '' ? String(value) : unfit(value, 'plain');
}

const text = (value: Value | undefined, form: ClaimForm): string =>
  typeof value === 'string' ? value : unfit(value, form);

/** `{solved, runs}`. */
function share(value: Value | undefined): string {
  const { solved, runs } = fields(value, 'share');
  return typeof solved === 'number' && typeof runs === 'number'
    ? printShare(solved, runs)
    : unfit(value, 'share');
}

/** `{lo, hi}`. */
function interval(value: Value | undefined): string {
  const { lo, hi } = fields(value, 'interval');
  return typeof lo === 'string' && typeof hi === 'string'
    ? printInterval({ lo, hi })
    : unfit(value, 'interval');
}

function fields(value: Value | undefined, form: ClaimForm): Readonly<Record<string, Value>> {
  const map = typeof value === 'object' && value !== null && !Array.isArray(value);
  return map ? (value as Record<string, Value>) : unfit(value, form);
}

function unfit(value: Value | undefined, form: ClaimForm): never {
  const found = value === undefined ? 'no such field' : JSON.stringify(value).slice(0, 80);
  return fail('E_CLAIM', { wanted: `a field that can be printed as ${form}`, found });
}
