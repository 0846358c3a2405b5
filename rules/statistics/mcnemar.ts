/**
 * McNemar's exact test: the binomial test of b against c among discordant pairs (McNemar 1947), with mid-p beside it.
 * Promises: rationals up to n = 2000; beyond that 20 digits and an enclosure, never a normal tail.
 * Does not promise: that pairs are independent; the caller names the unit.
 */
import { fail } from '../../store/format/errors.ts';
import { enclosedChoose, exactTail, fairTail, MAX_TRIALS } from './binomial.ts';
import { bounds, certified, rationalDecimal } from './decimal.ts';
import { type Enclosure, halved, least, minus, twice, UNIT } from './enclosure.ts';
import { type Alternative, alternativeOf, count, fields } from './input.ts';
import { dyadic, ONE, print, type Rational, smaller } from './rational.ts';

/** Largest count of discordant pairs for which p is given as a rational. */
export const EXACT_PAIRS = 2000;

export interface McnemarResult {
  readonly n: number;
  readonly p: string;
  readonly pExact?: string;
  readonly pMid: string;
  readonly pMidExact?: string;
  readonly pEnclosure?: { readonly lo: string; readonly hi: string };
  readonly pMidEnclosure?: { readonly lo: string; readonly hi: string };
  readonly note?: string;
}

/** {b, c, alternative} -> {n, p, pMid, ...Exact or enclosures}; `greater` asks whether b is large. */
export function mcnemar(input: unknown): McnemarResult {
  const given = fields(input, ['b', 'c', 'alternative']);
  return mcnemarTest(count(given.b, 'b'), count(given.c, 'c'), alternativeOf(given.alternative));
}

export function mcnemarTest(b: number, c: number, alternative: Alternative): McnemarResult {
  const n = b + c;
  if (n > MAX_TRIALS)
    fail('E_STATS_LIMIT', {
      where: 'mcnemar',
      wanted: `b + c <= ${MAX_TRIALS}`,
      found: `${n}`,
      hint: 'This test is the exact sign test; a smaller unit of analysis is needed',
    });
  if (n > EXACT_PAIRS) return enclosed(b, c, alternative);
  const { p, pMid } = mcnemarExact(b, c, alternative);
  const note = n === 0 ? { note: 'no discordant pair' } : {};
  return {
    n,
    p: rationalDecimal(p),
    pExact: print(p),
    pMid: rationalDecimal(pMid),
    pMidExact: print(pMid),
    ...note,
  };
}

/** The two p as rationals. O(min(b,c)) multiplications of n bits. */
export function mcnemarExact(
  b: number,
  c: number,
  alternative: Alternative,
): { readonly p: Rational; readonly pMid: Rational } {
  const n = b + c;
  if (n === 0) return { p: ONE, pMid: ONE };
  const m = Math.min(b, c);
  const { sum, last } = exactTail(m, n);
  if (alternative === 'two-sided') {
    return { p: smaller(ONE, dyadic(2n * sum, n)), pMid: smaller(ONE, dyadic(2n * sum - last, n)) };
  }
  // P(X <= x) with x = c for `greater`, b for `less`; above the middle through 1 - P(X <= n-x-1).
  const x = alternative === 'greater' ? c : b;
  const atMost = x === m ? sum : (1n << BigInt(n)) - sum + last;
  return { p: dyadic(atMost, n), pMid: dyadic(2n * atMost - last, n + 1) };
}

function enclosed(b: number, c: number, alternative: Alternative): McnemarResult {
  const narrow = new Map<number, Pair>();
  const at = (bits: number): Pair => {
    const found = narrow.get(bits) ?? pair(b, c, alternative, bits);
    narrow.set(bits, found);
    return found;
  };
  const p = certified((bits) => at(bits).p);
  const pMid = certified((bits) => at(bits).pMid);
  const last = [...narrow.keys()].at(-1)!;
  const pEnclosure = bounds(at(last).p, 24);
  return { n: b + c, p, pMid, pEnclosure, pMidEnclosure: bounds(at(last).pMid, 24) };
}

interface Pair {
  readonly p: Enclosure;
  readonly pMid: Enclosure;
}

function pair(b: number, c: number, alternative: Alternative, bits: number): Pair {
  const n = b + c;
  const width = bits + 40;
  if (alternative === 'two-sided') {
    if (b === c) return { p: UNIT, pMid: UNIT };
    const { tail, last } = fairTail(Math.min(b, c), n, bits);
    return { p: least(UNIT, twice(tail)), pMid: least(UNIT, minus(twice(tail), last, width)) };
  }
  const x = alternative === 'greater' ? c : b;
  if (x === n)
    return { p: UNIT, pMid: minus(UNIT, halved({ ...enclosedChoose(n, n, bits), exp: -n }), width) };
  const { tail, last } = fairTail(x, n, bits);
  return { p: tail, pMid: minus(tail, halved(last), width) };
}
