/**
 * Sums 1 + r1 + r1 r2 + ... of a hypergeometric kind, enclosed.
 * Promises: the sum of the whole series lies in the result, the part that was not added up included.
 * Does not promise: an end in reasonable time for ratios that stay near 1; callers choose the side that converges.
 */
import { ceilDivide, type Enclosure, trim } from './enclosure.ts';

export interface Ratios {
  /** r_j = (top + j·step) / (bottom + j·step') · factor for j = 1, 2, ...; a top that reaches 0 ends the series. */
  readonly top: number;
  readonly topStep: -1 | 0 | 1 | 2;
  readonly bottom: number;
  readonly bottomStep: 1 | 2;
  /** The factor lies in [factorLo, factorHi] / 2^factorBits. */
  readonly factorLo: bigint;
  readonly factorHi: bigint;
  readonly factorBits: number;
}

/**
 * Two running terms, one rounded down and one up, hold each true term between them. We stop once the lower one is below
 * one unit of the last place and all later ratios are below rho < 1; the rest is then at most term·rho/(1-rho).
 */
export function seriesSum(ratios: Ratios, bits: number): Enclosure {
  const shift = BigInt(ratios.factorBits);
  let lo = 1n << BigInt(bits);
  let hi = lo;
  let sumLo = lo;
  let sumHi = hi;
  for (let j = 1; ; j += 1) {
    const top = ratios.top + j * ratios.topStep;
    if (top <= 0) break;
    const a = BigInt(top);
    const b = BigInt(ratios.bottom + j * ratios.bottomStep);
    if (lo === 0n) {
      const rest = remainder(ratios, hi, a, b);
      if (rest !== undefined) {
        sumHi += rest;
        break;
      }
    }
    lo = ratios.factorBits === 0 ? (lo * a) / b : (lo * a * ratios.factorLo) / (b << shift);
    hi = -((-hi * a * ratios.factorHi) / (b << shift)) + 1n;
    sumLo += lo;
    sumHi += hi;
  }
  return { lo: sumLo, hi: sumHi, exp: -bits };
}

/** Bound of all terms after one <= hi whose next ratio is a/b·factor; undefined while ratios can reach 1. */
function remainder(ratios: Ratios, hi: bigint, a: bigint, b: bigint): bigint | undefined {
  const one = 1n << BigInt(ratios.factorBits);
  let num = a * ratios.factorHi;
  let den = b * one;
  if (ratios.topStep > 0) {
    // A ratio of two growing numbers moves steadily to the limit topStep/bottomStep·factor, maybe from below.
    const limitNum = BigInt(ratios.topStep) * ratios.factorHi;
    const limitDen = BigInt(ratios.bottomStep) * one;
    if (num * limitDen < limitNum * den) {
      num = limitNum;
      den = limitDen;
    }
  }
  if (num >= den) return undefined;
  return ceilDivide(hi * num, den - num) + 1n;
}

/** An enclosure as numerator over 2^factorBits. */
export function factor(
  value: Enclosure,
  bits: number,
): { readonly factorLo: bigint; readonly factorHi: bigint; readonly factorBits: number } {
  const cut = trim(value, bits);
  if (cut.exp <= 0) return { factorLo: cut.lo, factorHi: cut.hi, factorBits: -cut.exp };
  return { factorLo: cut.lo << BigInt(cut.exp), factorHi: cut.hi << BigInt(cut.exp), factorBits: 0 };
}
