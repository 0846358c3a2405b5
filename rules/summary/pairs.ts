/** From runs to pairs: both arms of one plan, counted; what is missing, and why. */
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Start } from '../contracts/start.ts';
import { clusterOf } from '../power/design.ts';
import type { Input } from '../rule.ts';
import type { PairedOutcome, PartialOutcome } from '../statistics/tasks.ts';
import type { Asked } from './asked.ts';
import { tally } from './counts.ts';
import type { SummedRun } from './runs.ts';

/** Runs and starts by plan and arm. */
export interface Index {
  /** Runs of an arm of a plan, by leaf; the counted one, where there is one, is unique. */
  runs(plan: Cid, arm: string): readonly SummedRun[];
  started(plan: Cid, arm: string): boolean;
}

/** O(runs). */
export function indexRuns(runs: readonly SummedRun[], starts: readonly Input<Start>[]): Index {
  const at = (plan: Cid, arm: string): string => `${plan} ${arm}`;
  const byPlace = new Map<string, SummedRun[]>();
  for (const run of runs) {
    const place = at(run.plan.cid, run.start.value.arm);
    byPlace.set(place, [...(byPlace.get(place) ?? []), run]);
  }
  const begun = new Set(starts.map(({ value }) => at(value.plan['/'], value.arm)));
  return {
    runs: (plan, arm) => byPlace.get(at(plan, arm)) ?? [],
    started: (plan, arm) => begun.has(at(plan, arm)),
  };
}

/** One planned pair of a comparison. */
export interface Cell {
  readonly task: string;
  readonly cluster: string;
  readonly epoch: number;
  readonly treatment: SummedRun | undefined;
  readonly control: SummedRun | undefined;
  readonly why: { readonly treatment: string | undefined; readonly control: string | undefined };
}

export interface Pair extends Cell {
  readonly treatment: SummedRun;
  readonly control: SummedRun;
}

/** Every planned pair, in the order of task and epoch. */
export function cellsOf({ tasks, treatment, control, test }: Asked, index: Index): Cell[] {
  return tasks.flatMap((task) =>
    task.plans
      .filter(({ value }) => Object.hasOwn(value.arms, treatment) && Object.hasOwn(value.arms, control))
      .map(({ cid, value }) => {
        const at = (arm: string) => index.runs(cid, arm).find(({ standing }) => standing === 'counted');
        return {
          task: task.challenge,
          cluster: clusterOf({ challenge: task.challenge, ...task.labels }, test.cluster),
          epoch: value.shared.epoch,
          treatment: at(treatment),
          control: at(control),
          why: { treatment: whyMissing(cid, treatment, index), control: whyMissing(cid, control, index) },
        };
      }),
  );
}

/** Why an arm of a plan has no counted run: the last word about it. */
function whyMissing(plan: Cid, arm: string, index: Index): string | undefined {
  const runs = index.runs(plan, arm);
  if (runs.some(({ standing }) => standing === 'counted')) return undefined;
  const last = runs.at(-1);
  if (last === undefined) return index.started(plan, arm) ? 'no-receipt' : 'not-started';
  const { standing, reason, receipt } = last;
  if (standing === 'excluded') return `excluded:${reason ?? 'override'}`;
  if (standing === 'no-outcome') return receipt.value.status;
  return standing;
}

export const isPair = (cell: Cell): cell is Pair =>
  cell.treatment !== undefined && cell.control !== undefined;

const reward = (run: SummedRun | undefined): 0 | 1 | null => run?.grade?.value.reward ?? null;

/** A counted run has an outcome: that is what counted means. */
const outcome = (run: SummedRun): 0 | 1 =>
  reward(run) ?? fail('E_INTERNAL', { where: run.receipt.cid, wanted: 'an outcome of a counted run' });

/** The pairs as the statistics read them. */
export function outcomesOf(pairs: readonly Pair[]): PairedOutcome[] {
  return pairs.map(({ task, cluster, epoch, treatment, control }) => ({
    task,
    cluster,
    epoch,
    treatment: outcome(treatment),
    control: outcome(control),
    first: treatment.leaf < control.leaf ? ('treatment' as const) : ('control' as const),
  }));
}

/** Every planned pair, with null where a run is missing. */
export const partialOutcomes = (cells: readonly Cell[]): PartialOutcome[] =>
  cells.map(({ task, treatment, control }) => ({
    task,
    treatment: reward(treatment),
    control: reward(control),
  }));

/** Planned pairs that are none, by arm and reason. */
export function missingOf(cells: readonly Cell[]) {
  const gone = cells.filter((cell) => !isPair(cell));
  return {
    pairs: gone.length,
    treatment: tally(gone.flatMap(({ why }) => why.treatment ?? [])) as Record<string, number>,
    control: tally(gone.flatMap(({ why }) => why.control ?? [])) as Record<string, number>,
  };
}
