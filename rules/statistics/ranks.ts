/**
 * Numbers on one whole-number scale, and their midranks.
 * Promises: order and ties are those of the rationals, so 0.1 + 0.2 ties with 0.3.
 */
import { absolute, gcd, type Rational } from './rational.ts';

/** The values times their least common denominator. */
export function onOneScale(values: readonly Rational[]): { readonly units: bigint[]; readonly den: bigint } {
  let den = 1n;
  for (const value of values) if (den % value.den !== 0n) den = (den / gcd(den, value.den)) * value.den;
  return { units: values.map((value) => value.num * (den / value.den)), den };
}

/** Twice the midrank of each |value|, 1-based: whole numbers whatever the ties. O(n log n). */
export function doubledMidranks(values: readonly bigint[]): number[] {
  const size = values.map(absolute);
  const ranked = size
    .map((_, index) => index)
    .sort((a, b) => (size[a]! < size[b]! ? -1 : size[a]! > size[b]! ? 1 : 0));
  const ranks = new Array<number>(values.length);
  for (let from = 0; from < ranked.length; ) {
    let to = from + 1;
    while (to < ranked.length && size[ranked[to]!] === size[ranked[from]!]) to += 1;
    // Ranks from+1 .. to share the mean (from + 1 + to)/2.
    for (let at = from; at < to; at += 1) ranks[ranked[at]!] = from + 1 + to;
    from = to;
  }
  return ranks;
}
