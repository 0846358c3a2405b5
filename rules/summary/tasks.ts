/** One row per challenge and comparability key: what each arm's admitted runs came to, epoch by epoch. */
import type { Cid } from '../../store/format/cid.ts';
import { link } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { comparabilityKey, keyFields } from '../compare/key.ts';
import type { Agent } from '../contracts/agent.ts';
import type { Challenge } from '../contracts/challenge.ts';
import type { Corpus } from '../contracts/corpus.ts';
import type { Full } from '../contracts/kit.ts';
import type { Plan } from '../contracts/plan.ts';
import type { Source } from '../contracts/source.ts';
import type { Summary } from '../contracts/summary.ts';
import { full, type Input } from '../rule.ts';
import { counted, type SummedRun } from './runs.ts';

export type Task = Full<Summary>['tasks'][number];

export interface TaskInputs {
  readonly plans: readonly Input<Plan>[];
  readonly challenges: readonly Input<Challenge>[];
  readonly agents: readonly Input<Agent>[];
  readonly corpora: readonly Input<Corpus>[];
  readonly sources: readonly Input<Source>[];
}

interface Keyed {
  readonly key: string;
  readonly challenge: Challenge;
  readonly plan: Input<Full<Plan>>;
}

/** Tasks in the order of challenge id and key. */
export function tasksOf(runs: readonly SummedRun[], inputs: TaskInputs): Task[] {
  const keyed = inputs.plans.map((plan) => keyOf({ cid: plan.cid, value: full(plan) }, inputs));
  const keys = [...new Map(keyed.map((each) => [each.key, each])).values()];
  keys.sort((a, b) => order(a.challenge.id, b.challenge.id) || order(a.key, b.key));
  return keys.map(({ key, challenge }) =>
    taskOf(
      key,
      challenge,
      keyed.filter((each) => each.key === key),
      runs,
    ),
  );
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function keyOf(plan: Input<Full<Plan>>, inputs: TaskInputs): Keyed {
  const { shared } = plan.value;
  const challenge = byCid(inputs.challenges, shared.challenge['/']);
  const agent = { cid: shared.agent['/'], value: byCid(inputs.agents, shared.agent['/']) };
  const corpus = full({ cid: shared.corpus['/'], value: byCid(inputs.corpora, shared.corpus['/']) });
  const source = byCid(inputs.sources, corpus.source['/']);
  return { key: comparabilityKey(keyFields(plan.value, challenge, agent, source.commit)), challenge, plan };
}

function byCid<T>(all: readonly Input<T>[], cid: Cid): T {
  const found = all.find((each) => each.cid === cid);
  return (
    found?.value ?? fail('E_RULE_INPUT', { where: cid, wanted: 'an input of the summary', found: 'none' })
  );
}

function taskOf(
  key: string,
  challenge: Challenge,
  plans: readonly Keyed[],
  runs: readonly SummedRun[],
): Task {
  const own = runs.filter((run) => plans.some(({ plan }) => plan.cid === run.plan.cid));
  const epochs = Math.max(...plans.map(({ plan }) => plan.value.shared.epoch));
  const names = [...new Set(plans.flatMap(({ plan }) => Object.keys(plan.value.arms)))].sort();
  const arms = Object.fromEntries(
    names.map((name) => [
      name,
      armOf(
        own.filter((run) => run.start.arm === name && counted(run)),
        epochs,
      ),
    ]),
  );
  return { challenge: challenge.id, taskFamily: challenge.taskFamily, key, arms };
}

function armOf(runs: readonly SummedRun[], epochs: number): Task['arms'][string] {
  const grades = runs.flatMap(({ grade }) => (grade === undefined ? [] : [grade]));
  const outcomes = Array.from({ length: epochs }, (_, i) => {
    const grade = grades.find(({ value }) => value.epoch === i + 1);
    return grade?.value.reward ?? null;
  });
  return {
    runs: grades.length,
    delivered: grades.filter(({ value }) => value.delivered).length,
    used: grades.filter(({ value }) => value.used).length,
    solved: grades.filter(({ value }) => value.reward === 1).length,
    outcomes,
    grades: grades
      .map(({ cid }) => cid)
      .sort()
      .map((cid) => link(cid)),
  };
}
