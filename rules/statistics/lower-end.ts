/**
 * The lower end of the exact interval of a paired difference: where the worst-case p first passes the limit.
 * Promises: for every D up to `proven`, p <= limit for every nuisance rate q, as region-mass proves; at `reached`, p is above
 * the limit for some q, or `reached` is 1. Work is bounded: at most MAX_CELLS cells.
 * Does not promise: that the two are near each other where the scores of many tables cross at one point.
 *
 * Proof. For a fixed region that is an up-set, raising D at fixed q turns losses into wins and so raises the region's
 * probability. Hence over a cell [from, to] of D0 the p is at most the probability, at D = to, of the union of the
 * regions of the cell, for the q that exist there; smaller q in a cell above 0 are covered by q = to in the same way. That is
 * one polynomial in q, bounded by its Bernstein coefficients (region-mass). Cells are laid side by side from -1 on.
 * Where to lay the next border is guessed in plain doubles (crossing): a wrong guess costs time and proves nothing false.
 */
import { exceeds, type Mass, openMass, peakNear, staysBelow } from './region-mass.ts';
import { certain, type ObservedTable, possible, type Region } from './score-region.ts';

/** Fineness of the answer. */
const FINEST = 2 ** -34;
/** Borders lie on this grid, so that 1-|D| is exact. */
const GRID = 2 ** 44;
const MAX_CELLS = 1000;

interface Question {
  readonly observed: ObservedTable;
  readonly limit: number;
  readonly mass: Mass;
}

/** `limit` is not above the tail; 1 + 8e-16 makes it one that is not below it. c < n. */
export function lowerEnd(
  observed: ObservedTable,
  limit: number,
): { readonly proven: number; readonly reached: number } {
  const question = { observed, limit, mass: openMass(observed.n) };
  const proven = sweep(question);
  return { proven, reached: firstAbove({ ...question, limit: limit * (1 + 8e-16) }, proven) };
}

const snapped = (difference: number): number => Math.round(difference * GRID) / GRID;

/**
 * The largest D up to which every cell is proven. It starts beside -1: there all tables but (0, n) may be in the region,
 * (0, n) has a negative score and the observed table a positive one, and the others' probability is at most
 * 1 - (1-h)^n <= n·h. Each cell covers a share of what is left up to the guessed end; after one that could not be proven,
 * half of what is left up to that one's end, until three cells in a row are.
 */
function sweep(question: Question): number {
  let width = 2 ** -4;
  while (width * question.observed.n > question.limit) width /= 2;
  let proven = -1 + width;
  let target = crossing(question, proven, 1);
  let bad = Number.POSITIVE_INFINITY;
  let share = 0.5;
  let back = FINEST / 2;
  for (let cells = 0, streak = 0; cells < MAX_CELLS; cells += 1) {
    if (target - proven < FINEST) {
      const beyond = part(proven, 1, 0);
      if (beyond <= proven || !isProven(question, proven, beyond)) break;
      // The guess was too low: p does not pass the limit there.
      [proven, bad, back] = [beyond, Number.POSITIVE_INFINITY, FINEST / 2];
      target = crossing(question, proven, 1);
    }
    const steady = bad > target ? steadyRegion(question, proven, target) : undefined;
    const to =
      steady !== undefined
        ? target
        : bad <= target
          ? snapped((proven + bad) / 2)
          : part(proven, target, share);
    if (isProven(question, proven, to, steady)) {
      streak = Math.max(1, streak + 1);
      proven = to;
      share = 0.75;
      if (streak >= 3) bad = Number.POSITIVE_INFINITY;
    } else if (steady !== undefined && back < 16 * FINEST) {
      // The guess may be a little too high.
      target = Math.max(proven, snapped(target - back));
      back *= 4;
    } else {
      streak = Math.min(-1, streak - 1);
      bad = to;
      share = 0.25;
      if (streak === -3 && isAbove(question, to)) target = crossing(question, proven, to);
    }
    if (bad - proven < 2 * FINEST) break;
  }
  return proven;
}

/** The region of a cell that does not reach across 0, if it is the same all over. */
function steadyRegion({ observed }: Question, from: number, to: number): Region | undefined {
  if (from < 0 && to > 0) return undefined;
  const region = possible(observed, { from, to });
  return same(region, pointRegion(observed, to)) ? region : undefined;
}

/** The end of a cell over a share of what is left; it does not reach across 0. */
function part(from: number, target: number, share: number): number {
  const to = from + Math.max(4 * FINEST, (target - from) * share);
  return snapped(Math.min(from < 0 ? 0 : 1, to));
}

const pointRegion = (observed: ObservedTable, at: number): Region => possible(observed, { from: at, to: at });
const same = (a: Region, b: Region): boolean => a.every((limit, i) => limit === b[i]);

/** `known`: the cell's region where it is at hand. */
function isProven({ observed, mass, limit }: Question, from: number, to: number, known?: Region): boolean {
  return staysBelow(mass.coefficients(known ?? possible(observed, { from, to }), to), limit);
}

/** About the worst p of a region at one D; no promise. */
const plainP = ({ mass }: Question, region: Region, at: number): number =>
  peakNear(mass.coefficients(region, at));

const isAbove = (question: Question, at: number): boolean =>
  plainP(question, pointRegion(question.observed, at), at) > question.limit;

/**
 * About where p passes the limit between a D where it does not and one where it does. p falls with the square of the
 * distance in the exponent, so regula falsi (Illinois) runs on its root; where a table that comes in makes p jump, the
 * place is where the region changes.
 */
function crossing(question: Question, below: number, above: number): number {
  const { observed, limit } = question;
  const aim = depth(limit);
  const excess = (at: number): number => aim - depth(plainP(question, pointRegion(observed, at), at));
  let [low, high] = [below, above];
  let [atLow, atHigh] = [excess(low), aim];
  let side = 0;
  let last = Number.POSITIVE_INFINITY;
  let mark = high - low;
  for (let step = 1; high - low > FINEST; step += 1) {
    const check = step % 3 === 0;
    const slow = check && high - low > mark / 2;
    if (check) mark = high - low;
    if (check && high - low < 2 ** -8) {
      const region = pointRegion(observed, low);
      if (plainP(question, region, high) <= limit) {
        const change = jump(question, low, high);
        const after = excess(change.high);
        if (after > 0) return change.low;
        [low, atLow, side] = [change.high, after, 0];
        continue;
      }
    }
    const between = slow ? (low + high) / 2 : low + ((high - low) * -atLow) / (atHigh - atLow);
    const at = snapped(Math.min(high - FINEST / 2, Math.max(low + FINEST / 2, between)));
    if (!slow && Math.abs(at - last) < FINEST / 4) return Math.max(low, snapped(at - FINEST / 2));
    last = at;
    const value = excess(at);
    if (value > 0) {
      [high, atHigh] = [at, value];
      if (side > 0) atLow /= 2;
      side = 1;
    } else {
      [low, atLow] = [at, value];
      if (side < 0) atHigh /= 2;
      side = -1;
    }
  }
  return low;
}

/** Where, between two D, the region of the lower one first changes: by its equality alone. */
function jump(
  { observed }: Question,
  below: number,
  above: number,
): { readonly low: number; readonly high: number } {
  const atLow = pointRegion(observed, below);
  let [low, high] = [below, above];
  while (high - low > FINEST) {
    const middle = snapped((low + high) / 2);
    if (same(pointRegion(observed, middle), atLow)) low = middle;
    else high = middle;
  }
  return { low, high };
}

/** sqrt(-log2 p), the logarithm straight between powers of two; enough to steer. */
function depth(p: number): number {
  let halvings = 0;
  let rest = Math.max(p, 1e-290);
  for (; rest < 0.5; rest *= 2) halvings += 1;
  return Math.sqrt(Math.max(0, halvings + 2 - 2 * rest));
}

/** A D at or above `proven` where p is above the limit, for sure: the first of a few, ever farther; 1 if none is. */
function firstAbove({ observed, limit, mass }: Question, proven: number): number {
  const above = (at: number): boolean => exceeds(mass.coefficients(certain(observed, at), at), limit);
  for (let width = FINEST; width < 2; width *= 2) {
    // Where the sweep stopped just below 0, the ties at 0 itself may be what stopped it.
    if (proven <= 0 && proven + width > 0 && proven + width / 2 <= 0 && above(0)) return 0;
    const at = Math.min(1, proven + width);
    if (above(at)) return at;
  }
  return 1;
}
