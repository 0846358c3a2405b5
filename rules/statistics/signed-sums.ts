/**
 * The exact distribution of a sum in which each weight counts or not, each way equally likely: the null distribution of
 * the signed-rank and of the sign-flip test.
 * Promises: `atLeast` and `atMost` are whole numbers of sign vectors out of 2^k.
 * Does not promise: an answer for every size; `undefined` means over budget.
 * Methods: dense polynomial in one BigInt (Streitberg and Roehmel's shift algorithm, all sums at once), meet in the
 * middle, or a sparse table of distinct sums.
 */
import { bitLength } from './enclosure.ts';
import { gcd } from './rational.ts';

export interface SignCounts {
  /** Sign vectors whose positive part sums to at least / at most the observed one. */
  readonly atLeast: bigint;
  readonly atMost: bigint;
  /** Count of weights: there are 2^k sign vectors. */
  readonly k: number;
}

/** Bit operations that the dense method may spend: about three seconds. */
const DENSE_BUDGET = 1e11;
/** Bits that one dense polynomial may have. */
const DENSE_BITS = 2 ** 28;
const MIDDLE_WEIGHTS = 44;
const SPARSE_SUMS = 200_000;

/** Counts sign vectors against an observed sum of the positive part; weights are positive. Undefined: over budget. */
export function signCounts(weights: readonly bigint[], observed: bigint): SignCounts | undefined {
  const k = weights.length;
  if (k === 0) return { atLeast: 1n, atMost: 1n, k };
  let divisor = 0n;
  for (const weight of weights) divisor = gcd(divisor, weight);
  const scaled = weights.map((weight) => weight / divisor).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const total = scaled.reduce((sum, weight) => sum + weight, 0n);
  // The observed sum is itself a sum of weights, so the division is exact.
  const sum = observed / divisor;
  const mirrored = total - sum < sum;
  const near = mirrored ? total - sum : sum;
  const counted = countUpTo(scaled, near);
  if (counted === undefined) return undefined;
  // As many vectors have a sum <= s as have one >= total - s.
  const far = (1n << BigInt(k)) - counted.upTo + counted.at;
  return mirrored ? { atLeast: counted.upTo, atMost: far, k } : { atLeast: far, atMost: counted.upTo, k };
}

interface Counted {
  /** Subsets with sum <= limit, and with sum = limit. */
  readonly upTo: bigint;
  readonly at: bigint;
}

function countUpTo(weights: readonly bigint[], limit: bigint): Counted | undefined {
  const k = weights.length;
  const dense = denseCost(k, limit);
  const middle = k <= MIDDLE_WEIGHTS ? 2 ** (k / 2) * 2000 : Number.POSITIVE_INFINITY;
  if (dense <= DENSE_BUDGET && dense <= middle) return countDense(weights, limit);
  if (middle < Number.POSITIVE_INFINITY) return countMiddle(weights, limit);
  return countSparse(weights, limit);
}

function denseCost(k: number, limit: bigint): number {
  if (bitLength(limit) > 40) return Number.POSITIVE_INFINITY;
  const bits = (Number(limit) + 1) * (k + 1);
  return bits > DENSE_BITS ? Number.POSITIVE_INFINITY : bits * k;
}

function countDense(weights: readonly bigint[], limit: bigint): Counted {
  const slot = weights.length + 1;
  const counts = sumPolynomial(weights, Number(limit), slot);
  return { upTo: foldUpTo(counts, Number(limit), slot), at: counts >> BigInt(Number(limit) * slot) };
}

/**
 * Product of (1 + x^w) up to x^limit, one coefficient per `slot` bits. A coefficient is at most 2^k, so slots of k+1 bits
 * never run over. O(k) shifts and additions of (limit+1)·slot bits.
 */
export function sumPolynomial(weights: readonly bigint[], limit: number, slot: number): bigint {
  const width = (limit + 1) * slot;
  let counts = 1n;
  let reach = 0;
  for (const weight of weights) {
    if (weight > BigInt(limit)) continue;
    counts += counts << (weight * BigInt(slot));
    reach += Number(weight);
    if (reach > limit) counts = BigInt.asUintN(width, counts);
  }
  return counts;
}

/** Sum of the coefficients of x^0..x^limit, by adding the upper half of the slots to the lower one again and again. */
export function foldUpTo(counts: bigint, limit: number, slot: number): bigint {
  let sum = BigInt.asUintN((limit + 1) * slot, counts);
  for (let slots = limit + 1; slots > 1; ) {
    const half = Math.ceil(slots / 2);
    sum = BigInt.asUintN(half * slot, sum) + (sum >> BigInt(half * slot));
    slots = half;
  }
  return sum;
}

/** All subset sums of two halves, each sorted by merging; one pass over both counts the pairs. O(2^(k/2)). */
function countMiddle(weights: readonly bigint[], limit: bigint): Counted {
  const even = weights.filter((_, index) => index % 2 === 0);
  const odd = weights.filter((_, index) => index % 2 === 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  if (total < BigInt(Number.MAX_SAFE_INTEGER))
    return countPairs(sortedSums(even.map(Number), 0), sortedSums(odd.map(Number), 0), Number(limit));
  return countPairs(sortedBigSums(even), sortedBigSums(odd), limit);
}

function sortedSums(weights: readonly number[], zero: number): Float64Array {
  let sums = Float64Array.of(zero);
  for (const weight of weights) {
    const merged = new Float64Array(sums.length * 2);
    let i = 0;
    let j = 0;
    for (let at = 0; at < merged.length; at += 1) {
      const plain = i < sums.length ? sums[i]! : Number.POSITIVE_INFINITY;
      const shifted = j < sums.length ? sums[j]! + weight : Number.POSITIVE_INFINITY;
      if (plain <= shifted) i += 1;
      else j += 1;
      merged[at] = Math.min(plain, shifted);
    }
    sums = merged;
  }
  return sums;
}

function sortedBigSums(weights: readonly bigint[]): readonly bigint[] {
  let sums: bigint[] = [0n];
  for (const weight of weights) {
    const shifted = sums.map((sum) => sum + weight);
    const merged: bigint[] = [];
    let i = 0;
    let j = 0;
    while (i < sums.length) merged.push(sums[i]! <= shifted[j]! ? sums[i++]! : shifted[j++]!);
    while (j < shifted.length) merged.push(shifted[j++]!);
    sums = merged;
  }
  return sums;
}

/** Pairs (x, y) with x + y <= limit, and with x + y = limit; both lists ascend. Counts stay below 2^44. */
function countPairs<T extends number | bigint>(left: ArrayLike<T>, right: ArrayLike<T>, limit: T): Counted {
  const sum = (x: T, y: T): T => ((x as number) + (y as number)) as T;
  let upTo = 0;
  let below = 0;
  let reachTo = right.length;
  let reachBelow = right.length;
  for (let i = 0; i < left.length; i += 1) {
    const x = left[i]!;
    while (reachTo > 0 && sum(x, right[reachTo - 1]!) > limit) reachTo -= 1;
    while (reachBelow > 0 && sum(x, right[reachBelow - 1]!) >= limit) reachBelow -= 1;
    upTo += reachTo;
    below += reachBelow;
  }
  return { upTo: BigInt(upTo), at: BigInt(upTo - below) };
}

/** A table of the distinct sums, for many equal weights of large value. Undefined when there are too many. */
function countSparse(weights: readonly bigint[], limit: bigint): Counted | undefined {
  let counts = new Map<bigint, bigint>([[0n, 1n]]);
  for (const weight of weights) {
    const next = new Map(counts);
    for (const [sum, ways] of counts) {
      const moved = sum + weight;
      if (moved <= limit) next.set(moved, (next.get(moved) ?? 0n) + ways);
    }
    if (next.size > SPARSE_SUMS) return undefined;
    counts = next;
  }
  let upTo = 0n;
  for (const ways of counts.values()) upTo += ways;
  return { upTo, at: counts.get(limit) ?? 0n };
}
