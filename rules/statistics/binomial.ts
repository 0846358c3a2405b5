/**
 * Binomial coefficients and tails: exact, and enclosed to any number of bits.
 * Promises: `exactTail` is the whole integer; the others enclose the true value.
 * Does not promise: n beyond MAX_TRIALS; callers refuse before.
 * Method: C(n,k) from prime exponents (Legendre, Kummer); a tail is its largest term times a ratio series.
 */
import { type Enclosure, minus, over, power, times, trim, UNIT, whole } from './enclosure.ts';
import { factor, seriesSum } from './series.ts';

/** Largest n that the enclosed tails accept. */
export const MAX_TRIALS = 10_000_000;

/** C(n,k), exact. O(min(k,n-k)) multiplications. */
export function choose(n: number, k: number): bigint {
  if (k < 0 || k > n) return 0n;
  let result = 1n;
  for (let i = 1; i <= Math.min(k, n - k); i += 1) result = (result * BigInt(n - i + 1)) / BigInt(i);
  return result;
}

/** Sum of C(n,i) for i <= m, and its last term; exact. O(m) multiplications of n bits. */
export function exactTail(m: number, n: number): { readonly sum: bigint; readonly last: bigint } {
  if (m < 0) return { sum: 0n, last: 0n };
  let term = 1n;
  let sum = 1n;
  for (let i = 0; i < Math.min(m, n); i += 1) {
    term = (term * BigInt(n - i)) / BigInt(i + 1);
    sum += term;
  }
  return { sum, last: m > n ? 0n : term };
}

/** C(n,k) enclosed to about `bits` bits. O(n) for the sieve, O(n / log n) multiplications. */
export function enclosedChoose(n: number, k: number, bits: number): Enclosure {
  const small = Math.min(k, n - k);
  if (small <= 200) return trim(whole(choose(n, small)), bits + 40);
  const width = bits + 40;
  let result = UNIT;
  let chunk = 1;
  for (const prime of primesUpTo(n)) {
    for (let times_ = exponentIn(n, small, prime); times_ > 0; times_ -= 1) {
      if (chunk * prime > Number.MAX_SAFE_INTEGER) {
        result = times(result, whole(BigInt(chunk)), width);
        chunk = 1;
      }
      chunk *= prime;
    }
  }
  return times(result, whole(BigInt(chunk)), width);
}

/** Exponent of a prime in C(n,k): the carries when k and n-k are added in that base (Kummer). */
function exponentIn(n: number, k: number, prime: number): number {
  let carries = 0;
  let carry = 0;
  let a = k;
  let b = n - k;
  while (a > 0 || b > 0 || carry > 0) {
    carry = (a % prime) + (b % prime) + carry >= prime ? 1 : 0;
    carries += carry;
    a = Math.floor(a / prime);
    b = Math.floor(b / prime);
  }
  return carries;
}

function primesUpTo(n: number): number[] {
  const composite = new Uint8Array(n + 1);
  const primes: number[] = [];
  for (let i = 2; i <= n; i += 1) {
    if (composite[i] === 1) continue;
    primes.push(i);
    for (let j = i * i; j <= n; j += i) composite[j] = 1;
  }
  return primes;
}

/** B(m;n) = P(X <= m) for n fair coins, and P(X = m); m < n. */
export function fairTail(
  m: number,
  n: number,
  bits: number,
): { readonly tail: Enclosure; readonly last: Enclosure } {
  const scaled = (x: Enclosure): Enclosure => ({ ...x, exp: x.exp - n });
  const last = scaled(enclosedChoose(n, m, bits));
  const fair = { factorLo: 1n, factorHi: 1n, factorBits: 0 };
  if (2 * m < n) {
    const series = seriesSum({ ...fair, top: m + 1, topStep: -1, bottom: n - m, bottomStep: 1 }, bits + 64);
    return { tail: times(last, series, bits + 40), last };
  }
  // 1 - P(X >= m+1) = 1 - P(X <= n-m-1), which is on the converging side.
  const other = fairTail(n - m - 1, n, bits);
  return { tail: minus(UNIT, other.tail, bits + 40), last };
}

/** The tail P(X >= k) of n trials as a function of p, for many p: C(n,k) is computed once. 1 <= k <= n. */
export function upperTail(n: number, k: number, bits: number): (p: Enclosure) => Enclosure {
  const width = bits + 40;
  const atK = enclosedChoose(n, k, bits);
  const below = over(times(atK, whole(BigInt(k)), width), whole(BigInt(n - k + 1)), width);
  return (p) => {
    const q = minus(UNIT, p, 2 * width);
    const odds = over(p, q, width);
    const mass = (choose_: Enclosure, hits: number): Enclosure =>
      times(choose_, times(power(p, hits, width), power(q, n - hits, width), width), width);
    if (converges(n - k, k + 1, odds)) {
      const series = seriesSum(
        { top: n - k + 1, topStep: -1, bottom: k, bottomStep: 1, ...factor(odds, bits) },
        bits,
      );
      return times(mass(atK, k), series, width);
    }
    const inverse = factor(over(UNIT, odds, width), bits);
    const series = seriesSum({ top: k, topStep: -1, bottom: n - k + 1, bottomStep: 1, ...inverse }, bits);
    return minus(UNIT, times(mass(below, k - 1), series, width), width);
  };
}

/** Whether top/bottom·odds is surely below 1. */
function converges(top: number, bottom: number, odds: Enclosure): boolean {
  const left = BigInt(top) * odds.hi;
  return odds.exp >= 0
    ? left << BigInt(odds.exp) < BigInt(bottom)
    : left < BigInt(bottom) << BigInt(-odds.exp);
}
