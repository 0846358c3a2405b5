/**
 * Power and minimum detectable effect of McNemar's exact test, unconditional: over all tables of a number of pairs.
 * Promises: the full multinomial sum, no error bound; at p10 = p01 it is the true size.
 * Does not promise: sizes over the budget (E_STATS_LIMIT).
 */
import { fail } from '../../store/format/errors.ts';
import { criticalCounts } from './critical.ts';
import { certified } from './decimal.ts';
import { bitLength, enclose } from './enclosure.ts';
import {
  type Alternative,
  alphaOf,
  alternativeOf,
  closedUnit,
  count,
  fields,
  openUnit,
  refuse,
} from './input.ts';
import { onOneScale } from './ranks.ts';
import { add, compare, HALF, multiply, ONE, print, type Rational, rational, subtract } from './rational.ts';

/** Pairs² times the bits of the common denominator: about two seconds. */
const BUDGET = 4e9;

export interface Power {
  readonly rejectAny: string;
  /** Rejections whose direction is that of the larger of p10 and p01 (treatment where they are equal). */
  readonly rejectRightDirection: string;
}

/** Masses over one denominator. */
interface Mass {
  readonly any: bigint;
  readonly right: bigint;
  readonly den: bigint;
}

/** {pairs, p10, p01, alpha, alternative} -> {rejectAny, rejectRightDirection}. */
export function mcnemarPower(input: unknown): Power {
  const given = fields(input, ['pairs', 'p10', 'p01', 'alpha', 'alternative']);
  const pairs = count(given.pairs, 'pairs');
  const p10 = closedUnit(given.p10, 'p10');
  const p01 = closedUnit(given.p01, 'p01');
  if (compare(add(p10, p01), ONE) > 0) refuse('p10 + p01', 'at most 1', print(add(p10, p01)));
  const alternative = alternativeOf(given.alternative);
  const mass = rejection(regions(pairs, alphaOf(given.alpha), alternative), p10, p01);
  return { rejectAny: decimal(mass.any, mass.den), rejectRightDirection: decimal(mass.right, mass.den) };
}

/** {pairs, p01, alpha, power, gridStep, alternative} -> the smallest grid p10 > p01 that reaches the power, or null. */
export function mcnemarMde(input: unknown): {
  readonly p10Exact: string | null;
  readonly achievedPower: string | null;
} {
  const given = fields(input, ['pairs', 'p01', 'alpha', 'power', 'gridStep', 'alternative']);
  const pairs = count(given.pairs, 'pairs');
  const p01 = closedUnit(given.p01, 'p01');
  const target = openUnit(given.power ?? '0.8', 'power');
  const step = openUnit(given.gridStep ?? '0.01', 'gridStep');
  const set = regions(pairs, alphaOf(given.alpha), alternativeOf(given.alternative));
  const at = (index: bigint): Mass => rejection(set, multiply(step, { num: index, den: 1n }), p01);
  const reaches = (index: bigint): boolean => {
    const { right, den } = at(index);
    return right * target.den >= target.num * den;
  };
  // Turning a concordant pair into a treatment-only one never leaves the right-direction region (B(c;n) falls as n
  // grows), so power does not fall as p10 grows and halving finds the smallest.
  const room = subtract(ONE, p01);
  let low = (p01.num * step.den) / (p01.den * step.num);
  let high = (room.num * step.den) / (room.den * step.num);
  if (high <= low || !reaches(high)) return { p10Exact: null, achievedPower: null };
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (reaches(middle)) high = middle;
    else low = middle;
  }
  const { right, den } = at(high);
  return { p10Exact: print(rational(high * step.num, step.den)), achievedPower: decimal(right, den) };
}

function decimal(num: bigint, den: bigint): string {
  return certified((bits) => enclose({ num, den }, bits));
}

/** Limits on the smaller count for each number of discordant pairs. */
interface Regions {
  readonly pairs: number;
  /** Reject, treatment ahead or behind, when c <= limit; resp. b <= limit. Absent where the test has no such side. */
  readonly low?: readonly number[];
  readonly high?: readonly number[];
  /** The parts of those regions where the losing count is at most half: the true direction. */
  readonly halves: readonly number[];
}

function regions(pairs: number, alpha: Rational, alternative: Alternative): Regions {
  if (pairs > 50_000) beyond(`${pairs} pairs`);
  const limits = criticalCounts(pairs, alternative === 'two-sided' ? multiply(alpha, HALF) : alpha);
  const halves = limits.map((limit, n) => Math.min(limit, (n - 1) >> 1));
  if (alternative === 'greater') return { pairs, low: limits, halves };
  if (alternative === 'less') return { pairs, high: limits, halves };
  return { pairs, low: limits, high: limits, halves };
}

function beyond(found: string): never {
  fail('E_STATS_LIMIT', {
    where: 'mcnemarPower',
    wanted: 'pairs² x bits of the common denominator <= 4·10^9',
    found,
    hint: 'minUnits gives the floor of p at any size; coarser probabilities need fewer bits',
  });
}

function rejection(set: Regions, p10: Rational, p01: Rational): Mass {
  const rest = subtract(subtract(ONE, p10), p01);
  const { units, den } = onOneScale([p10, p01, rest]);
  const [wins, losses, concordant] = units as [bigint, bigint, bigint];
  if (set.pairs ** 2 * bitLength(den) > BUDGET) beyond(`${set.pairs} pairs over ${bitLength(den)} bits`);
  const mass = (limits: readonly number[], win: bigint, loss: bigint): bigint =>
    lossesAtMost(set.pairs, limits, win, loss, concordant);
  const low = set.low === undefined ? 0n : mass(set.low, wins, losses);
  const high = set.high === undefined ? 0n : mass(set.high, losses, wins);
  const upward = compare(p10, p01) >= 0;
  return {
    any: low + high,
    right: rightDirection(set, upward, mass, wins, losses),
    den: den ** BigInt(set.pairs),
  };
}

type LimitMass = (limits: readonly number[], win: bigint, loss: bigint) => bigint;

/** Mass of the rejections in which the truly better arm is ahead. */
function rightDirection(
  set: Regions,
  upward: boolean,
  mass: LimitMass,
  wins: bigint,
  losses: bigint,
): bigint {
  const [better, worse] = upward ? [wins, losses] : [losses, wins];
  const own = upward ? set.low : set.high;
  const other = upward ? set.high : set.low;
  let right = own === undefined ? 0n : mass(set.halves, better, worse);
  if (own === undefined && other !== undefined) {
    // Only at alpha >= 1/2 does the opposite one-sided test reject with the better arm ahead.
    const half = other.map((limit, n) => Math.min(limit, n >> 1));
    if (half.some((limit, n) => limit !== other[n]))
      right = mass(other, worse, better) - mass(half, worse, better);
  }
  return right;
}

/**
 * Sum over n of C(N,n)·rest^(N-n)·U(n), U(n) = sum over x <= limit(n) of C(n,x)·win^(n-x)·loss^x, as whole numbers.
 * With t the last term of U: U(n+1, m) = (win + loss)·U(n, m) - loss·t, so each n costs a few operations.
 */
function lossesAtMost(
  pairs: number,
  limits: readonly number[],
  win: bigint,
  loss: bigint,
  rest: bigint,
): bigint {
  // A limit is below n, so every term holds at least one win.
  if (win === 0n) return 0n;
  let mass = 0n;
  let ways = 1n;
  let tail = 0n;
  let term = 0n;
  let m = -1;
  let winPower = 1n;
  for (let n = 0; n <= pairs; n += 1) {
    if (n > 0) {
      ways = (ways * BigInt(pairs - n + 1)) / BigInt(n);
      winPower *= win;
      tail = (win + loss) * tail - loss * term;
      if (m >= 0) term = (term * win * BigInt(n)) / BigInt(n - m);
    }
    if (limits[n]! > m) {
      term = m < 0 ? winPower : (term * BigInt(n - m) * loss) / (BigInt(m + 1) * win);
      tail += term;
      m += 1;
    }
    mass = mass * rest + ways * tail;
  }
  return mass;
}
