/**
 * Which tables count as at least as extreme as the observed one under Tango's score z(D), for all D of a small cell.
 * Promises: `possible` holds every table that is in the region for some D of the cell, and is an up-set; `certain` holds
 * only tables that are in the region at one D. Rounding is covered: each bound is moved outward by far more than the few
 * units in the last place that IEEE division, square root, sums and products can err.
 * Does not promise: the smallest possible region for a wide cell.
 */

/** limit[b]: tables (b, c) with c <= limit[b] belong to the region; -1 for none. Closed under c-1 and under b+1. */
export type Region = Int32Array;

export interface ObservedTable {
  readonly b: number;
  readonly c: number;
  readonly n: number;
}

/** A cell [from, to] of differences that does not reach across 0. */
export interface Cell {
  readonly from: number;
  readonly to: number;
}

const SLACK = 1e-14;

interface Score {
  lo: number;
  hi: number;
}

/** The region for a cell: a superset, closed upward. O(n²). */
export function possible(observed: ObservedTable, cell: Cell): Region {
  const { n } = observed;
  const score = { lo: 0, hi: 0 };
  const bound = prepare(n, cell);
  bound(observed.b, observed.c, score);
  const least = score.lo;
  const limit = new Int32Array(n + 1).fill(-1);
  for (let b = 0; b <= n; b += 1) {
    for (let c = n - b; c >= 0 && limit[b] === -1; c -= 1) {
      bound(b, c, score);
      if (score.hi >= least || (b === observed.b && c === observed.c)) limit[b] = c;
    }
  }
  return closeUpward(limit);
}

/** Tables surely in the region at one difference: a subset, column by column from c = 0 without a gap. O(n²). */
export function certain(observed: ObservedTable, difference: number): Region {
  const { n } = observed;
  const score = { lo: 0, hi: 0 };
  const bound = prepare(n, { from: difference, to: difference });
  bound(observed.b, observed.c, score);
  const most = score.hi;
  const atZero = difference === 0;
  const limit = new Int32Array(n + 1).fill(-1);
  for (let b = 0; b <= n; b += 1) {
    for (let c = 0; c <= n - b; c += 1) {
      bound(b, c, score);
      const own = b === observed.b && c === observed.c;
      if (!(own || (atZero ? tiesOrBeatsAtZero(observed, b, c) : score.lo >= most))) break;
      limit[b] = c;
    }
  }
  return limit;
}

/** At D = 0 the score is (b-c)/sqrt(b+c) and many tables tie; compared as whole numbers. */
function tiesOrBeatsAtZero(observed: ObservedTable, b: number, c: number): boolean {
  const signed = (x: number, y: number): number => Math.sign(x) * x * x * y;
  const own = observed.b - observed.c;
  // (0, 0) has score 0, the limit from both sides.
  return signed(b - c, Math.max(1, observed.b + observed.c)) >= signed(own, Math.max(1, b + c));
}

/** Adds what turns out a concordant or control-only pair into a better one. A superset, so bounds stay bounds. */
function closeUpward(limit: Region): Region {
  const n = limit.length - 1;
  for (let b = 1; b <= n; b += 1) limit[b] = Math.min(n - b, Math.max(limit[b]!, limit[b - 1]!));
  return limit;
}

/**
 * Bounds of z = (b - c - nD)/sqrt(V) over the cell. V = n(2r + w) with w = |D|(1-|D|) and r the constrained likelihood
 * rate of the outcome that |D| works against; V(b, c, D) = V(c, b, -D), so |D| serves for both signs.
 */
function prepare(n: number, { from, to }: Cell): (b: number, c: number, score: Score) => void {
  const near = from >= 0 ? from : -to;
  const far = from >= 0 ? to : -from;
  const ends = [near * (1 - near), far * (1 - far)];
  const wLo = Math.min(...ends) * (1 - SLACK);
  const wHi = (near <= 0.5 && far >= 0.5 ? 0.25 : Math.max(...ends)) * (1 + SLACK);
  const margin = n * SLACK;
  return (b, c, score) => {
    if (b + c === 0) return emptyScore(n, near, far, from >= 0 ? -1 : 1, score);
    const [x, y] = from >= 0 ? [b, c] : [c, b];
    const slope = 2 * n - x + y;
    const linearLo = slope * near - (x + y) - margin;
    const linearHi = slope * far - (x + y) + margin;
    const spread = 8 * n * y;
    const vLo = n * (2 * rate(linearHi, spread * wLo * (1 - SLACK), n) * (1 - SLACK) + wLo) * (1 - SLACK);
    const vHi = n * (2 * rate(linearLo, spread * wHi * (1 + SLACK), n) * (1 + SLACK) + wHi) * (1 + SLACK);
    score.lo = quotient(b - c - n * to - margin, vLo, vHi, -1);
    score.hi = quotient(b - c - n * from + margin, vLo, vHi, 1);
  };
}

/** The table (0, 0) has z² = n|D|/(1-|D|), with the sign of -D: the general formula is 0/0 at D = 0. */
function emptyScore(n: number, near: number, far: number, sign: 1 | -1, score: Score): void {
  const least = Math.sqrt((n * near) / (1 - near)) * (1 - SLACK);
  const most = far < 1 ? Math.sqrt((n * far) / (1 - far)) * (1 + SLACK) : Number.POSITIVE_INFINITY;
  score.lo = sign > 0 ? least : -most;
  score.hi = sign > 0 ? most : -least;
}

/** (sqrt(B² + E) - B)/(4n) without cancellation: falls with B, grows with E. */
function rate(linear: number, constant: number, n: number): number {
  const root = Math.sqrt(linear * linear + constant);
  return linear > 0 ? constant / (4 * n * (root + linear)) : (root - linear) / (4 * n);
}

/** Outermost value of excess/sqrt(V) for V in [vLo, vHi]: upward for side 1, downward for side -1. */
function quotient(excess: number, vLo: number, vHi: number, side: 1 | -1): number {
  const outward = excess * side >= 0;
  const root = Math.sqrt(outward ? vLo : vHi);
  if (root === 0) return outward ? side * Number.POSITIVE_INFINITY : -side * Number.POSITIVE_INFINITY;
  const value = excess / root;
  return value + side * Math.abs(value) * SLACK;
}
