/**
 * Roots of monotone functions, with a proof.
 * Promises: the function is surely below the target at the lower end of the result and surely above it at the upper end,
 * so (the function being continuous and increasing) the root lies between.
 * Does not promise: an end where `evaluate` never decides a sign; it then returns the bracket it could prove.
 * Method: Illinois (regula falsi with halved weights) on whole numbers, halving where that is slow.
 */
import type { Enclosure } from './enclosure.ts';

export interface RootQuestion {
  /** f(x) - target at x = units/2^scale, enclosed; increasing in x. */
  readonly evaluate: (units: bigint) => Enclosure;
  readonly scale: number;
  /** f - target is known to be <= 0 at `low` and >= 0 at `high`. */
  readonly low: bigint;
  readonly high: bigint;
  /** A place to start, strictly between. */
  readonly start: bigint;
  /** First distance to probe from `start` while only one side is known; doubled each time. */
  readonly step: bigint;
  /** Stop once the bracket is narrower than its lower end / 2^bits. */
  readonly bits: number;
}

/** Scale at which values steer the search; the proof does not rest on it. */
const STEER = 256;

export function enclosedRoot(question: RootQuestion): Enclosure {
  let { low, high } = question;
  let atLow = -1n << BigInt(STEER);
  let atHigh = 1n << BigInt(STEER);
  let x = question.start;
  let side = 0;
  /** 1: the upper end is proven, 2: the lower, 3: both. */
  let known = 0;
  let reach = question.step;
  let mark = high - low;
  for (let step = 0; high - low > slack(low, question.bits) && step < 4000; step += 1) {
    const value = question.evaluate(x);
    if (value.lo > 0n) {
      high = x;
      atHigh = steer(value);
      if (side > 0) atLow /= 2n;
      side = 1;
      known |= 1;
    } else if (value.hi < 0n) {
      low = x;
      atLow = steer(value);
      if (side < 0) atHigh /= 2n;
      side = -1;
      known |= 2;
    } else {
      return straddle(question, x, low, high);
    }
    if (known !== 3) {
      x = probe(known === 1 ? high - reach : low + reach, low, high);
      reach *= 2n;
      continue;
    }
    // Illinois meets both sides within three steps; where four have not even halved the bracket, we halve it.
    const check = step % 4 === 3;
    x = next(low, high, atLow, atHigh, check && (high - low) * 2n > mark);
    if (check) mark = high - low;
  }
  return { lo: low, hi: high, exp: -question.scale };
}

/** x where it lies inside, else the middle. */
function probe(x: bigint, low: bigint, high: bigint): bigint {
  return x > low && x < high ? x : (low + high) >> 1n;
}

function slack(low: bigint, bits: number): bigint {
  const unit = low >> BigInt(bits);
  return unit > 1n ? unit : 1n;
}

/** An interior point: by the values where they are trusted, else the middle. */
function next(low: bigint, high: bigint, atLow: bigint, atHigh: bigint, slow: boolean): bigint {
  const middle = (low + high) >> 1n;
  const spread = atHigh - atLow;
  if (slow || spread <= 0n) return middle;
  const guess = low + ((high - low) * -atLow) / spread;
  return guess <= low ? low + 1n : guess >= high ? high - 1n : guess;
}

function steer(value: Enclosure): bigint {
  const middle = (value.lo + value.hi) >> 1n;
  const shift = value.exp + STEER;
  return shift >= 0 ? middle << BigInt(shift) : middle >> BigInt(-shift);
}

/** The value at x could not be told from the target: widen around x until both sides are proven. */
function straddle(question: RootQuestion, x: bigint, low: bigint, high: bigint): Enclosure {
  const unit = slack(x, question.bits + 2);
  let below = low;
  let above = high;
  for (let width = unit; x - width > low; width *= 4n) {
    if (question.evaluate(x - width).hi >= 0n) continue;
    below = x - width;
    break;
  }
  for (let width = unit; x + width < high; width *= 4n) {
    if (question.evaluate(x + width).lo <= 0n) continue;
    above = x + width;
    break;
  }
  return { lo: below, hi: above, exp: -question.scale };
}
