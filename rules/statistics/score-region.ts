/**
 * Which tables count as at least as extreme as the observed one under Tango's score z(D), for all D of a small cell.
 * Promises: `possible` holds every table that is in the region for some D of the cell, and is an up-set; `certain` holds
 * only tables that are in the region at one D. Rounding is covered: each bound is moved outward by far more than the few
 * units in the last place that IEEE division, square root, sums and products can err.
 * Does not promise: the smallest possible region for a wide cell.
 *
 * What is used: z rises with b, falls with c and falls with D. Proof for 0 < D < 1, with b and c real numbers (D < 0 is the
 * mirror z(b, c, D) = -z(c, b, -D); at D = 0, z = (b-c)/sqrt(b+c)). Let r be the likeliest rate of losses given D, V/n =
 * v = 2r + D(1-D), z = (b-c-nD)/sqrt(V). The likelihood equation b/(r+D) + c/r = 2(n-b-c)/(1-2r-D) says that there is an s
 * with b = (r+D)·A, A = n+(1-D)s and c = r·C, C = n-(1+D)s. Put in, b-c-nD = s·v, so z = s·sqrt(v/n).
 * With b: the quadratic whose larger root r is falls with b and with c at every r >= 0, so r and v rise with both. Raise b
 * at fixed c: r rises, so s rises to keep c (at c = 0 either r = 0 and b's own equation raises s, or s = n/(1+D)). Where
 * s >= 0, z rises as a product of two; where b-c-nD < 0 it shrinks in size while v grows, so z rises too.
 * With c: r rises, s falls to keep b. Where s <= 0, z falls as a product; where b-c-nD > 0 that falls and v grows.
 * With D: let β = r(1+D)/v and K = βA + (1-β)C = C + 2βs >= 0. Differentiating both equations and solving for the
 * derivatives of r and s, 2v·s' + s·v' = -(C·(2n + s(1-2D+2β)) + 2s²(r + β(1+D)))/K, and z' has its sign. β <= 1/2 since
 * r <= (1-D)/2, and A, C >= 0 hold s in [-n/(1-D), n/(1+D)]; at the two ends 2n + s(1-2D+2β) is n(1-2β)/(1-D) >= 0 and
 * n(3+2β)/(1+D) > 0, and it is linear in s. So z falls with D.
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

/** The region for a cell: a superset, closed upward. O(n) tables, most of them looked at once or twice. */
export function possible(observed: ObservedTable, cell: Cell): Region {
  const limit = new Int32Array(observed.n + 1).fill(-1);
  climb(observed.n, limit, notOutAt(observed, cell.from));
  if (cell.to === cell.from) return limit;
  climb(observed.n, limit, notOutAt(observed, cell.to));
  climb(observed.n, limit, notOutIn(observed, cell));
  return limit;
}

/** Tables that are not surely out at one difference. */
function notOutAt(observed: ObservedTable, difference: number): Belongs {
  const score = scoreAt(observed.n, difference);
  const least = score(observed.b, observed.c, -1);
  return (b, c) => score(b, c, 1) >= least;
}

/**
 * Tables that are not surely out everywhere in a cell. Scores fall with D, so a table is out between two points where its
 * score at the first is below the observed table's score at the second; from point to point in as large steps as do.
 */
function notOutIn(observed: ObservedTable, cell: Cell): Belongs {
  const points = pointsOf(cell);
  const scores = points.map((point) => scoreAt(observed.n, point));
  const least = scores.map((score) => score(observed.b, observed.c, -1));
  const last = points.length - 1;
  return (b, c) => {
    for (let at = 0; at < last; ) {
      const highest = scores[at]!(b, c, 1);
      let step = last - at;
      while (step > 0 && least[at + step]! <= highest) step >>= 1;
      if (step === 0) return true;
      at += step;
    }
    return false;
  };
}

const EVEN = 16;
const FINER = 24;

/** Points of a cell from end to end: even parts, the first and the last halved toward the ends, where scores may cross. */
function pointsOf({ from, to }: Cell): readonly number[] {
  const part = (to - from) / EVEN;
  const points = [from];
  for (let i = FINER; i > 0; i -= 1) points.push(from + part * 2 ** -i);
  for (let i = 1; i < EVEN; i += 1) points.push(from + part * i);
  for (let i = 1; i <= FINER; i += 1) points.push(to - part * 2 ** -i);
  points.push(to);
  return points.filter((point, i) => i === 0 || (point > points[i - 1]! && point <= to));
}

/** Tables surely in the region at one difference: a subset, closed upward. O(n). */
export function certain(observed: ObservedTable, difference: number): Region {
  const score = scoreAt(observed.n, difference);
  const most = score(observed.b, observed.c, 1);
  const limit = new Int32Array(observed.n + 1).fill(-1);
  climb(observed.n, limit, (b, c) => {
    if (b >= observed.b && c <= observed.c) return true;
    return difference === 0 ? tiesOrBeatsAtZero(observed, b, c) : score(b, c, -1) >= most;
  });
  return limit;
}

type Belongs = (b: number, c: number) => boolean;

/** Raises the limits to the border of a set that is closed upward: from b = 0 on, as many losses as still belong. */
function climb(n: number, limit: Region, belongs: Belongs): void {
  let c = -1;
  for (let b = 0; b <= n; b += 1) {
    c = Math.min(Math.max(c, limit[b]!), n - b);
    while (c < n - b && belongs(b, c + 1)) c += 1;
    limit[b] = c;
  }
}

/** At D = 0 the score is (b-c)/sqrt(b+c) and many tables tie; compared as whole numbers. */
function tiesOrBeatsAtZero(observed: ObservedTable, b: number, c: number): boolean {
  const signed = (x: number, y: number): number => Math.sign(x) * x * x * y;
  const own = observed.b - observed.c;
  // (0, 0) has score 0, the limit from both sides.
  return signed(b - c, Math.max(1, observed.b + observed.c)) >= signed(own, Math.max(1, b + c));
}

/** A bound of z(b, c): from above for side 1, from below for side -1. */
type Score = (b: number, c: number, side: 1 | -1) => number;

/**
 * z = (b - c - nD)/sqrt(V) at one D. V = n(2r + w) with w = |D|(1-|D|) and r the constrained likelihood rate of the
 * outcome that |D| works against; V(b, c, D) = V(c, b, -D), so |D| serves for both signs. The bound takes the numerator
 * and V at the ends of what rounding can have made of them.
 */
function scoreAt(n: number, difference: number): Score {
  const size = Math.abs(difference);
  const w = size * (1 - size);
  const margin = n * SLACK;
  return (b, c, side) => {
    if (b + c === 0) return emptyScore(n, size, difference >= 0 ? -1 : 1, side);
    const [x, y] = difference >= 0 ? [b, c] : [c, b];
    const excess = b - c - n * difference + side * margin;
    const outward = excess * side >= 0 ? -1 : 1;
    const linear = (2 * n - x + y) * size - (x + y) - outward * margin;
    const grown = w * (1 + outward * SLACK);
    const spread = 8 * n * y * grown * (1 + outward * SLACK);
    const variance =
      n * (2 * rate(linear, spread, n) * (1 + outward * SLACK) + grown) * (1 + outward * SLACK);
    if (variance <= 0)
      return outward < 0 ? side * Number.POSITIVE_INFINITY : -side * Number.POSITIVE_INFINITY;
    const value = excess / Math.sqrt(variance);
    return value + side * Math.abs(value) * SLACK;
  };
}

/** The table (0, 0) has z² = n|D|/(1-|D|), with the sign of -D: the general formula is 0/0 at D = 0. */
function emptyScore(n: number, size: number, sign: 1 | -1, side: 1 | -1): number {
  const value = size < 1 ? Math.sqrt((n * size) / (1 - size)) : Number.POSITIVE_INFINITY;
  return sign * value * (1 + sign * side * SLACK);
}

/** (sqrt(B² + E) - B)/(4n) without cancellation: falls with B, grows with E. */
function rate(linear: number, constant: number, n: number): number {
  const root = Math.sqrt(linear * linear + constant);
  return linear > 0 ? constant / (4 * n * (root + linear)) : (root - linear) / (4 * n);
}
