/**
 * Paired comparisons over tasks: every registered test, and every other arm beside the control as exploratory.
 * Promises: a pair counts only where both arms have an admitted outcome in the same epoch; a task stands under one
 * comparability key in a comparison, or the comparison is refused (E_GATE).
 */
import { fail } from '../../store/format/errors.ts';
import type { Full } from '../contracts/kit.ts';
import type { Study } from '../contracts/study.ts';
import type { Summary } from '../contracts/summary.ts';
import { mcnemarTest } from '../statistics/mcnemar.ts';
import { clopperPearson } from '../statistics/rate.ts';
import { add, print, type Rational, rational, ZERO } from '../statistics/rational.ts';
import type { Task } from './tasks.ts';

type Comparison = Full<Summary>['comparisons'][number];

interface Asked {
  readonly id: string;
  readonly treatment: string;
  readonly control: string;
  readonly families: readonly string[];
  readonly standing: Comparison['standing'];
  readonly sides: 'two-sided' | 'greater' | 'less';
}

/** The arm that every other one stands beside. */
const CONTROL = 'none';
const LEVEL = '0.95';

export function comparisons(tasks: readonly Task[], study: Study): Comparison[] {
  return asked(tasks, study).flatMap((each) => {
    const own = tasks.filter(({ taskFamily, arms }) => inFamily(each, taskFamily) && has(arms, each));
    return own.length === 0 ? [] : [compare(each, own)];
  });
}

const inFamily = ({ families }: Asked, family: string): boolean =>
  families.length === 0 || families.includes(family);
const has = (arms: Task['arms'], { treatment, control }: Asked): boolean =>
  Object.hasOwn(arms, treatment) && Object.hasOwn(arms, control);

function asked(tasks: readonly Task[], study: Study): Asked[] {
  const registered = study.tests
    .filter(({ measure }) => measure === 'reward')
    .map(({ id, treatment, control, families, sides }) => {
      return { id, treatment, control, families, sides, standing: 'registered' as const };
    });
  const families = [...new Set(tasks.map(({ taskFamily }) => taskFamily))].sort();
  const arms = [...new Set(tasks.flatMap((task) => Object.keys(task.arms)))].sort();
  const exploratory = families.flatMap((family) =>
    arms
      .filter((arm) => arm !== CONTROL && !registered.some((each) => covers(each, arm, family)))
      .map((arm) => ({
        id: `${family}: ${arm} beside ${CONTROL}`,
        treatment: arm,
        control: CONTROL,
        families: [family],
        sides: 'two-sided' as const,
        standing: 'exploratory' as const,
      })),
  );
  return [...registered, ...exploratory];
}

const covers = (test: Asked, arm: string, family: string): boolean =>
  test.treatment === arm && test.control === CONTROL && inFamily(test, family);

interface Pair {
  readonly treatment: 0 | 1;
  readonly control: 0 | 1;
}

function compare(test: Asked, tasks: readonly Task[]): Comparison {
  refuseMixedKeys(test, tasks);
  const byTask = tasks.map((task) => pairsOf(task, test));
  const pairs = byTask.flat();
  const table = {
    both: count(pairs, 1, 1),
    treatmentOnly: count(pairs, 1, 0),
    controlOnly: count(pairs, 0, 1),
    neither: count(pairs, 0, 0),
  };
  const { p, pExact, pMid, pMidExact } = mcnemarTest(table.treatmentOnly, table.controlOnly, test.sides);
  return {
    id: test.id,
    treatment: test.treatment,
    control: test.control,
    standing: test.standing,
    tasks: tasks.length,
    informativeTasks: byTask.filter((own) => own.some(({ treatment, control }) => treatment !== control))
      .length,
    pairs: pairs.length,
    table,
    treatmentRate: rate(table.both + table.treatmentOnly, pairs.length),
    controlRate: rate(table.both + table.controlOnly, pairs.length),
    difference: print(meanOverTasks(byTask)),
    mcnemar: { p: pExact ?? p, midP: pMidExact ?? pMid },
  };
}

function refuseMixedKeys({ id }: Asked, tasks: readonly Task[]): void {
  const seen = new Set<string>();
  for (const { challenge } of tasks) {
    if (seen.has(challenge))
      fail('E_GATE', { where: id, wanted: `one comparability key for ${challenge}`, found: 'two' });
    seen.add(challenge);
  }
}

function pairsOf({ arms }: Task, { treatment, control }: Asked): Pair[] {
  const treated = arms[treatment]?.outcomes ?? [];
  return treated.flatMap((outcome, i) => {
    const other = arms[control]?.outcomes[i] ?? null;
    return outcome === null || other === null ? [] : [{ treatment: outcome, control: other }];
  });
}

const count = (pairs: readonly Pair[], treatment: 0 | 1, control: 0 | 1): number =>
  pairs.filter((pair) => pair.treatment === treatment && pair.control === control).length;

function rate(solved: number, runs: number): Comparison['treatmentRate'] {
  const { lo, hi } = clopperPearson({ k: solved, n: runs, level: LEVEL });
  return { solved, runs, interval: { level: LEVEL, lo, hi, method: 'Clopper-Pearson' } };
}

/** Equal weight per task with at least one pair. */
function meanOverTasks(byTask: readonly (readonly Pair[])[]): Rational {
  const means = byTask
    .filter((pairs) => pairs.length > 0)
    .map((pairs) =>
      pairs.reduce((sum, pair) => add(sum, rational(BigInt(pair.treatment - pair.control))), ZERO),
    )
    .map((sum, i) =>
      rational(sum.num, sum.den * BigInt(byTask.filter((pairs) => pairs.length > 0)[i]?.length ?? 1)),
    );
  if (means.length === 0) return ZERO;
  const total = means.reduce((sum, mean) => add(sum, mean), ZERO);
  return rational(total.num, total.den * BigInt(means.length));
}
