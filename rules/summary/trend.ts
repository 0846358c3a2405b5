/**
 * Rates by build under test. The build is no part of the comparability key: it labels the point. Two points are joined
 * only where every task of both stands under the same keys; else the fields that differ are named.
 */
import { keyDifferences } from '../compare/key.ts';
import type { Trend } from '../contracts/summary.ts';
import type { Intervals } from './numbers.ts';
import type { SummedRun } from './runs.ts';
import type { PlannedTask } from './tasks.ts';

/** Arms in the order of their names. A run whose receipt names no build is in no trend. */
export function trendsOf(
  tasks: readonly PlannedTask[],
  runs: readonly SummedRun[],
  intervals: Intervals,
): Trend[] {
  const counted = runs.filter((run) => run.standing === 'counted' && buildOf(run) !== '');
  const arms = [...new Set(counted.map(({ start }) => start.value.arm))].sort();
  return arms.map((arm) => ({
    arm,
    points: pointsOf(
      tasks,
      counted.filter(({ start }) => start.value.arm === arm),
      intervals,
    ),
  }));
}

/** `name version` of every build of a run, sorted by name; empty where none is recorded. */
const buildOf = ({ receipt }: SummedRun): string =>
  Object.entries(receipt.value.builds)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, { version, digest }]) =>
        `${name} ${version}${digest === undefined ? '' : ` (${digest.slice(7, 19)})`}`,
    )
    .join(', ');

function pointsOf(
  tasks: readonly PlannedTask[],
  runs: readonly SummedRun[],
  intervals: Intervals,
): Trend['points'] {
  // Runs come in the order of their starts, so builds come in the order in which they were first used.
  const builds = [...new Set(runs.map(buildOf))];
  const used = builds.map((build) => {
    const own = runs.filter((run) => buildOf(run) === build);
    return {
      build,
      own,
      tasks: tasks.filter(({ plans }) => own.some((run) => plans.some((plan) => plan.cid === run.plan.cid))),
    };
  });
  return used.map(({ build, own, tasks: here }, i) => ({
    build,
    keys: [...new Set(here.map(({ key }) => key))].sort(),
    rate: intervals.rate(own.filter(({ grade }) => grade?.value.reward === 1).length, own.length),
    differs: i === 0 ? [] : differing(used[i - 1]?.tasks ?? [], here),
  }));
}

/** Fields that differ between the tasks of two points; `challenge` where one has a task that the other has not. */
export function differing(before: readonly PlannedTask[], after: readonly PlannedTask[]): string[] {
  const fields = new Set<string>();
  for (const task of [...before, ...after]) {
    const others = (before.includes(task) ? after : before).filter(
      ({ challenge }) => challenge === task.challenge,
    );
    if (others.some(({ key }) => key === task.key)) continue;
    if (others.length === 0) fields.add('challenge');
    for (const other of others)
      for (const name of keyDifferences(task.fields, other.fields)) fields.add(name);
  }
  return [...fields].sort();
}
