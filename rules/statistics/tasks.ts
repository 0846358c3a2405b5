/**
 * From paired outcomes to units: tables by task, the difference with equal weight per task, what carries information.
 * Promises: the result does not depend on the order of the pairs; tasks come in code unit order; swapping the arms mirrors
 * every number; all fractions exact.
 * Does not promise: that tasks are independent; a cluster field joins those that are not.
 */
import { refuse } from './input.ts';
import { add, type Rational, rational, subtract, ZERO } from './rational.ts';
import { mean, sumOf } from './sign-flip.ts';

/** One pair: the same task and epoch under both arms. 1 pass, 0 fail. */
export interface PairedOutcome {
  readonly task: string;
  readonly epoch: number;
  readonly treatment: 0 | 1;
  readonly control: 0 | 1;
  /** What is independent of the rest; the task where not given. One task has one cluster. */
  readonly cluster?: string;
  /** The arm that ran first, where recorded. */
  readonly first?: 'treatment' | 'control';
}

/** a both pass, b treatment only, c control only, d neither. */
export interface PairTable {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly n: number;
}

export interface TaskUnit {
  readonly task: string;
  readonly cluster: string;
  readonly table: PairTable;
  /** (b - c)/n of this task. */
  readonly difference: Rational;
}

export interface ClusterUnit {
  readonly cluster: string;
  readonly tasks: readonly string[];
  /** Sum of its tasks' differences: flipping the cluster flips all of it. */
  readonly difference: Rational;
}

export interface Discordant {
  readonly task: string;
  readonly epoch: number;
  readonly winner: 'treatment' | 'control';
}

export interface Aggregate {
  readonly tasks: readonly TaskUnit[];
  readonly clusters: readonly ClusterUnit[];
  readonly table: PairTable;
  /** Mean of the tasks' differences; null without pairs. */
  readonly perTask: Rational | null;
  /** (b - c)/n over all pairs; differs from perTask where tasks have unequal numbers of epochs. */
  readonly perPair: Rational | null;
  /** Clusters with a difference other than 0: the k of the smallest possible p, 2^(1-k). */
  readonly informative: number;
  readonly discordant: readonly Discordant[];
  /** Discordant pairs by which arm ran first: a sign test of these is a check for order effects. */
  readonly order: { readonly firstWon: number; readonly secondWon: number };
}

/** Units and tables of one comparison. Throws E_STATS_INPUT for a pair that is there twice or a task in two clusters. */
export function aggregate(pairs: readonly PairedOutcome[]): Aggregate {
  const sorted = [...pairs].sort((x, y) => byText(x.task, y.task) || x.epoch - y.epoch);
  for (const [index, pair] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before?.task === pair.task && before.epoch === pair.epoch)
      refuse('pairs', 'each task and epoch once', `${pair.task} epoch ${pair.epoch}`);
  }
  const tasks = taskUnits(sorted);
  const clusters = clusterUnits(tasks);
  const table = tableOf(sorted);
  return {
    tasks,
    clusters,
    table,
    perTask: tasks.length === 0 ? null : mean(tasks.map((unit) => unit.difference)),
    perPair: table.n === 0 ? null : differenceOf(table),
    informative: clusters.filter((unit) => unit.difference.num !== 0n).length,
    discordant: sorted.flatMap(discordantPair),
    order: orderOf(sorted),
  };
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function grouped<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}

function taskUnits(sorted: readonly PairedOutcome[]): readonly TaskUnit[] {
  return [...grouped(sorted, (pair) => pair.task)].map(([task, own]) => {
    const cluster = own[0]!.cluster ?? task;
    const other = own.find((pair) => (pair.cluster ?? task) !== cluster);
    if (other !== undefined) refuse('cluster', `one cluster for task ${task}`, other.cluster);
    const table = tableOf(own);
    return { task, cluster, table, difference: differenceOf(table) };
  });
}

function clusterUnits(tasks: readonly TaskUnit[]): readonly ClusterUnit[] {
  const groups = [...grouped(tasks, (unit) => unit.cluster)].sort(([x], [y]) => byText(x, y));
  return groups.map(([cluster, own]) => ({
    cluster,
    tasks: own.map((unit) => unit.task),
    difference: sumOf(own.map((unit) => unit.difference)),
  }));
}

function tableOf(pairs: readonly PairedOutcome[]): PairTable {
  const of = (treatment: 0 | 1, control: 0 | 1): number =>
    pairs.filter((pair) => pair.treatment === treatment && pair.control === control).length;
  return { a: of(1, 1), b: of(1, 0), c: of(0, 1), d: of(0, 0), n: pairs.length };
}

function differenceOf({ b, c, n }: PairTable): Rational {
  return rational(BigInt(b - c), BigInt(n));
}

function discordantPair({ task, epoch, treatment, control }: PairedOutcome): readonly Discordant[] {
  if (treatment === control) return [];
  return [{ task, epoch, winner: treatment === 1 ? 'treatment' : 'control' }];
}

function orderOf(pairs: readonly PairedOutcome[]): { readonly firstWon: number; readonly secondWon: number } {
  const known = pairs.filter((pair) => pair.first !== undefined && pair.treatment !== pair.control);
  const firstWon = known.filter((pair) => (pair.treatment === 1) === (pair.first === 'treatment')).length;
  return { firstWon, secondWon: known.length - firstWon };
}

/** A pair of which an outcome may be missing (not admitted, void, no result). */
export interface PartialOutcome {
  readonly task: string;
  readonly treatment: 0 | 1 | null;
  readonly control: 0 | 1 | null;
}

/**
 * The per-task difference if every missing run had gone against the treatment, and if every one had gone for it: two
 * exact evaluations. Null without pairs.
 */
export function missingRange(
  pairs: readonly PartialOutcome[],
): { readonly lo: Rational; readonly hi: Rational } | null {
  if (pairs.length === 0) return null;
  const groups = [...grouped(pairs, (pair) => pair.task).values()];
  const filled = (missing: 0 | 1): Rational => {
    const means = groups.map((own) =>
      mean(own.map((pair) => gap(pair.treatment ?? missing, pair.control ?? 1 - missing))),
    );
    return mean(means);
  };
  return { lo: filled(0), hi: filled(1) };
}

function gap(treatment: number, control: number): Rational {
  return subtract(rational(BigInt(treatment)), rational(BigInt(control)));
}

/** Passes of either arm, for rates and cost per solved task. */
export function passes({ a, b, c }: PairTable): { readonly treatment: number; readonly control: number } {
  return { treatment: a + b, control: a + c };
}

/** Sum of per-task differences: the statistic of the sign-flip test, T times the per-task difference. */
export function flipStatistic(clusters: readonly ClusterUnit[]): Rational {
  return clusters.reduce((sum, unit) => add(sum, unit.difference), ZERO);
}
