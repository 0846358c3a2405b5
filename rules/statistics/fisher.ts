/**
 * Fisher's exact test for unpaired 2x2 tables.
 * Promises: two-sided sums every table that is no more probable than the observed one, compared as whole numbers; the
 * doubled one-sided value stands beside it as pCentral.
 * Does not promise: tables of more than MAX_TOTAL, or anything about paired data.
 */
import { fail } from '../../store/format/errors.ts';
import { choose } from './binomial.ts';
import { rationalDecimal } from './decimal.ts';
import { alternativeOf, count, fields } from './input.ts';
import { ONE, print, type Rational, rational, smaller } from './rational.ts';

const MAX_TOTAL = 20_000;

export interface FisherResult {
  readonly p: string;
  readonly pExact: string;
  readonly pCentral?: string;
  readonly pCentralExact?: string;
}

/** {a, b, c, d, alternative} -> {p, pExact, ...}; rows (a, b) and (c, d); `greater` asks whether a is large. */
export function fisherExact(input: unknown): FisherResult {
  const given = fields(input, ['a', 'b', 'c', 'd', 'alternative']);
  const [a, b, c, d] = [count(given.a, 'a'), count(given.b, 'b'), count(given.c, 'c'), count(given.d, 'd')];
  const alternative = alternativeOf(given.alternative);
  if (a + b + c + d > MAX_TOTAL)
    fail('E_STATS_LIMIT', {
      where: 'fisherExact',
      wanted: `a total of at most ${MAX_TOTAL}`,
      found: `${a + b + c + d}`,
      hint: 'No approximation is offered; compare the two exact Clopper-Pearson intervals',
    });
  const tails = hypergeometricTails(a, b, c, d);
  const greater = rational(tails.atLeast, tails.total);
  const less = rational(tails.atMost, tails.total);
  if (alternative !== 'two-sided') {
    const p = alternative === 'greater' ? greater : less;
    return { p: rationalDecimal(p), pExact: print(p) };
  }
  const p = rational(tails.noMoreProbable, tails.total);
  const central = smaller(ONE, twice(smaller(greater, less)));
  return {
    p: rationalDecimal(p),
    pExact: print(p),
    pCentral: rationalDecimal(central),
    pCentralExact: print(central),
  };
}

function twice(value: Rational): Rational {
  return rational(2n * value.num, value.den);
}

interface Tails {
  readonly atLeast: bigint;
  readonly atMost: bigint;
  readonly noMoreProbable: bigint;
  readonly total: bigint;
}

/** Counts of tables with the observed margins, weighted C(row1, x) C(row2, column1 - x). O(min margin). */
function hypergeometricTails(a: number, b: number, c: number, d: number): Tails {
  const [row1, row2, column1] = [a + b, c + d, a + c];
  const first = Math.max(0, column1 - row2);
  const last = Math.min(row1, column1);
  const terms: bigint[] = [];
  let term = choose(row1, first) * choose(row2, column1 - first);
  for (let x = first; x <= last; x += 1) {
    terms.push(term);
    const [num, den] = [(row1 - x) * (column1 - x), (x + 1) * (row2 - column1 + x + 1)];
    if (x < last) term = (term * BigInt(num)) / BigInt(den);
  }
  const observed = terms[a - first]!;
  let [atLeast, atMost, noMoreProbable, total] = [0n, 0n, 0n, 0n];
  for (const [index, weight] of terms.entries()) {
    total += weight;
    if (index >= a - first) atLeast += weight;
    if (index <= a - first) atMost += weight;
    if (weight <= observed) noMoreProbable += weight;
  }
  return { atLeast, atMost, noMoreProbable, total };
}
