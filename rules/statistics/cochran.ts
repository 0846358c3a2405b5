/**
 * Cochran's Q (1950) with its exact permutation p: outcomes permuted within each row, tables ordered by the sum of
 * squared column totals.
 * Promises: rational p; rows all passed or all failed carry nothing; with two columns it equals McNemar's exact test.
 * Does not promise: many rows by many columns: E_STATS_LIMIT, naming the pairwise exact tests.
 */
import { fail } from '../../store/format/errors.ts';
import { choose } from './binomial.ts';
import { rationalDecimal } from './decimal.ts';
import { fields, list, refuse } from './input.ts';
import { ONE, print, type Rational, rational, ZERO } from './rational.ts';

/** Table updates that may be spent: some seconds. */
const MAX_STEPS = 20_000_000;
const MAX_COLUMNS = 12;

export interface CochranResult {
  readonly qExact: string;
  readonly nInformative: number;
  readonly p: string;
  readonly pExact: string;
}

/** {rows: lists of 0 and 1; a row is a task, a column a condition} -> {qExact, nInformative, p, pExact}. */
export function cochranQ(input: unknown): CochranResult {
  const rows = readRows(fields(input, ['rows']).rows);
  const columns = rows[0]?.length ?? 0;
  const totals = Array.from({ length: columns }, (_, column) =>
    rows.reduce((sum, row) => sum + row[column]!, 0),
  );
  const passes = rows.map((row) => row.reduce((sum, cell) => sum + cell, 0));
  const informative = passes.filter((pass) => pass > 0 && pass < columns);
  const p = informative.length === 0 ? ONE : permutationP(rows, totals, informative, columns);
  return {
    qExact: print(statistic(totals, passes, columns)),
    nInformative: informative.length,
    p: rationalDecimal(p),
    pExact: print(p),
  };
}

function readRows(value: unknown): readonly (readonly number[])[] {
  const rows = list(value, 'rows').map((row, index) =>
    list(row, `rows[${index}]`).map((cell, column) =>
      cell === 0 || cell === 1 ? cell : refuse(`rows[${index}][${column}]`, '0 or 1', cell),
    ),
  );
  const columns = rows[0]?.length ?? 0;
  for (const [index, row] of rows.entries())
    if (row.length !== columns || columns < 2)
      refuse(`rows[${index}]`, `${Math.max(columns, 2)} outcomes`, row.length);
  return rows;
}

/** (k-1)(k·sum G² - N²) / (k·N - sum L²); 0 where the denominator is 0. */
function statistic(totals: readonly number[], passes: readonly number[], k: number): Rational {
  const all = totals.reduce((sum, total) => sum + total, 0);
  const spread = k * squares(totals) - all * all;
  const within = k * all - squares(passes);
  return within === 0 ? ZERO : rational(BigInt((k - 1) * spread), BigInt(within));
}

function squares(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value * value, 0);
}

/** Rows that all passed only shift every total by one, which changes each sum of squares by the same amount. */
function permutationP(
  rows: readonly (readonly number[])[],
  totals: readonly number[],
  informative: readonly number[],
  columns: number,
): Rational {
  const full = rows.filter((row) => row.every((cell) => cell === 1)).length;
  const observed = squares(totals.map((total) => total - full));
  const ordered = [...informative].sort((a, b) => Math.min(b, columns - b) - Math.min(a, columns - a));
  const counts = totalsDistribution(ordered, columns);
  let extreme = 0n;
  let all = 0n;
  for (const { totals: state, ways } of counts.values()) {
    all += ways;
    if (squares(state) >= observed) extreme += ways;
  }
  return rational(extreme, all);
}

interface Tally {
  readonly totals: readonly number[];
  ways: bigint;
}

/** Ways to reach each multiset of column totals: columns with equal totals are interchangeable. */
function totalsDistribution(passes: readonly number[], columns: number): Map<string, Tally> {
  let tallies = new Map<string, Tally>([['', { totals: new Array<number>(columns).fill(0), ways: 1n }]]);
  let steps = 0;
  if (columns > MAX_COLUMNS) outOfReach(passes.length, columns);
  for (const pass of passes) {
    const next = new Map<string, Tally>();
    for (const { totals, ways } of tallies.values()) {
      for (const placed of placements(totals, pass)) {
        const key = String.fromCharCode(...placed.totals);
        const found = next.get(key);
        if (found === undefined) next.set(key, { totals: placed.totals, ways: ways * placed.ways });
        else found.ways += ways * placed.ways;
        steps += 1;
      }
      if (steps > MAX_STEPS) outOfReach(passes.length, columns);
    }
    tallies = next;
  }
  return tallies;
}

function outOfReach(rows: number, columns: number): never {
  fail('E_STATS_LIMIT', {
    where: 'cochranQ',
    wanted: `a table whose column totals can be counted in ${MAX_STEPS} steps, at most ${MAX_COLUMNS} columns`,
    found: `${rows} informative rows, ${columns} columns`,
    hint: 'Use the pairwise exact tests (mcnemar or signFlip) with holm',
  });
}

/** All ways to add one to `pass` of the ascending totals, up to the order of equal ones; results ascend. */
function placements(totals: readonly number[], pass: number): readonly { totals: number[]; ways: bigint }[] {
  const results: { totals: number[]; ways: bigint }[] = [];
  const place = (from: number, left: number, built: number[], ways: bigint): void => {
    if (from === totals.length) {
      if (left === 0) results.push({ totals: built, ways });
      return;
    }
    let to = from;
    while (to < totals.length && totals[to] === totals[from]) to += 1;
    const size = to - from;
    for (let raised = Math.max(0, left - (totals.length - to)); raised <= Math.min(size, left); raised += 1) {
      const group = Array.from(
        { length: size },
        (_, index) => totals[from]! + (index >= size - raised ? 1 : 0),
      );
      place(to, left - raised, [...built, ...group], ways * choose(size, raised));
    }
  };
  place(0, pass, [], 1n);
  // A raised column of one group may tie with the next group but never pass it, so the totals still ascend.
  return results;
}
