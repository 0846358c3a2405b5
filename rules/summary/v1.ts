/**
 * `summary`: what the admitted runs of a close come to: counts by arm and reason, outcomes by task and epoch, exact
 * tests and intervals for every registered comparison, and the rest as exploratory.
 * Promises: the same members in any order give the same bytes; no status without an outcome is read as 0; a run that
 * does not count changes no number of those that do.
 * Reference: statistics, sections 1 to 3 and 9.
 */
import { type Cid, link } from '../../store/format/cid.ts';
import { parseEntries } from '../close/entries.ts';
import { membersOf } from '../close/members.ts';
import type { Full } from '../contracts/kit.ts';
import type { Summary } from '../contracts/summary.ts';
import { designOf } from '../power/design.ts';
import { alphaOf, levelOf } from '../power/sides.ts';
import { defineRule, type Inputs, many, one } from '../rule.ts';
import { viewAs } from '../runs.ts';
import { type Question, questions } from './asked.ts';
import { compareArms } from './compare.ts';
import { type Concluded, conclude } from './conclude.ts';
import { countArms } from './counts.ts';
import { decisionsOf } from './decisions.ts';
import { measureArms } from './measure.ts';
import { openIntervals } from './numbers.ts';
import { cellsOf, indexRuns } from './pairs.ts';
import { listRuns, type SummedRun, summedRuns } from './runs.ts';
import { type PlannedTask, plannedTasks, tasksOf } from './tasks.ts';
import { trendsOf } from './trend.ts';

const NEEDS = {
  close: one('close'),
  study: one('study'),
  plans: many('plan'),
  starts: many('start'),
  receipts: many('receipt'),
  grades: many('grade'),
  parities: many('parity'),
  eligibilities: many('eligibility'),
  admissions: many('admission'),
  overrides: many('override'),
  challenges: many('challenge'),
  conditions: many('condition'),
  agents: many('agent'),
  corpora: many('corpus'),
  sources: many('source'),
} as const;
type SummaryInputs = Inputs<typeof NEEDS>;

export const summaryV1 = defineRule({
  name: 'summary',
  v: 1,
  scope: 'close',
  gives: 'summary',
  needs: NEEDS,
  on: ['close'],
  async bind(subject, view) {
    if (subject.value.kind !== 'close') return [];
    const members = await membersOf(subject.value, view);
    const plans = members.standing.plans;
    const corpora = [...new Set(plans.map(({ value }) => value.shared.corpus['/']))];
    const sources = new Set<(typeof corpora)[number]>();
    for (const cid of corpora) {
      const corpus = await viewAs('corpus', cid, view);
      if ('source' in corpus) sources.add(corpus.source['/']);
    }
    const distinct = <T>(all: readonly T[]) => [...new Set(all)];
    return [
      {
        inputs: {
          close: subject.cid,
          study: members.standing.study.cid,
          plans: plans.map(({ cid }) => cid),
          starts: members.starts,
          receipts: members.receipts,
          grades: members.grades,
          parities: members.parities,
          eligibilities: members.eligibilities,
          admissions: members.admissions,
          overrides: members.overrides,
          challenges: distinct(plans.map(({ value }) => value.shared.challenge['/'])),
          conditions: distinct(
            plans.flatMap(({ value }) => Object.values(value.arms).map((each) => each['/'])),
          ),
          agents: distinct(plans.map(({ value }) => value.shared.agent['/'])),
          corpora,
          sources: [...sources],
        },
      },
    ];
  },
  async apply(inputs, { reader }) {
    const leaves = parseEntries(await reader.get(inputs.close.value.entries['/'])).slice(
      0,
      inputs.close.value.size,
    );
    const places = new Map<Cid, number>(leaves.map(({ cid }, i) => [cid, i]));
    const study = inputs.study.value;
    const tasks = plannedTasks(inputs);
    const keyOf = new Map(
      tasks.flatMap((task) =>
        task.plans.map(({ cid }) => [cid, { challenge: task.challenge, key: task.key }]),
      ),
    );
    const runs = summedRuns(inputs, places, true);
    const intervals = openIntervals(levelOf(alphaOf(study.alpha)));
    const controls = controlsOf(inputs);
    const question = questions(study, tasks, controls);
    const answer = (of: readonly SummedRun[]) => answers(question, of, inputs, intervals);
    const { comparisons, measures, multiplicity } = answer(runs);
    const without =
      inputs.overrides.length === 0 ? [] : answer(summedRuns(inputs, places, false)).comparisons;
    const body: Omit<Full<Summary>, 'kind' | 'v' | 'derivation'> = {
      close: link(inputs.close.cid),
      study: link(inputs.study.cid),
      scripted: inputs.agents.every(({ value }) => value.modelKind === 'scripted'),
      controls,
      counts: countArms(runs, inputs),
      tasks: tasksOf(tasks, runs),
      comparisons: [...comparisons],
      withoutOverrides: [...without],
      measures: [...measures],
      unmixed: [...question.unmixed],
      multiplicity,
      design: designOf(study, tasks.map(designTask)),
      decisions: await decisionsOf(leaves, reader),
      trends: trendsOf(tasks, runs, intervals),
      runs: listRuns(runs, keyOf),
    };
    return body;
  },
});

/** The arms whose condition holds no memory: what every other arm stands beside. */
function controlsOf({ conditions }: SummaryInputs): string[] {
  const none = conditions.filter(({ value }) => value.source.type === 'none');
  return [...new Set(none.map(({ value }) => value.name))].sort();
}

const designTask = ({ challenge, taskFamily, arms, labels }: PlannedTask) => ({
  challenge,
  taskFamily,
  arms,
  ...labels,
});

function answers(
  { asked }: Question,
  runs: readonly SummedRun[],
  { study, starts }: SummaryInputs,
  intervals: ReturnType<typeof openIntervals>,
): Concluded {
  const index = indexRuns(runs, starts);
  const reward = asked.filter(({ test }) => test.measure === 'reward');
  const other = asked.filter(({ test }) => test.measure !== 'reward');
  return conclude(
    study.value,
    reward.map((each) => compareArms(each, cellsOf(each, index), study.value, intervals)),
    other.map((each) => measureArms(each, cellsOf(each, index), intervals.level)),
  );
}
