/**
 * `summary`: what the admitted runs of a close come to: counts by arm and status, outcomes by task and epoch, the
 * discordant table, exact rates (Clopper-Pearson 1934) and exact McNemar for every registered comparison.
 * Promises: the same members in any order give the same bytes; no status without an outcome is read as 0.
 */
import { link } from '../../store/format/cid.ts';
import { membersOf } from '../close/members.ts';
import { defineRule, many, one } from '../rule.ts';
import { viewAs } from '../runs.ts';
import { comparisons } from './compare.ts';
import { countArms } from './counts.ts';
import { summedRuns } from './runs.ts';
import { tasksOf } from './tasks.ts';

export const summaryV1 = defineRule({
  name: 'summary',
  v: 1,
  scope: 'close',
  gives: 'summary',
  needs: {
    close: one('close'),
    study: one('study'),
    plans: many('plan'),
    starts: many('start'),
    receipts: many('receipt'),
    grades: many('grade'),
    parities: many('parity'),
    eligibilities: many('eligibility'),
    admissions: many('admission'),
    challenges: many('challenge'),
    conditions: many('condition'),
    agents: many('agent'),
    corpora: many('corpus'),
    sources: many('source'),
  },
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
  async apply(inputs) {
    const runs = summedRuns(inputs);
    const tasks = tasksOf(runs, inputs);
    return {
      close: link(inputs.close.cid),
      study: link(inputs.study.cid),
      scripted: inputs.agents.every(({ value }) => value.modelKind === 'scripted'),
      counts: countArms(runs, inputs),
      tasks,
      comparisons: comparisons(tasks, inputs.study.value),
    };
  },
});
