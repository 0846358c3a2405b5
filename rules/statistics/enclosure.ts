/**
 * Interval arithmetic on BigInt: a real number held between two dyadic rationals.
 * Promises: each operation's result contains every value that the operation takes on its operands (directed rounding).
 * Does not promise: narrowness; the caller asks for more bits until the result decides what it has to.
 */
import type { Rational } from './rational.ts';

/** The value lies in [lo·2^exp, hi·2^exp]. */
export interface Enclosure {
  readonly lo: bigint;
  readonly hi: bigint;
  readonly exp: number;
}

export const NOUGHT: Enclosure = { lo: 0n, hi: 0n, exp: 0 };
export const UNIT: Enclosure = { lo: 1n, hi: 1n, exp: 0 };

/** Number of bits of |x|; 0 for 0. O(bits). */
export function bitLength(x: bigint): number {
  if (x === 0n) return 0;
  const hex = (x < 0n ? -x : x).toString(16);
  return hex.length * 4 - (hex[0]! < '2' ? 3 : hex[0]! < '4' ? 2 : hex[0]! < '8' ? 1 : 0);
}

/** ceil(a/b), b > 0. */
export function ceilDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a > 0n && quotient * b !== a ? quotient + 1n : quotient;
}

/** floor(a/b), b > 0. */
export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a < 0n && quotient * b !== a ? quotient - 1n : quotient;
}

/** Ends cut to `bits` bits, outward. */
export function trim(x: Enclosure, bits: number): Enclosure {
  const excess = Math.max(bitLength(x.lo), bitLength(x.hi)) - bits;
  if (excess <= 0) return x;
  const shift = BigInt(excess);
  return { lo: x.lo >> shift, hi: -(-x.hi >> shift), exp: x.exp + excess };
}

/** num/den to `bits` bits. */
export function enclose({ num, den }: Rational, bits: number): Enclosure {
  if (den === 1n) return trim({ lo: num, hi: num, exp: 0 }, bits);
  const shift = Math.max(0, bits + bitLength(den) - bitLength(num) + 1);
  const scaled = num << BigInt(shift);
  return trim({ lo: floorDivide(scaled, den), hi: ceilDivide(scaled, den), exp: -shift }, bits);
}

export function whole(value: bigint): Enclosure {
  return { lo: value, hi: value, exp: 0 };
}

export function plus(a: Enclosure, b: Enclosure, bits: number): Enclosure {
  const exp = Math.min(a.exp, b.exp);
  const left = BigInt(a.exp - exp);
  const right = BigInt(b.exp - exp);
  return trim({ lo: (a.lo << left) + (b.lo << right), hi: (a.hi << left) + (b.hi << right), exp }, bits);
}

export function opposite(a: Enclosure): Enclosure {
  return { lo: -a.hi, hi: -a.lo, exp: a.exp };
}

export function minus(a: Enclosure, b: Enclosure, bits: number): Enclosure {
  return plus(a, opposite(b), bits);
}

export function times(a: Enclosure, b: Enclosure, bits: number): Enclosure {
  const exp = a.exp + b.exp;
  if (a.lo >= 0n && b.lo >= 0n) return trim({ lo: a.lo * b.lo, hi: a.hi * b.hi, exp }, bits);
  const products = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
  let lo = products[0]!;
  let hi = lo;
  for (const product of products) {
    if (product < lo) lo = product;
    if (product > hi) hi = product;
  }
  return trim({ lo, hi, exp }, bits);
}

/** a/b; b must lie above 0. */
export function over(a: Enclosure, b: Enclosure, bits: number): Enclosure {
  if (b.lo <= 0n) throw new RangeError('divisor not above 0');
  const shift = Math.max(0, bits + bitLength(b.hi) - bitLength(a.lo === 0n ? a.hi : a.lo) + 1);
  const up = BigInt(shift);
  const lo = floorDivide(a.lo << up, a.lo >= 0n ? b.hi : b.lo);
  const hi = ceilDivide(a.hi << up, a.hi >= 0n ? b.lo : b.hi);
  return trim({ lo, hi, exp: a.exp - b.exp - shift }, bits);
}

/** a^n for a >= 0 and n >= 0. O(log n) multiplications. */
export function power(a: Enclosure, n: number, bits: number): Enclosure {
  let result = UNIT;
  let square = a;
  for (let left = n; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = times(result, square, bits);
    if (left > 1) square = times(square, square, bits);
  }
  return result;
}

/** floor of the square root of x >= 0, by Newton from above. */
export function squareRootFloor(x: bigint): bigint {
  if (x < 2n) return x;
  let root = 1n << BigInt(Math.floor((bitLength(x) + 1) / 2));
  for (;;) {
    const next = (root + x / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** Square root; what lies below 0 counts as 0 (a difference that cannot be negative, enclosed loosely). */
export function squareRoot(a: Enclosure, bits: number): Enclosure {
  const shift = Math.max(0, 2 * bits - bitLength(a.hi));
  const exp = a.exp - shift - ((((a.exp - shift) % 2) + 2) % 2);
  const up = BigInt(a.exp - exp);
  const lo = a.lo <= 0n ? 0n : squareRootFloor(a.lo << up);
  const top = a.hi <= 0n ? 0n : a.hi << up;
  const root = squareRootFloor(top);
  return trim({ lo, hi: root * root === top ? root : root + 1n, exp: exp / 2 }, bits);
}

/** Sign of a - b where the enclosures decide it: -1 or 1; 0 where both are the same single number; else undefined. */
export function order(a: Enclosure, b: Enclosure): -1 | 0 | 1 | undefined {
  const exp = Math.min(a.exp, b.exp);
  const left = BigInt(a.exp - exp);
  const right = BigInt(b.exp - exp);
  if (a.hi << left < b.lo << right) return -1;
  if (a.lo << left > b.hi << right) return 1;
  const single = a.lo === a.hi && b.lo === b.hi;
  return single ? 0 : undefined;
}

/** The enclosure's lower and upper end, the smaller of the two arguments' ends: min(a, b). */
export function least(a: Enclosure, b: Enclosure): Enclosure {
  const exp = Math.min(a.exp, b.exp);
  const left = BigInt(a.exp - exp);
  const right = BigInt(b.exp - exp);
  const [alo, ahi, blo, bhi] = [a.lo << left, a.hi << left, b.lo << right, b.hi << right];
  return { lo: alo < blo ? alo : blo, hi: ahi < bhi ? ahi : bhi, exp };
}

/** Twice the value. */
export function twice(a: Enclosure): Enclosure {
  return { ...a, exp: a.exp + 1 };
}

/** Half the value. */
export function halved(a: Enclosure): Enclosure {
  return { ...a, exp: a.exp - 1 };
}
