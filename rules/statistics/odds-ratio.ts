/**
 * Exact interval for the discordant odds ratio: Clopper-Pearson for b of b+c, mapped by x/(1-x).
 * Promises: ends of 20 digits, also where an end lies near 0 or is very large.
 */
import { certified } from './decimal.ts';
import { type Enclosure, minus, over, UNIT } from './enclosure.ts';
import { count, fields, levelOf } from './input.ts';
import { limitTrials, lowerRoot, tailOf } from './rate.ts';
import { print, rational } from './rational.ts';

export interface OddsRatio {
  readonly estimateExact: string | null;
  readonly lo: string;
  readonly hi: string;
  readonly note?: string;
}

/** {b, c, level} -> {estimateExact, lo, hi}. */
export function discordantOddsRatioCI(input: unknown): OddsRatio {
  const given = fields(input, ['b', 'c', 'level']);
  const b = count(given.b, 'b');
  const c = count(given.c, 'c');
  const alpha = tailOf(levelOf(given.level));
  const n = b + c;
  limitTrials(n, 'discordantOddsRatioCI');
  if (n === 0) return { estimateExact: null, lo: '0', hi: 'Infinity', note: 'no discordant pair' };
  return {
    estimateExact: c === 0 ? 'Infinity' : print(rational(BigInt(b), BigInt(c))),
    lo: b === 0 ? '0' : certified((bits) => odds(lowerRoot(b, n, alpha, bits), bits)),
    hi:
      c === 0
        ? 'Infinity'
        : certified((bits) => over(UNIT, odds(lowerRoot(c, n, alpha, bits), bits), bits + 32)),
  };
}

/** r/(1-r). */
function odds(r: Enclosure, bits: number): Enclosure {
  return over(r, minus(UNIT, r, 2 * bits), bits + 32);
}
