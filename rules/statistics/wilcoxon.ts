/**
 * The exact signed-rank test with midranks (Wilcoxon 1945; zeros after Pratt 1959, or dropped).
 * Promises: exact with ties and zeros at every size that it accepts; at least n = 300.
 * Does not promise: sizes over the budget of signed-sums: E_STATS_LIMIT with the exact sign test instead.
 */
import { rationalDecimal } from './decimal.ts';
import { alternativeOf, fields, numbers, oneOf } from './input.ts';
import { doubledMidranks, onOneScale } from './ranks.ts';
import { print, rational } from './rational.ts';
import { sidedP } from './sided.ts';
import { refuseWithSignTest } from './sign-test.ts';
import { signCounts } from './signed-sums.ts';

export interface WilcoxonResult {
  readonly nNonzero: number;
  readonly wPlusExact: string;
  readonly p: string;
  readonly pExact: string;
}

/** {diffs, zeroMethod, alternative} -> {nNonzero, wPlusExact, p, pExact}. `pratt` ranks zeros, then drops them. */
export function wilcoxonSignedRank(input: unknown): WilcoxonResult {
  const given = fields(input, ['diffs', 'zeroMethod', 'alternative']);
  const diffs = numbers(given.diffs, 'diffs');
  const zeroMethod = oneOf(given.zeroMethod, 'zeroMethod', ['pratt', 'wilcox'], 'pratt');
  const alternative = alternativeOf(given.alternative);
  const units = onOneScale(diffs).units.filter((unit) => zeroMethod === 'pratt' || unit !== 0n);
  const ranks = doubledMidranks(units);
  const weights: bigint[] = [];
  let doubledPlus = 0n;
  for (const [index, unit] of units.entries()) {
    if (unit === 0n) continue;
    weights.push(BigInt(ranks[index]!));
    if (unit > 0n) doubledPlus += BigInt(ranks[index]!);
  }
  const counts = signCounts(weights, doubledPlus);
  if (counts === undefined)
    return refuseWithSignTest(
      'wilcoxonSignedRank',
      'some 1000 nonzero differences',
      `${weights.length}`,
      diffs,
      alternative,
    );
  const p = sidedP(counts, alternative);
  return {
    nNonzero: weights.length,
    wPlusExact: print(rational(doubledPlus, 2n)),
    p: rationalDecimal(p),
    pExact: print(p),
  };
}
