/**
 * The exact distribution of a sum in which each weight counts or not, each way equally likely: the null distribution of
 * the signed-rank and of the sign-flip test.
 * Promises: `atLeast` and `atMost` are whole numbers of sign vectors out of 2^k.
 * Does not promise: an answer for every size; `undefined` means over budget.
 * Methods: dense counts of all sums (subset-counts), meet in the middle, or a sparse table of distinct sums.
 */
import { gcd } from './rational.ts';
import { denseCost, subsetCounts } from './subset-counts.ts';

export interface SignCounts {
  /** Sign vectors whose positive part sums to at least / at most the observed one. */
  readonly atLeast: bigint;
  readonly atMost: bigint;
  /** Count of weights: there are 2^k sign vectors. */
  readonly k: number;
}

/** Additions that the dense method may spend: some five seconds. */
const DENSE_BUDGET = 5e9;
const MIDDLE_WEIGHTS = 44;
const SPARSE_STEPS = 1_000_000;

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
  const fits = limit <= BigInt(Number.MAX_SAFE_INTEGER);
  // A weight above the limit is in no counted subset, but stays one of the k.
  const small = fits ? weights.filter((weight) => weight <= limit).map(Number) : [];
  const dense = fits ? denseCost(small, Number(limit)) : Number.POSITIVE_INFINITY;
  const middle = k <= MIDDLE_WEIGHTS ? 2 ** (k / 2) * 20 : Number.POSITIVE_INFINITY;
  if (dense <= DENSE_BUDGET && dense <= middle) return countDense(small, Number(limit));
  if (middle < Number.POSITIVE_INFINITY) return countMiddle(weights, limit);
  return countSparse(weights, limit);
}

function countDense(weights: readonly number[], limit: number): Counted {
  const counts = subsetCounts(weights, limit);
  const upTo = counts.upTo(limit);
  return { upTo, at: limit === 0 ? upTo : upTo - counts.upTo(limit - 1) };
}

/** All subset sums of two halves, each sorted by merging; one pass over both counts the pairs. O(2^(k/2)). */
function countMiddle(weights: readonly bigint[], limit: bigint): Counted {
  const even = weights.filter((_, index) => index % 2 === 0);
  const odd = weights.filter((_, index) => index % 2 === 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  // Sums up to 2^53 are exact as doubles.
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
  let steps = 0;
  for (const weight of weights) {
    steps += 2 * counts.size;
    if (steps > SPARSE_STEPS) return undefined;
    const next = new Map(counts);
    for (const [sum, ways] of counts) {
      const moved = sum + weight;
      if (moved <= limit) next.set(moved, (next.get(moved) ?? 0n) + ways);
    }
    counts = next;
  }
  let upTo = 0n;
  for (const ways of counts.values()) upTo += ways;
  return { upTo, at: counts.get(limit) ?? 0n };
}
