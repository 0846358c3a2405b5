/**
 * The largest probability of a region of tables over all nuisance rates q = P(b) + P(c), bounded with a proof.
 * Promises: `staysBelow` is true only if the probability is at most the limit for every q in [|D|, 1]; `exceeds` is true
 * only if it is above the limit at some q. Either may be false; neither is ever wrong.
 * Does not promise: a decision at the limit itself.
 *
 * The probability P(q) is a polynomial of degree n in q, so it lies in the convex hull of its Bernstein coefficients.
 * Coefficient k on [|D|, 1] is itself a probability: that of the region when k of the n pairs have rate 1 and n-k have
 * rate |D| (the polar form of P). So all coefficients are sums of products of non-negative numbers. Halving an interval
 * (de Casteljau) takes means of coefficients. No subtraction occurs anywhere, hence a computed value is the true one
 * times (1+e), |e| <= (8n + n·depth)·2^-53 < 1e-10 for n <= 1000, depth <= 64, and underflow adds less than 1e-290.
 */
import type { Region } from './score-region.ts';

/** Relative and absolute room for all rounding, see above. */
const RELATIVE = 1e-10;
const ABSOLUTE = 1e-290;
const MAX_DEPTH = 48;

/** Bernstein coefficients of P(q) on [|D|, 1]. D must have at most 50 fractional bits, so that 1-|D| is exact. O(n²). */
export function coefficients(region: Region, difference: number): Float64Array {
  const n = region.length - 1;
  const size = Math.abs(difference);
  const inRow = difference > 0 ? controlsFirst(region) : region;
  const result = new Float64Array(n + 1);
  // Row k: P(k pairs of rate 1 give x wins), x = 0..k; built pair by pair.
  const wins = new Float64Array(n + 2);
  wins[0] = 1;
  const up = (1 + difference) / 2;
  const down = (1 - difference) / 2;
  const tails = binomialTails(n, size);
  for (let k = 0; k <= n; k += 1) {
    const others = tails[n - k]!;
    let sum = 0;
    for (let x = 0; x <= k; x += 1) sum += wins[x]! * share(inRow, x, k, others, difference);
    result[k] = sum;
    for (let x = k + 1; x > 0; x -= 1) wins[x] = wins[x]! * down + wins[x - 1]! * up;
    wins[0] = wins[0]! * down;
  }
  return result;
}

/** P(the region holds | x wins and k-x losses of the pairs with rate 1); the other pairs go the way of D's sign. */
function share(rows: Int32Array, x: number, k: number, tails: Tails, difference: number): number {
  if (difference > 0) {
    // The others win or are concordant: at least this many wins are needed.
    const needed = rows[k - x]! - x;
    return needed <= 0 ? 1 : needed >= tails.atLeast.length ? 0 : tails.atLeast[needed]!;
  }
  // The others lose or are concordant: at most this many losses are allowed.
  const allowed = rows[x]! - (k - x);
  return allowed < 0 ? 0 : allowed >= tails.atMost.length ? 1 : tails.atMost[allowed]!;
}

/** For each number of losses the least number of wins in the region (n+1 for none). */
function controlsFirst(region: Region): Int32Array {
  const n = region.length - 1;
  const least = new Int32Array(n + 1).fill(n + 1);
  for (let b = n; b >= 0; b -= 1) for (let c = region[b]!; c >= 0; c -= 1) least[c] = b;
  return least;
}

interface Tails {
  readonly atMost: Float64Array;
  readonly atLeast: Float64Array;
}

/** P(Y <= y) and P(Y >= y) for y = 0..m, Y binomial(m, p), for every m = 0..n, by adding one trial at a time. */
function binomialTails(n: number, p: number): readonly Tails[] {
  const rest = 1 - p;
  const all: Tails[] = [{ atMost: Float64Array.of(1), atLeast: Float64Array.of(1) }];
  for (let m = 1; m <= n; m += 1) {
    const before = all[m - 1]!;
    const atMost = new Float64Array(m + 1);
    const atLeast = new Float64Array(m + 1);
    atMost[m] = 1;
    atLeast[0] = 1;
    for (let y = 0; y < m; y += 1) {
      atMost[y] = before.atMost[y]! * rest + (y > 0 ? before.atMost[y - 1]! : 0) * p;
      atLeast[y + 1] = (y + 1 < m ? before.atLeast[y + 1]! : 0) * rest + before.atLeast[y]! * p;
    }
    all.push({ atMost, atLeast });
  }
  return all;
}

/** Whether P <= limit on the whole interval, for sure. */
export function staysBelow(first: Float64Array, limit: number): boolean {
  return (
    search(
      first,
      (top) => top * (1 + RELATIVE) + ABSOLUTE <= limit,
      (value) => value > limit,
    ) === 'all'
  );
}

/** Whether P > limit somewhere on the interval, for sure. */
export function exceeds(first: Float64Array, limit: number): boolean {
  return (
    search(
      first,
      (top) => top <= limit,
      (value) => value * (1 - RELATIVE) > limit,
    ) === 'some'
  );
}

/**
 * Halves intervals until each is settled by its largest coefficient, or one of their ends (true values of P) is a
 * witness, or they are too small to tell.
 */
function search(
  first: Float64Array,
  settled: (top: number) => boolean,
  witness: (value: number) => boolean,
): 'all' | 'some' | 'unknown' {
  const open: { readonly values: Float64Array; readonly depth: number }[] = [{ values: first, depth: 0 }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { values, depth } = at;
    if (witness(values[0]!) || witness(values[values.length - 1]!)) return 'some';
    if (settled(largest(values))) continue;
    if (depth === MAX_DEPTH) return 'unknown';
    const { left, right } = halves(values);
    open.push({ values: left, depth: depth + 1 }, { values: right, depth: depth + 1 });
  }
  return 'all';
}

function largest(values: Float64Array): number {
  let top = 0;
  for (const value of values) if (value > top) top = value;
  return top;
}

/** de Casteljau at the middle. */
function halves(values: Float64Array): { readonly left: Float64Array; readonly right: Float64Array } {
  const n = values.length - 1;
  const right = Float64Array.from(values);
  const left = new Float64Array(n + 1);
  for (let level = 0; level <= n; level += 1) {
    left[level] = right[0]!;
    for (let i = 0; i < n - level; i += 1) right[i] = (right[i]! + right[i + 1]!) / 2;
  }
  return { left, right };
}
