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
const MAX_STEPS = 5_000_000;

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
  const base = informative.length + 1;
  let extreme = 0n;
  let all = 0n;
  for (const [key, ways] of totalsDistribution(ordered, columns)) {
    all += ways;
    if (squares(digits(key, base, columns)) >= observed) extreme += ways;
  }
  return rational(extreme, all);
}

/** A key is the ascending column totals as digits, the smallest total first. */
function digits(key: number, base: number, columns: number): number[] {
  const totals = new Array<number>(columns);
  let rest = key;
  for (let column = 0; column < columns; column += 1) {
    totals[column] = rest % base;
    rest = Math.floor(rest / base);
  }
  return totals;
}

/** Ways to reach each multiset of column totals: columns with equal totals are interchangeable. */
function totalsDistribution(passes: readonly number[], columns: number): Map<number, bigint> {
  const base = passes.length + 1;
  if (base ** columns > Number.MAX_SAFE_INTEGER) outOfReach(passes.length, columns);
  let tallies = new Map<number, bigint>([[0, 1n]]);
  let steps = 0;
  for (const pass of passes) {
    const next = new Map<number, bigint>();
    for (const [key, ways] of tallies) {
      for (const { raise, choices } of placements(digits(key, base, columns), pass, base)) {
        next.set(key + raise, (next.get(key + raise) ?? 0n) + ways * choices);
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
    wanted: `a table whose column totals can be counted in ${MAX_STEPS} steps`,
    found: `${rows} informative rows, ${columns} columns`,
    hint: 'Use the pairwise exact tests (mcnemar or signFlip) with holm',
  });
}

interface Placement {
  /** What the row adds to the key. */
  readonly raise: number;
  /** In how many ways the row can do so. */
  readonly choices: bigint;
}

/**
 * All ways to add one to `pass` of the ascending totals, up to the order of equal ones. Of a group of equal totals the
 * last ones are raised, so the totals still ascend.
 */
function placements(totals: readonly number[], pass: number, base: number): readonly Placement[] {
  const results: Placement[] = [];
  const place = (from: number, left: number, raise: number, choices: bigint): void => {
    if (from === totals.length) {
      results.push({ raise, choices });
      return;
    }
    let to = from + 1;
    while (to < totals.length && totals[to] === totals[from]) to += 1;
    let added = raise;
    for (let raised = 0; raised <= Math.min(to - from, left); raised += 1) {
      if (raised > 0) added += base ** (to - raised);
      if (left - raised <= totals.length - to)
        place(to, left - raised, added, choices * choose(to - from, raised));
    }
  };
  place(0, pass, 0, 1n);
  return results;
}
