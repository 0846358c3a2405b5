/** Counts by arm: planned, started, each status, admitted, excluded by reason, and not decided. */
import type { Full } from '../contracts/kit.ts';
import type { Plan } from '../contracts/plan.ts';
import type { Start } from '../contracts/start.ts';
import type { Summary } from '../contracts/summary.ts';
import { full, type Input } from '../rule.ts';
import type { SummedRun } from './runs.ts';

type Counts = Full<Summary>['counts'];
type ArmCounts = Counts['arms'][string];

/** `planned` counts arms of standing plans; `started` counts starts of all attempts. */
export function countArms(
  runs: readonly SummedRun[],
  { plans, starts }: { readonly plans: readonly Input<Plan>[]; readonly starts: readonly Input<Start>[] },
): Counts {
  const planned = plans.flatMap((plan) => Object.keys(full(plan).arms));
  const names = [...new Set([...planned, ...starts.map(({ value }) => value.arm)])].sort();
  const arms = Object.fromEntries(
    names.map((name) => [
      name,
      armCounts(
        planned.filter((each) => each === name).length,
        starts.filter(({ value }) => value.arm === name).length,
        runs.filter(({ start }) => start.arm === name),
      ),
    ]),
  );
  return { planned: planned.length, started: starts.length, arms };
}

function armCounts(planned: number, started: number, runs: readonly SummedRun[]): ArmCounts {
  const decided = (decision: 'admitted' | 'excluded') =>
    runs.filter((run) => run.decision?.decision === decision);
  return {
    planned,
    started,
    statuses: tally(runs.map(({ receipt }) => receipt.value.status)),
    admitted: decided('admitted').length,
    excluded: tally(decided('excluded').flatMap(({ decision }) => decision?.reason ?? [])),
    undecided: runs.filter(({ decision }) => decision === undefined).length,
  };
}

function tally<K extends string>(all: readonly K[]): Partial<Record<K, number>> {
  const counts: Partial<Record<K, number>> = {};
  for (const each of [...all].sort()) counts[each] = (counts[each] ?? 0) + 1;
  return counts;
}
