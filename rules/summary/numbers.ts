/** Intervals as a summary holds them: method and level stand beside the ends. */
import type { Comparison, Rate } from '../contracts/summary.ts';
import { exactly, plainLevel } from '../power/sides.ts';
import { pairedDifferenceExact } from '../statistics/paired-difference-exact.ts';
import { clopperPearson } from '../statistics/rate.ts';

export interface Intervals {
  /** Of the level that belongs to the registered alpha. */
  readonly level: string;
  rate(solved: number, runs: number): Rate;
  /** Certified exact interval of a paired difference, or why there is none. Equal questions are computed once. */
  difference(
    table: { readonly b: number; readonly c: number; readonly n: number },
    level?: string,
  ): Comparison['differenceInterval'];
}

export function openIntervals(level: string): Intervals {
  const known = new Map<string, Comparison['differenceInterval']>();
  const rates = new Map<string, Rate>();
  const plain = plainLevel(level);
  return {
    level: plain,
    rate(solved, runs) {
      const name = `${solved} ${runs}`;
      const found = rates.get(name) ?? rateOf(solved, runs, plain);
      rates.set(name, found);
      return found;
    },
    difference(table, of = plain) {
      const name = JSON.stringify([table.b, table.c, table.n, of]);
      const found = known.get(name) ?? differenceInterval(table, of);
      known.set(name, found);
      return found;
    },
  };
}

function rateOf(solved: number, runs: number, level: string): Rate {
  const { lo, hi } = clopperPearson({ k: solved, n: runs, level });
  return { solved, runs, interval: { level, lo, hi, method: 'Clopper-Pearson' } };
}

function differenceInterval(
  { b, c, n }: { readonly b: number; readonly c: number; readonly n: number },
  level: string,
): Comparison['differenceInterval'] {
  const found = exactly(() => pairedDifferenceExact({ b, c, n, level }));
  if ('refused' in found) return found;
  return {
    level: plainLevel(level),
    lo: found.lo,
    hi: found.hi,
    method: 'exact unconditional, score ordered',
  };
}
