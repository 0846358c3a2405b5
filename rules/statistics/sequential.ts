/**
 * Looks at registered counts of discordant pairs: crossing probabilities, spending boundaries, the decision at a look.
 * Promises: exact path counts under p = 1/2, crossing absorbs; the last cumulative value is the rule's type I error.
 * Does not promise: validity for looks triggered by calendar or cost.
 */
import { fail } from '../../store/format/errors.ts';
import { rationalDecimal } from './decimal.ts';
import { closedUnit, count, fields, list, refuse } from './input.ts';
import { compare, dyadic, print, type Rational } from './rational.ts';

const MAX_LOOK = 3000;

interface Look {
  readonly n: number;
  readonly upper: number | null;
  readonly lower: number | null;
}

/** {looks: [{n, upper, lower}]} -> crossing probability of each look, and cumulative. */
export function sequentialCrossing(input: unknown): {
  readonly crossExact: readonly string[];
  readonly cumulativeExact: readonly string[];
  readonly cumulative: readonly string[];
} {
  const looks = list(fields(input, ['looks']).looks, 'looks').map(readLook);
  checkSizes(looks.map((look) => look.n));
  let paths = startingPaths();
  const crossed: bigint[] = [];
  for (const look of looks) {
    paths = advance(paths, look.n);
    crossed.push(absorb(paths, look));
  }
  const cross = crossed.map((ways, index) => dyadic(ways, looks[index]!.n));
  const cumulative = accumulate(
    crossed,
    looks.map((look) => look.n),
  );
  return {
    crossExact: cross.map(print),
    cumulativeExact: cumulative.map(print),
    cumulative: cumulative.map((value) => rationalDecimal(value)),
  };
}

function readLook(item: unknown, index: number): Look {
  const where = `looks[${index}]`;
  const given = fields(item, ['n', 'upper', 'lower']);
  const n = count(given.n, `${where}.n`, 1);
  const upper = given.upper === null ? null : count(given.upper, `${where}.upper`);
  const lower = given.lower === null ? null : count(given.lower, `${where}.lower`);
  if (upper !== null && lower !== null && upper <= lower)
    refuse(`${where}.upper`, `above lower = ${lower}`, upper);
  return { n, upper, lower };
}

function checkSizes(sizes: readonly number[]): void {
  for (const [index, n] of sizes.entries())
    if (index > 0 && n <= sizes[index - 1]!)
      refuse(`looks[${index}]`, `above the look before, ${sizes[index - 1]}`, n);
  const last = sizes.at(-1) ?? 0;
  if (last > MAX_LOOK)
    fail('E_STATS_LIMIT', {
      where: 'looks',
      wanted: `looks up to ${MAX_LOOK} discordant pairs`,
      found: `${last}`,
      hint: 'A fixed-size mcnemar works at this size',
    });
}

/** ways[b] = paths with b wins after n pairs that have not crossed yet. */
interface Paths {
  readonly n: number;
  readonly ways: bigint[];
}

function startingPaths(): Paths {
  return { n: 0, ways: [1n] };
}

function advance({ n, ways }: Paths, to: number): Paths {
  let row = ways;
  for (let at = n; at < to; at += 1) {
    const next = new Array<bigint>(row.length + 1);
    for (let b = 0; b <= row.length; b += 1) next[b] = (row[b] ?? 0n) + (b > 0 ? row[b - 1]! : 0n);
    row = next;
  }
  return { n: to, ways: row };
}

/** Takes the crossed paths out and returns how many they were. */
function absorb({ ways }: Paths, { upper, lower }: Look): bigint {
  let crossed = 0n;
  for (let b = 0; b < ways.length; b += 1) {
    if (!((upper !== null && b >= upper) || (lower !== null && b <= lower))) continue;
    crossed += ways[b]!;
    ways[b] = 0n;
  }
  return crossed;
}

function accumulate(crossed: readonly bigint[], sizes: readonly number[]): readonly Rational[] {
  let sum = 0n;
  return crossed.map((ways, index) => {
    sum = (sum << BigInt(sizes[index]! - (sizes[index - 1] ?? 0))) + ways;
    return dyadic(sum, sizes[index]!);
  });
}

export interface Boundary {
  /** Per look the smallest win count that stops (the loser has n - upper at most); null: no stop at this look. */
  readonly upper: readonly (number | null)[];
  readonly cumulativeExact: readonly string[];
}

/** {looks, cumulativeAlpha} -> the smallest symmetric boundary within the spend; what is unspent carries on. */
export function sequentialBoundary(input: unknown): Boundary {
  const given = fields(input, ['looks', 'cumulativeAlpha']);
  const { looks, spend } = readPlan(given.looks, given.cumulativeAlpha);
  return boundaryOf(looks, spend);
}

function readPlan(
  looksInput: unknown,
  spendInput: unknown,
): { looks: readonly number[]; spend: readonly Rational[] } {
  const looks = list(looksInput, 'looks').map((item, index) => count(item, `looks[${index}]`, 1));
  const spend = list(spendInput, 'cumulativeAlpha').map((item, index) =>
    closedUnit(item, `cumulativeAlpha[${index}]`),
  );
  if (spend.length !== looks.length)
    refuse('cumulativeAlpha', `${looks.length} values, one a look`, spend.length);
  for (const [index, value] of spend.entries())
    if (index > 0 && compare(value, spend[index - 1]!) < 0)
      refuse(`cumulativeAlpha[${index}]`, 'no less than at the look before', print(value));
  checkSizes(looks);
  return { looks, spend };
}

function boundaryOf(looks: readonly number[], spend: readonly Rational[]): Boundary {
  let paths = startingPaths();
  /** Crossed so far, in units of 2^-n. */
  let crossed = 0n;
  const upper: (number | null)[] = [];
  const cumulativeExact: string[] = [];
  for (const [index, n] of looks.entries()) {
    crossed <<= BigInt(n - paths.n);
    paths = advance(paths, n);
    const { num, den } = spend[index]!;
    let best: number | null = null;
    let sum = crossed;
    for (let u = n; 2 * u > n; u -= 1) {
      sum += paths.ways[u]! + paths.ways[n - u]!;
      if (sum * den > num << BigInt(n)) break;
      best = u;
    }
    crossed += absorb(paths, { n, upper: best, lower: best === null ? null : n - best });
    upper.push(best);
    cumulativeExact.push(print(dyadic(crossed, n)));
  }
  return { upper, cumulativeExact };
}

export type LookDecision = 'stop-reject' | 'stop-no-reject' | 'continue' | 'not-a-look';

/** {looks, cumulativeAlpha, b, c} -> the decision; any count that is not a look may not be tested. */
export function stopRuleSequential(input: unknown): { readonly decision: LookDecision } {
  const given = fields(input, ['looks', 'cumulativeAlpha', 'b', 'c']);
  const { looks, spend } = readPlan(given.looks, given.cumulativeAlpha);
  const [b, c] = [count(given.b, 'b'), count(given.c, 'c')];
  const index = looks.indexOf(b + c);
  if (index < 0) return { decision: 'not-a-look' };
  const upper = boundaryOf(looks, spend).upper[index] ?? null;
  if (upper !== null && Math.max(b, c) >= upper) return { decision: 'stop-reject' };
  return { decision: index === looks.length - 1 ? 'stop-no-reject' : 'continue' };
}
