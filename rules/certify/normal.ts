/**
 * A form of text in which whitespace and JSON escaping make no difference.
 * Promises: the same form for a text, for the text with other whitespace, and for the text inside JSON strings to any
 * depth; needle and haystack are both brought into it.
 * Does not promise: a difference between texts that differ in backslashes or whitespace only; that is its purpose.
 */
import { latin1 } from '../windows.ts';

const PARTS =
  /\\+u([dD][89abAB][0-9a-fA-F]{2})\\+u([dD][c-fC-F][0-9a-fA-F]{2})|\\+u([0-9a-fA-F]{4})|\\+[nrtfb]?|[\t\n\v\f\r ]+/g;

/** The normal form of UTF-8 bytes read as Latin-1. O(length). */
export function normal(text: string): string {
  return text.replace(PARTS, (_, high?: string, low?: string, unit?: string) => {
    if (high !== undefined && low !== undefined)
      return utf8(Number.parseInt(high, 16), Number.parseInt(low, 16));
    return unit === undefined ? '' : utf8(Number.parseInt(unit, 16));
  });
}

function utf8(...units: number[]): string {
  const text = String.fromCharCode(...units);
  return /[\s\\]/.test(text) ? '' : latin1(Buffer.from(text, 'utf8'));
}

/** Steps in which a text is measured (characters). */
const STEP = 4096;

/** Index in `text` behind which the normal form is longer than `length`: where a match in it begins. O(n). */
export function indexInText(text: string, length: number): number {
  let [at, measured] = [0, 0];
  for (;;) {
    // A step ends behind a line end, which is never inside an escape.
    const end = text.indexOf('\n', at + STEP) + 1 || text.length;
    const more = normal(text.slice(at, end)).length;
    if (measured + more > length || end === text.length)
      return at + indexInStep(text.slice(at, end), length - measured);
    measured += more;
    at = end;
  }
}

function indexInStep(text: string, length: number): number {
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (normal(text.slice(0, middle)).length <= length) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
