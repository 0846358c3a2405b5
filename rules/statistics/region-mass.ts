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
 * times (1+e), |e| <= (8n + n·depth)·2^-53 < n·1e-14 for depth <= 64, and underflow adds less than 1e-290.
 */
import type { Region } from './score-region.ts';

/** Relative and absolute room for all rounding, see above. */
const RELATIVE = 1e-14;
const ABSOLUTE = 1e-290;
const MAX_DEPTH = 48;
const MAX_LOOKS = 400;

/** Working space for one number of pairs: nothing is handed on from one call to the next. */
export interface Mass {
  /** Bernstein coefficients of P(q) on [|D|, 1]. D has at most 50 fractional bits, so that 1-|D| is exact. O(n²). */
  coefficients(region: Region, difference: number): Float64Array;
}

export function openMass(n: number): Mass {
  const tails = new Float64Array(((n + 1) * (n + 4)) / 2);
  const wins = new Float64Array(n + 2);
  return {
    coefficients(region, difference) {
      const rows = difference > 0 ? controlsFirst(region) : region;
      const result = new Float64Array(n + 1);
      fillTails(tails, n, Math.abs(difference), difference > 0);
      // Row k: P(k pairs of rate 1 give x wins), x = 0..k; built pair by pair.
      wins.fill(0);
      wins[0] = 1;
      const up = (1 + difference) / 2;
      const down = (1 - difference) / 2;
      for (let k = 0; k <= n; k += 1) {
        const others = n - k;
        const first = (others * (others + 3)) / 2;
        result[k] =
          difference > 0
            ? gains(rows, k, wins, tails, first, others)
            : losses(rows, k, wins, tails, first, others);
        for (let x = k + 1; x > 0; x -= 1) wins[x] = wins[x]! * down + wins[x - 1]! * up;
        wins[0] = wins[0]! * down;
      }
      return result;
    },
  };
}

/**
 * D > 0: the n-k other pairs win or are concordant; with x wins and k-x losses, at least rows[k-x]-x of them must win.
 * More wins need fewer, so the sum ends at the first x, from above, that needs more than there are.
 */
function gains(
  rows: Int32Array,
  k: number,
  wins: Float64Array,
  tails: Float64Array,
  first: number,
  others: number,
): number {
  let sum = 0;
  for (let x = k; x >= 0; x -= 1) {
    const needed = rows[k - x]! - x;
    if (needed > others) break;
    sum += needed <= 0 ? wins[x]! : wins[x]! * tails[first + needed]!;
  }
  return sum;
}

/** D <= 0: the other pairs lose or are concordant; at most rows[x]-(k-x) of them may lose. */
function losses(
  rows: Int32Array,
  k: number,
  wins: Float64Array,
  tails: Float64Array,
  first: number,
  others: number,
): number {
  let sum = 0;
  for (let x = k; x >= 0; x -= 1) {
    const allowed = rows[x]! - (k - x);
    if (allowed < 0) break;
    sum += allowed >= others ? wins[x]! : wins[x]! * tails[first + allowed + 1]!;
  }
  return sum;
}

/** For each number of losses the least number of wins in the region (n+1 for none). */
function controlsFirst(region: Region): Int32Array {
  const n = region.length - 1;
  const least = new Int32Array(n + 1).fill(n + 1);
  let c = -1;
  for (let b = 0; b <= n; b += 1)
    while (c < region[b]!) {
      c += 1;
      least[c] = b;
    }
  return least;
}

/**
 * For m = 0..n trials at rate p, from place m(m+3)/2 on, m+2 values: P(Y >= j) for j = 0..m+1 if `atLeast`, else
 * P(Y <= j-1). Both obey value(m, j) = (1-p)·value(m-1, j) + p·value(m-1, j-1), and differ in their first and last value.
 */
function fillTails(tails: Float64Array, n: number, p: number, atLeast: boolean): void {
  const rest = 1 - p;
  const [head, foot] = atLeast ? [1, 0] : [0, 1];
  tails[0] = head;
  tails[1] = foot;
  for (let m = 1, before = 0, at = 2; m <= n; m += 1) {
    tails[at] = head;
    for (let j = 1; j <= m; j += 1) tails[at + j] = tails[before + j]! * rest + tails[before + j - 1]! * p;
    tails[at + m + 1] = foot;
    before = at;
    at += m + 2;
  }
}

/** Whether P <= limit on the whole interval, for sure. */
export function staysBelow(first: Float64Array, limit: number): boolean {
  const room = 1 + RELATIVE * first.length;
  return (
    search(
      first,
      (top) => top * room + ABSOLUTE <= limit,
      (value) => value > limit,
    ) === 'all'
  );
}

/** Whether P > limit somewhere on the interval, for sure. */
export function exceeds(first: Float64Array, limit: number): boolean {
  const room = 1 - RELATIVE * first.length;
  return (
    search(
      first,
      (top) => top <= limit,
      (value) => value * room > limit,
    ) === 'some'
  );
}

/**
 * Halves intervals until each is settled by its largest coefficient, or one of their ends (true values of P) is a
 * witness, or they are too small or too many to tell.
 */
function search(
  first: Float64Array,
  settled: (top: number) => boolean,
  witness: (value: number) => boolean,
): 'all' | 'some' | 'unknown' {
  const open: { readonly values: Float64Array; readonly depth: number }[] = [{ values: first, depth: 0 }];
  for (let at = open.pop(), looks = 0; at !== undefined; at = open.pop(), looks += 1) {
    const { values, depth } = at;
    if (witness(values[0]!) || witness(values[values.length - 1]!)) return 'some';
    if (settled(largest(values))) continue;
    if (depth === MAX_DEPTH || looks >= MAX_LOOKS) return 'unknown';
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

/** About the largest value of P, without a promise: looked for near its highest value on a grid. O(n^1.5). */
export function peakNear(coefficients: Float64Array): number {
  const n = coefficients.length - 1;
  const steps = 4 + 2 * Math.ceil(Math.sqrt(n));
  const values = Array.from({ length: steps + 1 }, (_, i) => valueAt(coefficients, i / steps));
  const top = values.indexOf(Math.max(...values));
  if (top === 0 || top === steps) return values[top]!;
  // Parabolas through three points, the middle one highest, drawn in on the vertex.
  let points = [top - 1, top, top + 1].map((i) => ({ at: i / steps, value: values[i]! }));
  for (let round = 0; round < 4; round += 1) points = closer(coefficients, points);
  return Math.max(...points.map(({ value }) => value));
}

interface Point {
  readonly at: number;
  readonly value: number;
}

function closer(coefficients: Float64Array, points: readonly Point[]): Point[] {
  const [left, middle, right] = points as [Point, Point, Point];
  const width = (right.at - left.at) / 2;
  const bend = left.value - 2 * middle.value + right.value;
  const shift = bend < 0 ? (width * (left.value - right.value)) / (2 * bend) : 0;
  const centre = middle.at + Math.max(-width, Math.min(width, shift));
  const reach = width / 8;
  return [-reach, 0, reach].map((by) => {
    const at = Math.min(1, Math.max(0, centre + by));
    return { at, value: valueAt(coefficients, at) };
  });
}

/** The polynomial at t of [0, 1]: the binomial weights from their largest outward. O(n). */
function valueAt(coefficients: Float64Array, t: number): number {
  const n = coefficients.length - 1;
  if (t <= 0) return coefficients[0]!;
  if (t >= 1) return coefficients[n]!;
  const mode = Math.min(n, Math.floor((n + 1) * t));
  const odds = t / (1 - t);
  let total = 1;
  let sum = coefficients[mode]!;
  for (let k = mode + 1, weight = 1; k <= n && weight > 1e-18; k += 1) {
    weight *= ((n - k + 1) / k) * odds;
    total += weight;
    sum += weight * coefficients[k]!;
  }
  for (let k = mode - 1, weight = 1; k >= 0 && weight > 1e-18; k -= 1) {
    weight *= (k + 1) / (n - k) / odds;
    total += weight;
    sum += weight * coefficients[k]!;
  }
  return sum / total;
}
