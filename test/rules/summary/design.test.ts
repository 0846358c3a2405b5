import t from 'tap';
import { admitDesign, registrationProblems } from '../../../rules/power/check.ts';
import { clusterLabels } from '../../../rules/power/clusters.ts';
import { type DesignStudy, type DesignTask, designOf } from '../../../rules/power/design.ts';
import { plainLevel } from '../../../rules/power/sides.ts';
import { designText } from '../../../rules/report/comparison.ts';
import { TEST } from './kit.ts';

const tasksOf = (n: number): DesignTask[] =>
  Array.from({ length: n }, (_, i) => ({
    challenge: `task-${i}`,
    taskFamily: 'family',
    arms: ['memory', 'none'],
    lesson: `lesson-${i >> 1}`,
    repository: 'one',
  }));

const studyWith = (tests: readonly object[], over: object = {}): DesignStudy =>
  ({
    ...{
      tests,
      holmSize: tests.length,
      alpha: '0.05',
      powerOverride: false,
      epochs: 5,
      stop: { rule: 'fixed' },
    },
    ...over,
  }) as DesignStudy;

t.test('what a design could find is what the reference tables say', async (t) => {
  // Reference: statistics, section 6.
  const one = designOf(studyWith([TEST]), tasksOf(14)).tests[0];
  t.match(one, {
    units: 14,
    unit: 'task',
    floor: '1/8192',
    threshold: '1/20',
    reaches: true,
    detectable: '51/100',
  });
  const four = designOf(studyWith([TEST], { holmSize: 4 }), tasksOf(14)).tests[0];
  t.match(four, { threshold: '1/80', detectable: '13/20' });
  const five = designOf(studyWith([TEST]), tasksOf(5)).tests[0];
  t.match(
    five,
    { floor: '1/16', reaches: false, detectable: null, size: '0' },
    '5 pairs: no effect can reach 0.05',
  );
  const pairs = designOf(studyWith([{ ...TEST, statistic: 'mcnemar' }]), tasksOf(14)).tests[0];
  t.match(pairs, { unit: 'pair', units: 70, detectableHarmed: '6/25' });
  const clustered = designOf(studyWith([{ ...TEST, cluster: 'lesson' }]), tasksOf(14)).tests[0];
  t.match(clustered, { unit: 'lesson', units: 7, floor: '1/64' });
  const oneSided = designOf(studyWith([{ ...TEST, sides: 'greater' }]), tasksOf(5)).tests[0];
  t.match(oneSided, { floor: '1/32', reaches: true });
});

t.test('non-inferiority: four control tasks can never support ten percent', async (t) => {
  const test = { ...TEST, statistic: 'nonInferiority', margin: '0.1', sides: 'greater' };
  const few = designOf(studyWith([test], { epochs: 1 }), tasksOf(4)).tests[0];
  t.match(few, { reaches: false, floor: null, note: /cannot support a margin of 0.1/ });
  t.match(designOf(studyWith([test], { epochs: 1 }), tasksOf(60)).tests[0], { reaches: true });
});

t.test('a design that cannot reach its alpha is refused, unless its author says so', async (t) => {
  t.throws(() => admitDesign(studyWith([TEST]), tasksOf(5)), { code: 'E_DESIGN', message: /p >= 1\/16/ });
  t.equal(admitDesign(studyWith([TEST], { powerOverride: true }), tasksOf(5)).reaches, false);
  t.equal(admitDesign(studyWith([TEST]), tasksOf(6)).reaches, true);
  t.throws(() => admitDesign(studyWith([TEST], { holmSize: 4 }), tasksOf(7)), { code: 'E_DESIGN' });
  t.equal(
    admitDesign(studyWith([TEST], { holmSize: 4 }), tasksOf(8)).reaches,
    true,
    '8 units for Holm over 4',
  );
  t.match(designText(designOf(studyWith([TEST]), tasksOf(14)).tests[0] as never), /51% of tasks won/);
});

t.test('a registration that contradicts itself is told all of it', async (t) => {
  const problems = (tests: readonly object[], over: object = {}) =>
    registrationProblems(studyWith(tests, over), tasksOf(8)).join('\n');
  t.equal(problems([TEST]), '');
  t.match(problems([TEST, TEST]), /two tests are called/);
  t.match(problems([TEST], { holmSize: 0 }), /holmSize 0/);
  t.match(problems([TEST], { alpha: '0.5' }), /alpha 0.5/);
  t.match(problems([{ ...TEST, treatment: 'none' }]), /compared with itself/);
  t.match(problems([{ ...TEST, treatment: 'absent' }]), /no task of its families/);
  t.match(problems([{ ...TEST, families: ['other'] }]), /no task of its families/);
  t.match(problems([{ ...TEST, statistic: 'nonInferiority' }]), /needs a margin/);
  t.match(problems([{ ...TEST, statistic: 'nonInferiority', margin: '0.1', sides: 'less' }]), /looks upward/);
  t.match(problems([{ ...TEST, margin: '0.1' }]), /only a non-inferiority test/);
  t.match(problems([{ ...TEST, statistic: 'mcnemar', measure: 'cost' }]), /is for the reward/);
  t.match(problems([TEST], { stop: { rule: 'curtailment' } }), /its test is mcnemar/);
  const spending = { rule: 'spending', looks: [9, 5], spend: ['0.05'] };
  const found = problems([{ ...TEST, statistic: 'mcnemar', sides: 'greater' }], { stop: spending });
  t.match(found, /two-sided[\s\S]*one value for each look[\s\S]*ascend/);
});

t.test('looks that cannot stop within the planned pairs reach nothing', async (t) => {
  const mcnemar = { ...TEST, statistic: 'mcnemar' };
  const reach = (looks: number[], spend: string[]) =>
    designOf(studyWith([mcnemar], { stop: { rule: 'spending', looks, spend } }), tasksOf(2)).tests[0];
  t.match(reach([6, 10], ['0.04', '0.05']), { reaches: true, floor: '1/32' });
  t.match(reach([40], ['0.05']), { reaches: false, floor: null });
});

t.test('clusters go through shared lessons, in whatever order the tasks come', async (t) => {
  const tasks = [
    { challenge: 'd', lessons: ['z'], repository: undefined },
    { challenge: 'b', lessons: ['x', 'y'], repository: 'r' },
    { challenge: 'a', lessons: ['x'], repository: undefined },
    { challenge: 'c', lessons: ['y'], repository: 'r' },
  ];
  const labels = (all: typeof tasks) => Object.fromEntries(clusterLabels(all));
  t.same(labels(tasks), {
    a: { lesson: 'a', repository: 'unnamed repository' },
    b: { lesson: 'a', repository: 'r' },
    c: { lesson: 'a', repository: 'r' },
    d: { lesson: 'd', repository: 'unnamed repository' },
  });
  t.same(labels([...tasks].reverse()), labels(tasks));
  t.same(['19/20', '1/1', '59/60', '7/8'].map(plainLevel), ['0.95', '1', '59/60', '0.875']);
});
