/**
 * Numbers on one whole-number scale, and their midranks.
 * Promises: order and ties are those of the rationals, so 0.1 + 0.2 ties with 0.3.
 */
import { fail } from '../../store/format/errors.ts';
import { bitLength } from './enclosure.ts';
import { absolute, gcd, type Rational } from './rational.ts';

/** Bits that all values may take on their common scale: 128 MiB. */
const MAX_BITS = 2 ** 30;

/** The values times their least common denominator. Throws E_STATS_LIMIT where that takes more than MAX_BITS. */
export function onOneScale(values: readonly Rational[]): { readonly units: bigint[]; readonly den: bigint } {
  let den = 1n;
  for (const value of values) {
    if (den % value.den === 0n) continue;
    den = (den / gcd(den, value.den)) * value.den;
    limitBits(bitLength(den) * values.length, values.length);
  }
  return { units: values.map((value) => value.num * (den / value.den)), den };
}

/** Refuses what would take more memory than MAX_BITS. */
export function limitBits(bits: number, count: number): void {
  if (bits > MAX_BITS)
    fail('E_STATS_LIMIT', {
      where: 'values',
      wanted: `at most ${MAX_BITS} bits for all on one common scale`,
      found: `${count} values, ${bits} bits`,
      hint: 'signTest needs no common scale',
    });
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
