/** Counts by arm: planned, started, each status, admitted, excluded by reason, void, withdrawn, and not decided. */
import type { Cid } from '../../store/format/cid.ts';
import type { Full } from '../contracts/kit.ts';
import type { Plan } from '../contracts/plan.ts';
import type { Receipt } from '../contracts/receipt.ts';
import type { Start } from '../contracts/start.ts';
import type { Summary } from '../contracts/summary.ts';
import { full, type Input } from '../rule.ts';
import { resourcesOf } from './resources.ts';
import type { SummedRun } from './runs.ts';

type Counts = Full<Summary>['counts'];
type ArmCounts = Counts['arms'][string];

interface CountInputs {
  readonly plans: readonly Input<Plan>[];
  readonly starts: readonly Input<Start>[];
  readonly receipts: readonly Input<Receipt>[];
}

/** `planned` counts arms of standing plans; `started` counts starts of all attempts, also of withdrawn plans. */
export function countArms(runs: readonly SummedRun[], inputs: CountInputs): Counts {
  const { plans, starts, receipts } = inputs;
  const planned = plans.flatMap((plan) => Object.keys(full(plan).arms));
  const names = [...new Set([...planned, ...starts.map(({ value }) => value.arm)])].sort();
  return {
    planned: planned.length,
    started: starts.length,
    micros: receipts.reduce((sum, { value }) => sum + value.spend.micros, 0),
    arms: Object.fromEntries(names.map((name) => [name, armCounts(name, planned, runs, inputs)])),
  };
}

function armCounts(
  name: string,
  planned: readonly string[],
  runs: readonly SummedRun[],
  { plans, starts, receipts }: CountInputs,
): ArmCounts {
  const own = runs.filter(({ start }) => start.value.arm === name);
  const begun = starts.filter(({ value }) => value.arm === name);
  const standing = new Set<Cid>(plans.map(({ cid }) => cid));
  const closed = new Set<Cid>(receipts.map(({ value }) => value.start['/']));
  const counted = own.filter((run) => run.standing === 'counted');
  const standingAs = (wanted: SummedRun['standing']) => own.filter((run) => run.standing === wanted).length;
  return {
    planned: planned.filter((each) => each === name).length,
    started: begun.length,
    statuses: tally(own.map(({ receipt }) => receipt.value.status)),
    admitted: standingAs('counted') + standingAs('no-outcome'),
    excluded: tally(
      own.flatMap(({ standing: each, reason }) => (each === 'excluded' && reason ? [reason] : [])),
    ),
    excludedByOverride: own.filter((each) => each.standing === 'excluded' && each.override !== undefined)
      .length,
    undecided: standingAs('undecided'),
    open: begun.filter(({ cid }) => !closed.has(cid)).length,
    voided: standingAs('void-attempt'),
    withdrawn: begun.filter(({ value }) => !standing.has(value.plan['/'])).length,
    counted: counted.length,
    delivered: counted.filter(({ grade }) => grade?.value.delivered === true).length,
    used: counted.filter(({ grade }) => grade?.value.used === true).length,
    resources: resourcesOf(counted),
  };
}

/** name -> how often, in the order of names. */
export function tally<K extends string>(all: readonly K[]): Partial<Record<K, number>> {
  const counts: Partial<Record<K, number>> = {};
  for (const each of [...all].sort()) counts[each] = (counts[each] ?? 0) + 1;
  return counts;
}
