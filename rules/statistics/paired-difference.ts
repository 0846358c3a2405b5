/**
 * Difference of two paired proportions with two APPROXIMATE intervals: Newcombe 1998, method 10, and Tango 1998.
 * Promises: the formulas' ends to 20 digits.
 * Does not promise: coverage; at small n both contradict the exact test. Never printed alone, never labelled exact.
 */
import { certified } from './decimal.ts';
import {
  type Enclosure,
  enclose,
  halved,
  minus,
  NOUGHT,
  opposite,
  over,
  plus,
  squareRoot,
  times,
  whole,
} from './enclosure.ts';
import { count, fields, levelOf } from './input.ts';
import { normalQuantile } from './normal.ts';
import { tailOf } from './rate.ts';
import { print, type Rational, rational } from './rational.ts';
import { enclosedRoot } from './root.ts';
import { wilsonEnds } from './wilson.ts';

export interface Ends {
  readonly lo: string;
  readonly hi: string;
}

export interface PairedDifference {
  readonly n: number;
  readonly differenceExact: string | null;
  readonly newcombe10: Ends;
  readonly tango: Ends;
  readonly note?: string;
}

/** a both pass, b treatment only, c control only, d neither. */
interface Table {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
}

/** {a, b, c, d, level} -> {n, differenceExact, newcombe10, tango}. */
export function pairedDifference(input: unknown): PairedDifference {
  const given = fields(input, ['a', 'b', 'c', 'd', 'level']);
  const table = {
    a: count(given.a, 'a'),
    b: count(given.b, 'b'),
    c: count(given.c, 'c'),
    d: count(given.d, 'd'),
  };
  const tail = tailOf(levelOf(given.level));
  const n = table.a + table.b + table.c + table.d;
  const nothing = { lo: '-1', hi: '1' };
  if (n === 0) return { n, differenceExact: null, newcombe10: nothing, tango: nothing, note: 'no data' };
  const swapped = { a: table.a, b: table.c, c: table.b, d: table.d };
  const newcombe = (of: Table) => certified((bits) => newcombeLower(of, n, tail, bits));
  const tango = (of: Table) =>
    of.c === n ? '-1' : certified((bits) => tangoLower(of.b, of.c, n, tail, bits));
  return {
    n,
    differenceExact: print(rational(BigInt(table.b - table.c), BigInt(n))),
    newcombe10: { lo: newcombe(table), hi: mirrored(newcombe(swapped)) },
    tango: { lo: tango(table), hi: mirrored(tango(swapped)) },
  };
}

/** The upper end for (b, c) is minus the lower end for (c, b). */
export function mirrored(text: string): string {
  return text === '0' ? text : text.startsWith('-') ? text.slice(1) : `-${text}`;
}

/** D - sqrt((p1-l1)² - 2 phi (p1-l1)(u2-p2) + (u2-p2)²) with Wilson ends l1 and u2. */
function newcombeLower(table: Table, n: number, tail: Rational, bits: number): Enclosure {
  const width = bits + 32;
  const z = normalQuantile(tail, width);
  const rate = (k: number) => enclose(rational(BigInt(k), BigInt(n)), width);
  const [treated, control] = [table.a + table.b, table.a + table.c];
  const down = minus(rate(treated), wilsonEnds(treated, n, z, width).lo, width);
  const up = minus(wilsonEnds(control, n, z, width).hi, rate(control), width);
  const cross = times(times(whole(2n), phi(table, n, width), width), times(down, up, width), width);
  const squares = plus(times(down, down, width), times(up, up, width), width);
  const difference = enclose(rational(BigInt(table.b - table.c), BigInt(n)), width);
  return minus(difference, squareRoot(minus(squares, cross, width), width), width);
}

/** Correlation of the two outcomes, numerator lowered by n/2 where positive; 0 where a margin is empty. */
function phi({ a, b, c, d }: Table, n: number, bits: number): Enclosure {
  const margins = BigInt(a + b) * BigInt(c + d) * BigInt(a + c) * BigInt(b + d);
  if (margins === 0n) return NOUGHT;
  const doubled = 2n * (BigInt(a) * BigInt(d) - BigInt(b) * BigInt(c));
  const stepped = doubled > 0n ? (doubled > BigInt(n) ? doubled - BigInt(n) : 0n) : doubled;
  return over(halved(whole(stepped)), squareRoot(whole(margins), bits), bits);
}

/** The D with score z(D) = z: below it the score is larger. c < n, so that there is one above -1. */
function tangoLower(b: number, c: number, n: number, tail: Rational, bits: number): Enclosure {
  const scale = bits + 64;
  const width = 2 * bits + 128;
  const z = normalQuantile(tail, width);
  const one = 1n << BigInt(scale);
  const high = (BigInt(b - c) << BigInt(scale)) / BigInt(n) + one;
  const evaluate = (units: bigint): Enclosure => {
    const difference = { lo: units - one, hi: units - one, exp: -scale };
    const excess = minus(whole(BigInt(b - c)), times(whole(BigInt(n)), difference, width), width);
    return minus(
      times(z, squareRoot(scoreVariance(b, c, n, difference, width), width), width),
      excess,
      width,
    );
  };
  const root = enclosedRoot({
    evaluate,
    scale,
    low: 0n,
    high,
    start: high >> 1n,
    step: high >> 3n,
    bits: bits + 32,
  });
  return minus(root, whole(1n), width);
}

/** n(2q + D(1-D)), q the maximum likelihood rate of control-only pairs when the difference is D (Tango 1998). */
function scoreVariance(b: number, c: number, n: number, difference: Enclosure, bits: number): Enclosure {
  const spread = times(difference, minus(whole(1n), difference, bits), bits);
  const linear = plus(whole(BigInt(-b - c)), times(whole(BigInt(2 * n - b + c)), difference, bits), bits);
  const constant = times(whole(8n * BigInt(n) * BigInt(c)), spread, bits);
  const root = squareRoot(plus(times(linear, linear, bits), constant, bits), bits);
  const doubledRate = over(plus(root, opposite(linear), bits), whole(BigInt(2 * n)), bits);
  return times(whole(BigInt(n)), plus(doubledRate, spread, bits), bits);
}
