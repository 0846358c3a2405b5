import fc from 'fast-check';
import t from 'tap';
import type { Full } from '../../../rules/contracts/kit.ts';
import type { Comparison, Summary } from '../../../rules/contracts/summary.ts';
import { type Inputs, loadInputs, type Needs } from '../../../rules/rule.ts';
import { printInterval } from '../../../rules/statistics/print.ts';
import { behind, reasonWithoutRuns } from '../../../rules/summary/behind.ts';
import { summaryV1 } from '../../../rules/summary/v1.ts';
import { link } from '../../../store/format/cid.ts';
import { encode, type Value } from '../../../store/format/codec.ts';
import { seeded } from '../kit.ts';
import { makeWorld, pairs, type Run, summarize, type TaskSpec, TEST, type WorldSpec } from './kit.ts';

const spread = (wins: readonly number[], epochs: number): (0 | 1)[][] =>
  wins.map((count) => Array.from({ length: epochs }, (_, i) => (i < count ? 1 : 0)));

const first = ({ comparisons }: Full<Summary>): Comparison => comparisons[0] as Comparison;

/** All 2^k ways to flip the tasks, as doubles: two-sided p = min(1, twice the smaller side). */
function flipByBruteForce(differences: readonly number[]): number {
  const observed = differences.reduce((sum, each) => sum + each, 0);
  let atLeast = 0;
  let atMost = 0;
  const ways = 2 ** differences.length;
  for (let mask = 0; mask < ways; mask += 1) {
    const sum = differences.reduce((total, each, i) => total + ((mask >> i) & 1 ? -each : each), 0);
    if (sum >= observed - 1e-9) atLeast += 1;
    if (sum <= observed + 1e-9) atMost += 1;
  }
  return Math.min(1, (2 * Math.min(atLeast, atMost)) / ways);
}

const asNumber = (text: string | null): number => {
  const [num = '0', den = '1'] = (text ?? 'NaN').split('/');
  return Number(num) / Number(den);
};

t.test(
  'published counts: 55 of 70 beside 10 of 70 over 14 tasks, task first and these tasks beside it',
  async (t) => {
    // R: .6713-.8748 and .0707-.2471 to the nearest; here outward.
    const memory = spread([5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 0, 0, 0], 5);
    const none = spread([5, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 5);
    const tasks = memory.map((own, i) => ({ id: `task-${i + 10}`, arms: pairs(own, none[i] ?? []) }));
    const { summary } = await summarize({ tasks, tests: [TEST], study: { holmSize: 4 } });
    const each = first(summary);
    t.equal(printInterval(each.treatmentRate.interval, 4), '[.6713,.8749]');
    t.equal(printInterval(each.controlRate.interval, 4), '[.0706,.2471]');
    t.match(each, {
      tasks: 14,
      pairs: 70,
      difference: '9/14',
      differencePairs: '9/14',
      standing: 'registered',
    });
    t.same(each.table, { both: 10, treatmentOnly: 45, controlOnly: 0, neither: 15 });
    t.match(each.result, { unit: 'task', informative: 9, p: '1/256', floor: '1/256', adjusted: '1/64' });
    t.equal(each.mcnemar.p, `1/${2n ** 44n}`);
    t.equal(each.verdict, 'supports benefit');
    t.equal(summary.multiplicity.registered, 4, 'three tests were not run and stay in the family');
  },
);

t.test('the sign flip is the one that enumeration gives', async (t) => {
  const wins = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 })), {
    minLength: 1,
    maxLength: 7,
  });
  await fc.assert(
    fc.asyncProperty(wins, async (counts) => {
      const tasks = counts.map(([a, b], i) => ({
        id: `task-${i}`,
        arms: pairs(spread([a], 3)[0] ?? [], spread([b], 3)[0] ?? []),
      }));
      const { summary } = await summarize({ tasks, tests: [TEST] });
      const wanted = flipByBruteForce(counts.map(([a, b]) => (a - b) / 3));
      t.ok(Math.abs(asNumber(first(summary).result.p) - wanted) < 1e-12, JSON.stringify(counts));
    }),
    seeded(t, 15),
  );
});

t.test('every way in which a run may not count is counted, by arm and reason', async (t) => {
  const lost = { status: 'lost' };
  const cells: Record<string, readonly [Run | readonly Run[], Run | readonly Run[]]> = {
    counted: [1, 0],
    'second attempt': [
      [1, 0],
      [lost, 1],
    ],
    'void sibling': [[1], [lost]],
    excluded: [{ reward: 1, excluded: 'parity-finding' }, 1],
    undecided: [0, { reward: 1, excluded: 'undecided' }],
    open: ['open', 0],
    'not started': [null, 1],
    'no outcome': [{ status: 'memory_absent' }, 0],
  };
  const arms = { memory: Object.values(cells).map(([a]) => a), none: Object.values(cells).map(([, b]) => b) };
  const { summary } = await summarize({ tasks: [{ id: 'one', arms }], tests: [TEST] });
  const each = first(summary);
  t.equal(each.pairs, 2);
  t.same(each.table, { both: 0, treatmentOnly: 1, controlOnly: 1, neither: 0 });
  t.same(each.missing.treatment, {
    'excluded:parity-finding': 1,
    memory_absent: 1,
    'no-receipt': 1,
    'not-started': 1,
    'void-attempt': 1,
  });
  t.same(each.missing.control, { undecided: 1, 'void-attempt': 1 });
  // Eight pairs: +1 and -1 stand; each missing memory run lies beside a control's 1, 1, 0, 1, 0 or one that is missing too.
  t.same(each.missing.range, { lo: '-1/2', hi: '3/8' });
  t.match(summary.counts.arms.memory, {
    planned: 8,
    started: 8,
    counted: 3,
    open: 1,
    voided: 2,
    undecided: 0,
  });
  t.match(summary.counts.arms.none, { planned: 8, started: 9, counted: 6, open: 0, voided: 2, undecided: 1 });
  t.same(summary.counts.arms.memory?.excluded, { 'parity-finding': 1 });
  t.equal(summary.runs.filter(({ standing }) => standing === 'void-attempt').length, 4);
  t.match(
    summary.runs.find(({ attempt }) => attempt === 2),
    { epoch: 2, standing: 'counted' },
  );
});

const run = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<Run>(0, 1) },
  fc.constantFrom<Run>(null, 'open', { status: 'memory_absent' }, { reward: 1, excluded: 'undecided' }),
  fc.constantFrom<Run>({ reward: 0, excluded: 'parity-finding' }, { reward: 1, override: 'excluded' }),
);
const epochs = 3;
const arm = fc.array(run, { minLength: epochs, maxLength: epochs });
const task = fc.record({ memory: arm, none: arm, lesson: fc.constantFrom('l1', 'l2', 'l3') });
const worlds = fc.array(task, { minLength: 1, maxLength: 4 }).map((all): TaskSpec[] =>
  all.map(({ memory, none, lesson }, i) => ({
    id: `task-${i}`,
    lessons: [lesson],
    arms: { memory, none },
  })),
);
const sides = fc.constantFrom('two-sided', 'greater', 'less');
const statistic = fc.constantFrom('signFlip', 'mcnemar', 'wilcoxonSignedRank');
const cluster = fc.constantFrom('task', 'lesson');

t.test('the same inputs in any order give the same bytes', async (t) => {
  const shuffled = fc.tuple(worlds, fc.integer());
  await fc.assert(
    fc.asyncProperty(shuffled, async ([tasks, seed]) => {
      const { blocks, binding } = makeWorld({ tasks, tests: [TEST] });
      const needs = summaryV1.needs as unknown as Needs;
      const inputs = (await loadInputs(needs, binding, blocks.reader)) as Inputs<typeof summaryV1.needs>;
      const mixed = Object.fromEntries(
        Object.entries(inputs).map(([name, each]) => [name, Array.isArray(each) ? turned(each, seed) : each]),
      ) as typeof inputs;
      const io = { ...blocks, parameters: {} };
      const one = encode((await summaryV1.apply(inputs, io)) as unknown as Value);
      const other = encode((await summaryV1.apply(mixed, io)) as unknown as Value);
      t.equal(Buffer.compare(one, other), 0);
    }),
    seeded(t, 12),
  );
});

function turned<T>(list: readonly T[], seed: number): T[] {
  if (list.length === 0) return [];
  const by = Math.abs(seed) % list.length;
  const rotated = [...list.slice(by), ...list.slice(0, by)];
  return seed % 2 === 0 ? rotated : rotated.reverse();
}

const numbersOf = ({ missing, ...each }: Comparison) => each;

t.test('an excluded run changes no number of those that count', async (t) => {
  await fc.assert(
    fc.asyncProperty(worlds, fc.constantFrom<0 | 1>(0, 1), async (tasks, reward) => {
      const without = tasks.map((each) => ({ ...each, arms: { ...each.arms } }));
      const target = without.findIndex(({ arms }) => arms.memory?.includes(null));
      const at = without[target]?.arms.memory?.indexOf(null) ?? -1;
      if (target < 0) return;
      const more = without.map((each, i) => {
        const memory = (each.arms.memory ?? []).map((own, j): Run | readonly Run[] =>
          i === target && j === at ? { reward, excluded: 'certification-finding', micros: 7 } : own,
        );
        return { ...each, arms: { ...each.arms, memory } };
      });
      const [a, b] = [
        await summarize({ tasks, tests: [TEST] }),
        await summarize({ tasks: more, tests: [TEST] }),
      ];
      t.same(b.summary.comparisons.map(numbersOf), a.summary.comparisons.map(numbersOf));
      t.same(b.summary.tasks, a.summary.tasks);
      t.same(b.summary.multiplicity, a.summary.multiplicity);
      t.same(b.summary.counts.arms.memory?.resources, a.summary.counts.arms.memory?.resources);
      const extra = b.summary.counts.arms.memory?.excluded['certification-finding'];
      t.equal(extra, 1, 'and it is listed');
    }),
    seeded(t, 25),
  );
});

const negated = (value: string): string =>
  value.startsWith('0/') || value === '0' ? value : value.startsWith('-') ? value.slice(1) : `-${value}`;
const MIRROR = { 'two-sided': 'two-sided', greater: 'less', less: 'greater' } as const;

t.test('swapping the arms mirrors every number', async (t) => {
  await fc.assert(
    fc.asyncProperty(worlds, sides, statistic, cluster, async (tasks, side, kind, unit) => {
      const test = { ...TEST, sides: side, statistic: kind, cluster: unit };
      const swapped = {
        ...test,
        treatment: 'none',
        control: 'memory',
        sides: MIRROR[side as keyof typeof MIRROR],
      };
      const a = first((await summarize({ tasks, tests: [test] })).summary);
      const b = first((await summarize({ tasks, tests: [swapped] })).summary);
      t.same(b.table, {
        both: a.table.both,
        treatmentOnly: a.table.controlOnly,
        controlOnly: a.table.treatmentOnly,
        neither: a.table.neither,
      });
      t.same([b.treatmentRate, b.controlRate], [a.controlRate, a.treatmentRate]);
      t.equal(b.difference, negated(a.difference));
      t.equal(b.differencePairs, negated(a.differencePairs));
      if ('lo' in a.differenceInterval && 'lo' in b.differenceInterval) {
        t.equal(b.differenceInterval.lo, negated(a.differenceInterval.hi));
        t.equal(b.differenceInterval.hi, negated(a.differenceInterval.lo));
      }
      t.same([b.result, b.flip, b.mcnemar, b.order], [a.result, a.flip, a.mcnemar, a.order]);
      t.same([b.missing.treatment, b.missing.control], [a.missing.control, a.missing.treatment]);
      t.equal(b.missing.range?.lo, negated(a.missing.range?.hi ?? ''));
      t.same([b.treatmentResources, b.controlResources], [a.controlResources, a.treatmentResources]);
    }),
    seeded(t, 20),
  );
});

t.test('what does not stand under one key is not pooled, and the fields are named', async (t) => {
  const tasks = [
    { id: 'one', arms: pairs([1, 1], [0, 0]) },
    { id: 'two', arms: pairs([1, 0], [0, 0]) },
  ];
  const { summary } = await summarize({ tasks, tests: [TEST], models: ['m1', 'm2'] });
  t.match(summary.unmixed, [{ id: TEST.id, standing: 'registered', fields: ['agent', 'model'] }]);
  t.same(
    summary.comparisons.map(({ id, standing, pairs: n, verdict }) => [id, standing, n, verdict]),
    [1, 2].map((i) => [`${TEST.id}, setting ${i} of 2`, 'exploratory', 4, 'exploratory']),
  );
  t.same(
    summary.multiplicity.tests,
    [{ id: TEST.id, p: null, adjusted: null }],
    'the registered test was not run',
  );
  const twice: WorldSpec = {
    tasks: [
      { id: 'one', arms: pairs([1], [0]), verifier: 60 },
      { id: 'one', arms: pairs([1], [0]), verifier: 61 },
    ],
    tests: [TEST],
  };
  const other = (await summarize(twice)).summary;
  t.match(other.unmixed, [{ fields: ['challenge', 'verifier'] }]);
  t.same(other.comparisons, []);
});

t.test('Holm, curtailment and looks: as registered', async (t) => {
  const wins = Array.from({ length: 8 }, (_, i) => ({
    id: `task-${i}`,
    arms: pairs([1], [i === 7 ? 1 : 0]),
  }));
  const mcnemar = { ...TEST, statistic: 'mcnemar' };
  const looks = { rule: 'spending', looks: [5, 7, 20], spend: ['0.01', '0.03', '0.05'] };
  const spending = first(
    (await summarize({ tasks: wins, tests: [mcnemar], study: { stop: looks } })).summary,
  );
  // 7 of 7: crossing at the second look; at 5 the boundary cannot be crossed within 0.01.
  t.match(spending.stop, { rule: 'spending', discordant: 7, decision: 'stop-reject' });
  t.match(spending.result, { p: '1/64', adjusted: '1/64' });
  t.equal(spending.verdict, 'supports benefit');
  const off = { rule: 'spending', looks: [6, 20], spend: ['0.04', '0.05'] };
  const noLook = first((await summarize({ tasks: wins, tests: [mcnemar], study: { stop: off } })).summary);
  t.match(noLook.result, { p: null, adjusted: null, why: '7 discordant pairs are no look' });
  t.equal(noLook.verdict, 'inconclusive');
  const short = wins.map((each, i) => (i > 5 ? { ...each, arms: pairs([null], [null]) } : each));
  const curtail = { stop: { rule: 'curtailment' }, alpha: '0.1' };
  const early = first((await summarize({ tasks: short, tests: [mcnemar], study: curtail })).summary);
  t.match(early.stop, { rule: 'curtailment', plannedPairs: 8, completedPairs: 6, decision: 'continue' });
  const fixed = first((await summarize({ tasks: short, tests: [mcnemar] })).summary);
  t.match(fixed.stop, { rule: 'fixed', decision: 'incomplete' });
});

t.test('non-inferiority is decided by the exact interval and the margin, at alpha over m', async (t) => {
  const same = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ id: `task-${i}`, arms: pairs([1], [1]) }));
  const test = { ...TEST, statistic: 'nonInferiority', sides: 'greater', margin: '0.1' };
  const few = first((await summarize({ tasks: same(4), tests: [test] })).summary);
  t.equal(few.verdict, 'inconclusive', 'four control tasks can never support a margin of 10%');
  t.match(few.noWorse, { margin: '0.1', level: '0.9', harmed: 0 });
  t.match(few.result, { p: null, adjusted: null });
  const many = first((await summarize({ tasks: same(60), tests: [test] })).summary);
  t.equal(many.verdict, 'supports no worse than -0.1');
  const family = first((await summarize({ tasks: same(60), tests: [test], study: { holmSize: 5 } })).summary);
  t.equal(family.noWorse?.level, '0.98');
});

t.test('a continuous measure has no p below five paired attempts', async (t) => {
  const test = { ...TEST, statistic: 'wilcoxonSignedRank', measure: 'tokens' };
  const cheap = (n: number) =>
    Array.from({ length: n }, (_, i) => ({
      id: `task-${i}`,
      arms: pairs([{ reward: 1, tokens: 100 + i }], [{ reward: 0, tokens: 200 + 3 * i }]),
    }));
  const four = (await summarize({ tasks: cheap(4), tests: [test] })).summary.measures[0];
  t.match(four?.result, { p: null, floor: null });
  t.equal(four?.verdict, 'exploratory');
  const five = (await summarize({ tasks: cheap(5), tests: [test] })).summary.measures[0];
  t.match(five?.result, { p: '1/16', floor: '1/16', adjusted: '1/16' });
  t.equal(five?.verdict, 'inconclusive');
  const eight = (await summarize({ tasks: cheap(8), tests: [test] })).summary.measures[0];
  t.match(eight, {
    treatmentMean: '207/2',
    controlMean: '421/2',
    difference: '-107/1',
    verdict: 'supports less',
  });
  const untested = (await summarize({ tasks: cheap(8) })).summary;
  t.same(untested.measures, [], 'nothing registered, nothing tested');
  t.match(untested.comparisons, [
    { standing: 'exploratory', verdict: 'exploratory', result: { adjusted: null } },
  ]);
});

t.test('tasks that share a lesson are one unit where the registration says so', async (t) => {
  const tasks = [
    ['a', ['l1', 'l2']],
    ['b', ['l2']],
    ['c', ['l3']],
    ['d', ['l1']],
  ].map(([id, lessons]) => ({ id: id as string, lessons: lessons as string[], arms: pairs([1], [0]) }));
  const by = async (cluster: string, over: Partial<TaskSpec> = {}) =>
    first(
      (await summarize({ tasks: tasks.map((each) => ({ ...each, ...over })), tests: [{ ...TEST, cluster }] }))
        .summary,
    );
  t.match((await by('task')).result, { informative: 4, p: '1/8' });
  t.match((await by('lesson')).result, { informative: 2, p: '1/2', unit: 'lesson' });
  t.match((await by('repository')).result, { informative: 1, p: '1/1' }, 'no name: one repository');
  const named = await by('repository', { repository: 'https://example.invalid/r' });
  t.equal(named.clusters, 1);
});

t.test('results without overrides stand beside those with them', async (t) => {
  const tasks = [
    { id: 'one', arms: pairs([{ reward: 1, override: 'excluded' }, 1], [0, 0]) },
    { id: 'two', arms: pairs([{ reward: 0, excluded: 'ineligible', override: 'admitted' }, 1], [0, 0]) },
  ];
  const { summary } = await summarize({ tasks, tests: [TEST] });
  t.equal(first(summary).difference, '3/4');
  t.equal(summary.withoutOverrides[0]?.difference, '1/1');
  t.match(summary.counts.arms.memory, { excludedByOverride: 1, admitted: 3 });
  t.equal(summary.decisions.filter(({ kind }) => kind === 'override').length, 2);
  const plain = await summarize({ tasks: [{ id: 'one', arms: pairs([1], [0]) }], tests: [TEST] });
  t.same(plain.summary.withoutOverrides, []);
});

t.test('order of arms, decisions with their dates, cost of a solved run', async (t) => {
  const tasks = [0, 1, 2].map((i) => ({
    id: `task-${i}`,
    arms: pairs([{ reward: 1, micros: 10, seconds: '1.25' }], [{ reward: 0, micros: 3, seconds: '0.5' }]),
  }));
  const { summary } = await summarize({
    tasks,
    tests: [TEST],
    first: (plan) => (plan === 0 ? ['none', 'memory'] : ['memory', 'none']),
    decisions: (blocks, study) => {
      const by = { who: 'ann', why: 'the clock' };
      const record = { kind: 'deviation', v: 1, ...by, study: link(study), what: 'One day late.' };
      return [{ kind: 'deviation', cid: blocks.record(record) }];
    },
  });
  t.same(first(summary).order, { firstWon: 2, secondWon: 1, p: '1/1' });
  t.match(summary.decisions, [
    { kind: 'study', leaf: 0 },
    { kind: 'deviation', who: 'ann', what: 'One day late.' },
  ]);
  t.match(first(summary).treatmentResources, { micros: 30, perSolved: '10/1', seconds: '3.75' });
  t.match(first(summary).controlResources, { micros: 9, perSolved: null });
});

t.test('points of two builds are joined only under equal keys', async (t) => {
  const at = (build: string): Run => ({ reward: 1, build });
  const same = { id: 'one', arms: pairs([at('1'), at('2')], [at('1'), at('1')]) };
  const [memory, none] = (await summarize({ tasks: [same] })).summary.trends;
  t.match(memory, { arm: 'memory', points: [{ build: 'product 1', differs: [] }, { differs: [] }] });
  t.equal(none?.points.length, 1);
  const apart = [
    { id: 'one', arms: pairs([at('1')], [0]), verifier: 60 },
    { id: 'one', arms: pairs([at('2')], [0]), verifier: 61 },
  ];
  const [broken] = (await summarize({ tasks: apart })).summary.trends;
  t.same(broken?.points[1]?.differs, ['challenge', 'verifier']);
});

t.test('every number leads to the receipts behind it', async (t) => {
  const tasks = [
    { id: 'one', arms: pairs([1, 1], [0, 1]) },
    { id: 'two', arms: pairs([1, { reward: 0, excluded: 'ineligible' }], [0, 0]) },
  ];
  const { summary } = await summarize({ tasks, tests: [TEST] });
  const count = (pointer: string) => behind(summary, pointer).length;
  t.equal(count('/comparisons/0/difference'), 8);
  t.equal(count('/comparisons/0/treatmentRate/solved'), 4);
  t.equal(count('/comparisons/0/byTask/1/difference'), 4);
  t.equal(count('/tasks/0/arms/none/solved'), 2);
  t.equal(count('/counts/arms/memory/planned'), 4);
  t.equal(count('/multiplicity/tests/0/adjusted'), 8);
  t.equal(count('/runs/0/receipt'), 1);
  t.equal(count('/design/alpha'), 0);
  t.same(
    [...new Set(behind(summary, '/counts/started').map(({ standing }) => standing))],
    ['counted', 'excluded'],
  );
  t.throws(() => behind(summary, '/comparisons/9/difference'), { code: 'E_NOT_FOUND' });
  const [one] = behind(summary, '/tasks/1/arms/memory/outcomes');
  t.match(one, { challenge: 'two', arm: 'memory', epoch: 1, standing: 'counted' });
});

/** Every number of a value, by pointer: whole numbers, decimals and rationals. */
function numbersIn(value: unknown, at = ''): string[] {
  if (typeof value === 'number') return [at];
  if (typeof value === 'string') return /^-?(\d+(\.\d+)?(e[+-]\d+)?|\d+\/\d+)$/.test(value) ? [at] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    numbersIn(each, `${at}/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`),
  );
}

const EVERYTHING: WorldSpec = {
  tasks: [
    { id: 'one', arms: { memory: [1, { reward: 1, build: '1' }], none: [0, 1], other: [1, 'open'] } },
    {
      id: 'two',
      arms: { memory: [1, { reward: 0, excluded: 'parity-finding' }], none: [0, 0], other: [0, null] },
    },
    {
      id: 'three',
      family: 'control',
      arms: { memory: [{ reward: 1, override: 'excluded' }, 1], none: [1, { status: 'lost' }] },
    },
  ],
  tests: [
    { ...TEST, families: ['family'] },
    {
      ...TEST,
      id: 'margin',
      families: ['control'],
      statistic: 'nonInferiority',
      margin: '0.2',
      sides: 'greater',
    },
    { ...TEST, id: 'tokens', statistic: 'wilcoxonSignedRank', measure: 'tokens', primary: false },
    { ...TEST, id: 'nowhere', families: ['none-such'] },
  ],
};

t.test('each single number of a summary leads to receipts, or says why there are none', async (t) => {
  const { summary } = await summarize(EVERYTHING);
  const pointers = numbersIn(summary).filter((pointer) => !pointer.startsWith('/derivation'));
  t.ok(pointers.length > 400, `${pointers.length} numbers`);
  const without = pointers.filter((pointer) => behind(summary, pointer).length === 0);
  const sections = new Set(without.map((pointer) => pointer.split('/')[1]));
  t.same([...sections].sort(), ['decisions', 'design', 'v'], [...without].join(' ').slice(0, 400));
  for (const pointer of [...without, '/multiplicity/tests/3/p', '/kind'])
    t.ok(reasonWithoutRuns(pointer).length > 10, pointer);
  t.match(reasonWithoutRuns('/multiplicity/tests/3/p'), /not run/);
  const receipts = new Set(summary.runs.map(({ receipt }) => receipt['/']));
  for (const pointer of pointers)
    for (const { receipt } of behind(summary, pointer))
      if (!receipts.has(receipt)) t.fail(`${pointer} leads astray`);
});

t.test('swapping the names of two arms swaps every number of every section', async (t) => {
  await fc.assert(
    fc.asyncProperty(worlds, sides, statistic, async (tasks, side, kind) => {
      const test = { ...TEST, sides: side, statistic: kind };
      const tokens = { ...test, id: 'tokens', statistic: 'signFlip', measure: 'tokens', primary: false };
      const mirror = { treatment: 'none', control: 'memory', sides: MIRROR[side as keyof typeof MIRROR] };
      const one = (await summarize({ tasks, tests: [test, tokens] })).summary;
      const two = (await summarize({ tasks, tests: [test, tokens].map((each) => ({ ...each, ...mirror })) }))
        .summary;
      t.same(two.multiplicity, one.multiplicity);
      t.same([two.counts, two.tasks, two.trends], [one.counts, one.tasks, one.trends]);
      const [a, b] = [first(one), first(two)];
      t.same(
        [b.tasks, b.clusters, b.pairs, b.stop, b.missing.pairs],
        [a.tasks, a.clusters, a.pairs, a.stop, a.missing.pairs],
      );
      t.same(
        b.byTask.map(({ difference }) => difference),
        a.byTask.map(({ difference }) => negated(difference)),
      );
      const inverse = (text: string): number =>
        text === 'Infinity' ? 0 : text === '0' ? Number.POSITIVE_INFINITY : 1 / Number(text);
      const near = (x: number, y: number) => x === y || Math.abs(x - y) <= 1e-12 * Math.abs(y);
      t.ok(near(Number(b.oddsRatio.lo), inverse(a.oddsRatio.hi)), `${b.oddsRatio.lo} and ${a.oddsRatio.hi}`);
      t.ok(near(Number(b.oddsRatio.hi), inverse(a.oddsRatio.lo)), `${b.oddsRatio.hi} and ${a.oddsRatio.lo}`);
      const [m, w] = [one.measures[0], two.measures[0]];
      t.same([w?.treatmentMean, w?.controlMean], [m?.controlMean, m?.treatmentMean]);
      t.same(w?.result, m?.result);
      t.equal(w?.difference ?? null, m?.difference == null ? null : negated(m.difference));
      const swapWord = (word: string) =>
        word === 'supports benefit' ? 'supports harm' : word === 'supports harm' ? 'supports benefit' : word;
      t.equal(b.verdict, swapWord(a.verdict));
    }),
    seeded(t, 12),
  );
});
