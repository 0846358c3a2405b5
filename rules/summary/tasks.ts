/** One row per challenge and comparability key: what each arm's counted runs came to, epoch by epoch. */
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { comparabilityKey, type KeyFields, keyFields } from '../compare/key.ts';
import type { Agent } from '../contracts/agent.ts';
import type { Challenge } from '../contracts/challenge.ts';
import type { Corpus } from '../contracts/corpus.ts';
import type { Full } from '../contracts/kit.ts';
import type { Plan } from '../contracts/plan.ts';
import type { Source } from '../contracts/source.ts';
import type { Summary } from '../contracts/summary.ts';
import { clusterLabels, type Labels } from '../power/clusters.ts';
import { full, type Input } from '../rule.ts';
import type { SummedRun } from './runs.ts';

export type Task = Full<Summary>['tasks'][number];

export interface TaskInputs {
  readonly plans: readonly Input<Plan>[];
  readonly challenges: readonly Input<Challenge>[];
  readonly agents: readonly Input<Agent>[];
  readonly corpora: readonly Input<Corpus>[];
  readonly sources: readonly Input<Source>[];
}

/** A planned task under one key: which epochs each arm is planned for, and what it hangs on. */
export interface PlannedTask {
  readonly key: string;
  readonly fields: KeyFields;
  readonly challenge: string;
  readonly taskFamily: string;
  readonly labels: Labels;
  readonly plans: readonly Input<Full<Plan>>[];
  /** Arms of its plans, sorted. */
  readonly arms: readonly string[];
}

interface Keyed {
  readonly key: string;
  readonly fields: KeyFields;
  readonly challenge: Challenge;
  readonly source: Source;
  readonly plan: Input<Full<Plan>>;
}

/** Planned tasks in the order of challenge id and key. */
export function plannedTasks(inputs: TaskInputs): PlannedTask[] {
  const keyed = inputs.plans.map((plan) => keyOf({ cid: plan.cid, value: full(plan) }, inputs));
  const labels = clusterLabels(
    keyed.map(({ challenge, source }) => ({
      challenge: challenge.id,
      lessons: challenge.lessons,
      repository: source.repository,
    })),
  );
  const first = [...new Map(keyed.map((each) => [each.key, each])).values()];
  first.sort((a, b) => order(a.challenge.id, b.challenge.id) || order(a.key, b.key));
  return first.map(({ key, fields, challenge }) => {
    const plans = keyed.filter((each) => each.key === key).map(({ plan }) => plan);
    return {
      key,
      fields,
      challenge: challenge.id,
      taskFamily: challenge.taskFamily,
      labels: labels.get(challenge.id) as Labels,
      plans: [...plans].sort((a, b) => a.value.shared.epoch - b.value.shared.epoch || order(a.cid, b.cid)),
      arms: [...new Set(plans.flatMap(({ value }) => Object.keys(value.arms)))].sort(),
    };
  });
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function keyOf(plan: Input<Full<Plan>>, inputs: TaskInputs): Keyed {
  const { shared } = plan.value;
  const challenge = byCid(inputs.challenges, shared.challenge['/']);
  const agent = { cid: shared.agent['/'], value: byCid(inputs.agents, shared.agent['/']) };
  const corpus = full({ cid: shared.corpus['/'], value: byCid(inputs.corpora, shared.corpus['/']) });
  const source = byCid(inputs.sources, corpus.source['/']);
  const fields = keyFields(plan.value, challenge, agent, source.commit);
  return { key: comparabilityKey(fields), fields, challenge, source, plan };
}

function byCid<T>(all: readonly Input<T>[], cid: Cid): T {
  const found = all.find((each) => each.cid === cid);
  return (
    found?.value ?? fail('E_RULE_INPUT', { where: cid, wanted: 'an input of the summary', found: 'none' })
  );
}

/** The rows of the record. */
export function tasksOf(planned: readonly PlannedTask[], runs: readonly SummedRun[]): Task[] {
  return planned.map(({ key, fields, challenge, taskFamily, labels, plans, arms }) => {
    const own = runs.filter(
      (run) => run.standing === 'counted' && plans.some(({ cid }) => cid === run.plan.cid),
    );
    const epochs = Math.max(...plans.map(({ value }) => value.shared.epoch));
    return {
      challenge,
      taskFamily,
      key,
      fields,
      ...labels,
      arms: Object.fromEntries(
        arms.map((arm) => [
          arm,
          armOf(
            own.filter((run) => run.start.value.arm === arm),
            epochs,
          ),
        ]),
      ),
    };
  });
}

function armOf(runs: readonly SummedRun[], epochs: number): Task['arms'][string] {
  const count = (keep: (run: SummedRun) => boolean) => runs.filter(keep).length;
  return {
    runs: runs.length,
    delivered: count(({ grade }) => grade?.value.delivered === true),
    used: count(({ grade }) => grade?.value.used === true),
    solved: count(({ grade }) => grade?.value.reward === 1),
    outcomes: Array.from({ length: epochs }, (_, i) => {
      const run = runs.find(({ plan }) => plan.value.shared.epoch === i + 1);
      return run?.grade?.value.reward ?? null;
    }),
  };
}
