import fc from 'fast-check';
import t from 'tap';
import { isStatistic, statistic, statistics } from '../../../rules/statistics/index.ts';
import { floorOfP } from '../../../rules/statistics/min-units.ts';
import { mirrored } from '../../../rules/statistics/paired-difference.ts';
import * as print from '../../../rules/statistics/print.ts';
import { compare, print as exact, negate, parse, rational } from '../../../rules/statistics/rational.ts';
import { signFlipOf } from '../../../rules/statistics/sign-flip.ts';
import {
  aggregate,
  flipStatistic,
  missingRange,
  type PairedOutcome,
  passes,
} from '../../../rules/statistics/tasks.ts';
import { verdict, withinMargin } from '../../../rules/statistics/verdict.ts';

const seed = Date.now() % 2 ** 31;
t.comment(`fast-check seed ${seed}`);

t.test('interval ends round outward, p rounds up, nothing prints as 0.000', async (t) => {
  t.equal(print.printInterval({ lo: '0.67128', hi: '0.87481' }), '[.671,.875]');
  t.equal(print.printInterval({ lo: '-0.043647501', hi: '1' }), '[-.044,1]');
  t.equal(print.printInterval({ lo: '-0.0004', hi: '-0.0006' }), '[-.001,0]');
  t.equal(print.printInterval({ lo: '0.023', hi: '0.023' }), '[.023,.023]');
  t.equal(print.printInterval({ lo: '23.4561', hi: 'Infinity' }, 1), '[23.4,Infinity]');
  t.equal(print.printP('1/1024'), '1/1024 (0.00098)');
  t.equal(print.printP('1/1'), '1');
  t.equal(print.printP('3/16'), '3/16 (0.19)');
  t.equal(print.printP(`1/${2n ** 64n}`), `1/${2n ** 64n} (5.5e-20)`);
  t.equal(print.printP(`1/${2n ** 65n}`), '2.8e-20');
  t.equal(print.printP('4.7800000000000000000e-295'), '4.8e-295');
  t.equal(print.printP('0.0010000000000000000000'), '1.0e-3');
  t.equal(print.printP('0.25100000000000000000'), '2.6e-1');
  t.equal(print.printP('2.0200681183960604494e-301030'), '2.1e-301030');
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 ** 9 }), fc.integer({ min: 1, max: 10 ** 9 }), (x, y) => {
      const [num, den] = [Math.min(x, y), Math.max(x, y)];
      const value = rational(BigInt(num), BigInt(den));
      const shown = /\((.*)\)/.exec(print.printP(exact(value)))?.[1] ?? '1';
      t.ok(compare(parse(shown)!, value) >= 0 && !/^[0.]*$/.test(shown), `${num}/${den} ${shown}`);
      t.ok(compare(parse(print.printLow(exact(value)))!, value) <= 0);
      t.ok(compare(parse(print.printHigh(exact(negate(value))))!, negate(value)) >= 0);
    }),
    { seed, numRuns: 300 },
  );
  t.throws(() => print.printP('1.5'), { code: 'E_STATS_INPUT' });
  t.throws(() => print.printLow('?'), { code: 'E_STATS_INPUT' });
});

t.test('counts stand beside percents; differences carry their sign', async (t) => {
  t.equal(print.printShare(10, 70), '10/70 (14%)');
  t.equal(print.printShare(69, 70), '69/70 (99%)');
  t.equal(print.printShare(1, 8), '1/8 (13%)');
  t.equal(print.printShare(35, 110), '35/110 (31.8%)');
  t.equal(print.printShare(0, 240), '0/240 (0.0%)');
  t.equal(print.printShare(0, 0), '0/0');
  t.equal(print.printDifference('9/14'), '+9/14 (+0.643)');
  t.equal(print.printDifference('-1/70'), '-1/70 (-0.014)');
  t.equal(print.printDifference('0/1'), '0');
  t.equal(print.printDifference('-1/1'), '-1');
  t.equal(print.printFloorOfP(11), '2^(1-11)');
  t.equal(exact(floorOfP(11)), '1/1024');
  t.equal(exact(floorOfP(0)), '1/1');
});

const outcome = fc.record({
  task: fc.constantFrom('a', 'b', 'B', 'é', 'z'),
  epoch: fc.integer({ min: 0, max: 3 }),
  treatment: fc.constantFrom<0 | 1>(0, 1),
  control: fc.constantFrom<0 | 1>(0, 1),
  first: fc.constantFrom<'treatment' | 'control'>('treatment', 'control'),
});
const outcomes = fc.uniqueArray(outcome, {
  selector: ({ task, epoch }) => `${task} ${epoch}`,
  maxLength: 20,
});

t.test('units do not depend on order; swapping arms mirrors every number', async (t) => {
  fc.assert(
    fc.property(outcomes, fc.integer(), (pairs, salt) => {
      const found = aggregate(pairs);
      const shuffled = [...pairs].sort(
        (x, y) => ((x.epoch * 7 + x.task.length + salt) % 5) - ((y.epoch + salt) % 5),
      );
      t.same(aggregate(shuffled), found);
      const swapped = aggregate(
        pairs.map((pair) => ({
          ...pair,
          treatment: pair.control,
          control: pair.treatment,
          first: pair.first === 'control' ? ('treatment' as const) : ('control' as const),
        })),
      );
      t.same(swapped.table, { ...found.table, b: found.table.c, c: found.table.b });
      t.same(swapped.perTask, found.perTask === null ? null : negate(found.perTask));
      t.same(swapped.order, found.order);
      t.equal(swapped.informative, found.informative);
      const flip = signFlipOf(
        found.clusters.map((unit) => unit.difference),
        'greater',
      );
      const back = signFlipOf(
        swapped.clusters.map((unit) => unit.difference),
        'less',
      );
      t.equal(flip.pExact, back.pExact);
    }),
    { seed, numRuns: 150 },
  );
});

t.test('a comparison in numbers: tables, weights, clusters, order', async (t) => {
  const pair = (
    task: string,
    epoch: number,
    treatment: 0 | 1,
    control: 0 | 1,
    cluster?: string,
  ): PairedOutcome => ({
    task,
    epoch,
    treatment,
    control,
    ...(cluster === undefined ? {} : { cluster }),
    ...(epoch === 0 ? { first: 'control' as const } : {}),
  });
  const found = aggregate([
    pair('t2', 0, 0, 1, 'lesson'),
    pair('t1', 1, 1, 0, 'lesson'),
    pair('t1', 0, 1, 0, 'lesson'),
    pair('t1', 2, 1, 1, 'lesson'),
    pair('t3', 0, 0, 0),
  ]);
  t.same(found.table, { a: 1, b: 2, c: 1, d: 1, n: 5 });
  t.equal(exact(found.perTask!), '-1/9', 'tasks weigh alike');
  t.equal(exact(found.perPair!), '1/5', 'pairs do not');
  t.same(
    found.clusters.map((unit) => [unit.cluster, unit.tasks.join(), exact(unit.difference)]),
    [
      ['lesson', 't1,t2', '-1/3'],
      ['t3', 't3', '0/1'],
    ],
  );
  t.equal(exact(flipStatistic(found.clusters)), '-1/3');
  t.equal(found.informative, 1);
  t.same(
    found.discordant.map((d) => `${d.task}/${d.epoch} ${d.winner}`),
    ['t1/0 treatment', 't1/1 treatment', 't2/0 control'],
  );
  t.same(found.order, { firstWon: 1, secondWon: 1 });
  t.same(passes(found.table), { treatment: 3, control: 2 });
  t.throws(() => aggregate([pair('t', 0, 1, 1), pair('t', 0, 0, 1)]), { code: 'E_STATS_INPUT' });
  t.throws(() => aggregate([pair('t', 0, 1, 1, 'x'), pair('t', 1, 0, 1, 'y')]), { code: 'E_STATS_INPUT' });
  t.same(aggregate([]).perTask, null);
  const range = missingRange([
    { task: 'x', treatment: 1, control: null },
    { task: 'x', treatment: 0, control: 0 },
    { task: 'y', treatment: null, control: null },
  ])!;
  t.same([exact(range.lo), exact(range.hi)], ['-1/2', '3/4']);
  t.equal(missingRange([]), null);
});

t.test('the verdict is never "no effect"', async (t) => {
  const alpha = rational(1n, 20n);
  const base = { confirmatory: true, adjustedP: rational(1n, 21n), alpha, estimate: rational(1n, 3n) };
  t.equal(verdict(base), 'supports benefit');
  t.equal(verdict({ ...base, estimate: rational(-1n, 3n) }), 'supports harm');
  t.equal(verdict({ ...base, adjustedP: rational(1n, 19n) }), 'inconclusive');
  t.equal(verdict({ ...base, adjustedP: null }), 'inconclusive');
  t.equal(verdict({ ...base, confirmatory: false }), 'exploratory');
  t.equal(verdict({ ...base, noWorse: { lo: '-0.0999', margin: '0.1' } }), 'supports no worse than -0.1');
  t.equal(verdict({ ...base, noWorse: { lo: '-0.1', margin: '0.1' } }), 'inconclusive');
  t.notOk(withinMargin('?', '0.1'));
});

t.test('swapping arms mirrors tests and intervals; order of units changes nothing', async (t) => {
  const ends = fc.record({ b: fc.nat(14), c: fc.nat(14), rest: fc.nat(12) });
  fc.assert(
    fc.property(ends, ({ b, c, rest }) => {
      for (const alternative of ['two-sided', 'greater', 'less'] as const) {
        const other = alternative === 'greater' ? 'less' : alternative === 'less' ? 'greater' : alternative;
        t.equal(
          statistics.mcnemar({ b, c, alternative }).pExact,
          statistics.mcnemar({ b: c, c: b, alternative: other }).pExact,
        );
      }
      const n = b + c + rest;
      const [one, two] = [
        statistics.pairedDifferenceExact({ b, c, n }),
        statistics.pairedDifferenceExact({ b: c, c: b, n }),
      ];
      t.equal(one.lo, mirrored(two.hi));
      t.equal(one.hi, mirrored(two.lo));
    }),
    { seed, numRuns: 15 },
  );
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 12 }), (diffs) => {
      const [back, against] = [[...diffs].reverse(), diffs.map((diff) => 0 - diff)];
      const clusters = (values: readonly number[]) => ({ clusters: values.map((value) => [value]) });
      t.same(statistics.signFlip(clusters(back)), statistics.signFlip(clusters(diffs)));
      t.same(statistics.wilcoxonSignedRank({ diffs: back }), statistics.wilcoxonSignedRank({ diffs }));
      t.same(statistics.hodgesLehmann({ diffs: back }), statistics.hodgesLehmann({ diffs }));
      t.equal(statistics.signFlip(clusters(against)).pExact, statistics.signFlip(clusters(diffs)).pExact);
      t.equal(
        statistics.wilcoxonSignedRank({ diffs: against, alternative: 'less' }).pExact,
        statistics.wilcoxonSignedRank({ diffs, alternative: 'greater' }).pExact,
      );
      t.same(
        statistics.signFlip(clusters([...diffs, 0, 0])).pExact,
        statistics.signFlip(clusters(diffs)).pExact,
        'zeros',
      );
    }),
    { seed, numRuns: 60 },
  );
});

t.test('what a statistic is not defined on is refused by field, wanted and found', async (t) => {
  const bad: readonly (readonly [string, unknown])[] = [
    ['mcnemar', { b: -1, c: 2 }],
    ['mcnemar', { b: 1.5, c: 2 }],
    ['mcnemar', { b: 1 }],
    ['mcnemar', { b: 1, c: 2, alternative: 'both' }],
    ['mcnemar', { b: 1, c: 2, aplha: '0.05' }],
    ['mcnemar', [1, 2]],
    ['mcnemar', null],
    ['clopperPearson', { k: 3, n: 2 }],
    ['clopperPearson', { k: 1, n: 2, level: '1' }],
    ['clopperPearson', { k: 1, n: 2, level: 0.95 }],
    ['clopperPearson', { k: 1, n: 2, level: `0.${'9'.repeat(400)}` }],
    ['oneSidedUpper', { k: 1, n: 2, alpha: '0' }],
    ['signFlip', { clusters: [[]] }],
    ['signFlip', { clusters: [['0,1']] }],
    ['signTest', { diffs: [0.1] }],
    ['wilcoxonSignedRank', { diffs: ['1'], zeroMethod: 'zsplit' }],
    ['cochranQ', { rows: [[1, 0], [1]] }],
    ['cochranQ', { rows: [[1], [0]] }],
    ['cochranQ', { rows: [[1, 2]] }],
    ['holm', { p: ['0.1', '0.2'], registered: 1 }],
    ['holm', { p: ['1.1'], registered: 1 }],
    ['mcnemarPower', { pairs: 5, p10: '0.7', p01: '0.4' }],
    ['sequentialCrossing', { looks: [{ n: 5, upper: 2, lower: 3 }] }],
    ['sequentialBoundary', { looks: [5, 5], cumulativeAlpha: ['0.01', '0.02'] }],
    ['sequentialBoundary', { looks: [5, 9], cumulativeAlpha: ['0.02', '0.01'] }],
    ['sequentialBoundary', { looks: [5, 9], cumulativeAlpha: ['0.02'] }],
    ['stopRuleCurtail', { plannedPairs: 5, completedPairs: 6, b: 0, c: 0 }],
    ['stopRuleCurtail', { plannedPairs: 5, completedPairs: 3, b: 2, c: 2 }],
    ['pairedDifferenceExact', { b: 3, c: 3, n: 5 }],
    ['passK', { n: 3, c: 4, k: 1 }],
    ['student', {}],
    ['constructor', {}],
  ];
  for (const [name, input] of bad)
    t.throws(() => statistic(name, input), { code: 'E_STATS_INPUT' }, JSON.stringify([name, input]));
  t.notOk(isStatistic('toString'));
  t.throws(() => statistic('mcnemar', { b: 1, c: 'x' }), {
    message: /at c; wanted a whole number >= 0; found "x"/,
  });
  t.same(
    statistic('mcnemar', { b: '5', c: '0' }),
    statistic('mcnemar', { b: 5, c: 0 }),
    'decimal digits are counts too',
  );
});

t.test('no data has an answer by convention', async (t) => {
  t.same(statistics.hodgesLehmann({ diffs: [] }).rangeLevelExact, '0/1');
  t.same(statistics.hodgesLehmann({ diffs: [] }).estimateExact, null);
  t.same(statistics.pairedDifference({ a: 0, b: 0, c: 0, d: 0 }).differenceExact, null);
  t.match(statistics.pairedDifferenceExact({ b: 0, c: 0, n: 0 }), { lo: '-1', hi: '1', note: 'no data' });
  t.same(statistics.oneSidedUpper({ k: 0, n: 0 }), { hi: '1', note: 'no data' });
  t.equal(statistics.mcnemar({ b: 0, c: 0 }).note, 'no discordant pair');
  t.same(statistics.cochranQ({ rows: [] }), {
    qExact: '0/1',
    nInformative: 0,
    p: '1.0000000000000000000',
    pExact: '1/1',
  });
  t.same(statistics.sequentialBoundary({ looks: [], cumulativeAlpha: [] }), {
    upper: [],
    cumulativeExact: [],
  });
  t.same(statistics.mcnemarPower({ pairs: 0, p10: '0.5', p01: '0' }), {
    rejectAny: '0',
    rejectRightDirection: '0',
  });
});

t.test('out of reach is refused with the reason and the exact sign test', async (t) => {
  const wide = Array.from(
    { length: 60 },
    (_, i) => `${(i % 3 === 0 ? -1 : 1) * (10 ** 9 + i * i * i * 7919 + 1)}`,
  );
  const hint =
    /exact sign test \(two-sided\) of the same values: 40 positive, 20 negative, 0 zero, p = 0\.0134/;
  t.throws(() => statistics.signFlip({ clusters: wide.map((value) => [value]) }), {
    code: 'E_STATS_LIMIT',
    data: { hint },
  });
  const many = Array.from({ length: 3000 }, (_, i) => (i % 3 === 0 ? -i - 1 : i + 1));
  const counts = /1000 negative/;
  t.throws(() => statistics.wilcoxonSignedRank({ diffs: many }), {
    code: 'E_STATS_LIMIT',
    data: { hint: counts },
  });
  for (const [name, input] of [
    ['mcnemar', { b: 9_000_000, c: 2_000_000 }],
    ['clopperPearson', { k: 1, n: 100_000_000 }],
    ['hodgesLehmann', { diffs: many }],
    ['fisherExact', { a: 1, b: 1, c: 1, d: 1_000_000 }],
    ['cochranQ', { rows: Array.from({ length: 60 }, () => [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]) }],
    ['mcnemarPower', { pairs: 100_000, p10: '0.1', p01: '0.1' }],
    ['sequentialBoundary', { looks: [100_000], cumulativeAlpha: ['0.05'] }],
    ['stopRuleCurtail', { plannedPairs: 1_000_000, completedPairs: 0, b: 0, c: 0 }],
    ['pairedDifferenceExact', { b: 1, c: 1, n: 5000 }],
    ['passK', { n: 1_000_000, c: 1, k: 1 }],
  ] as const)
    t.throws(() => statistic(name, input), { code: 'E_STATS_LIMIT', data: { hint: /./ } }, name);
});
