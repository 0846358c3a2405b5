/** How far a plan is, from starts and receipts alone: the table of attempts, and the registered order of arms. */
import t from 'tap';
import type { Full } from '../../rules/contracts/kit.ts';
import type { Plan } from '../../rules/contracts/plan.ts';
import { OUTCOME_STATUSES, type Status, VOID_STATUSES } from '../../rules/contracts/receipt.ts';
import type { Study } from '../../rules/contracts/study.ts';
import { seededOrder } from '../../rules/schedule/order.ts';
import { progressOf } from '../../rules/schedule/progress.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import { openBlocks, receiptOf } from './kit.ts';

/** One start of the table: its attempt, its arm by place in the registered order, and how it ended. */
type Begun = readonly [attempt: number, arm: 0 | 1, status: Status | undefined];

async function progress(begun: readonly Begun[], attempts = 2) {
  const blocks = openBlocks();
  const plan = blocks.raw('a plan');
  const study = { orderSeed: 'seed', attempts } as unknown as Study;
  const arms = { control: link(plan), treatment: link(plan) };
  const order = seededOrder('seed', plan, Object.keys(arms));
  for (const [i, [attempt, arm, status]] of begun.entries()) {
    const start = blocks.record({
      kind: 'start',
      v: 1,
      plan: link(plan),
      arm: order[arm],
      attempt,
      study: link(blocks.raw('a study')),
      token: String(i).padStart(32, '0'),
      executor: 'none',
      isolation: { network: 'loopback', limits: [] },
    });
    if (status !== undefined) blocks.record(receiptOf(start, { status }));
  }
  const value = { shared: {}, arms } as unknown as Full<Plan>;
  const found = await progressOf({ cid: plan as Cid, value }, study, blocks.view);
  const places = 'arms' in found ? found.arms.map((arm) => order.indexOf(arm)) : [];
  return { state: found.state, attempt: found.attempt, arms: places };
}

t.test('the table of attempts', async (t) => {
  const rows: readonly [string, readonly Begun[], object][] = [
    ['nothing began', [], { state: 'pending', attempt: 1, arms: [0, 1] }],
    ['one arm runs', [[1, 0, undefined]], { state: 'pending', attempt: 1, arms: [1] }],
    ['one arm is over', [[1, 0, 'completed']], { state: 'pending', attempt: 1, arms: [1] }],
    [
      'the last arm runs',
      [
        [1, 0, 'completed'],
        [1, 1, undefined],
      ],
      { state: 'running', attempt: 1 },
    ],
    [
      'both are over',
      [
        [1, 0, 'completed'],
        [1, 1, 'timeout'],
      ],
      { state: 'done', attempt: 1 },
    ],
    [
      'a final status without an outcome',
      [
        [1, 0, 'memory_absent'],
        [1, 1, 'memory_present'],
      ],
      { state: 'done', attempt: 1 },
    ],
    [
      'void at once: the other arm is not begun',
      [[1, 0, 'capped']],
      { state: 'pending', attempt: 2, arms: [0, 1] },
    ],
    [
      'void while the other arm runs',
      [
        [1, 0, 'lost'],
        [1, 1, undefined],
      ],
      { state: 'running', attempt: 1 },
    ],
    [
      'void after the other arm',
      [
        [1, 0, 'completed'],
        [1, 1, 'aborted'],
      ],
      { state: 'pending', attempt: 2, arms: [0, 1] },
    ],
    [
      'the second attempt is over',
      [
        [1, 0, 'lost'],
        [2, 0, 'completed'],
        [2, 1, 'completed'],
      ],
      { state: 'done', attempt: 2 },
    ],
    [
      'no attempt is left',
      [
        [1, 0, 'lost'],
        [2, 0, 'lost'],
      ],
      { state: 'exhausted', attempt: 2 },
    ],
  ];
  for (const [what, begun, wanted] of rows) t.match(await progress(begun), wanted, what);
});

t.test('every voiding status voids, and no other does', async (t) => {
  for (const status of VOID_STATUSES)
    t.match(await progress([[1, 0, status]]), { state: 'pending', attempt: 2 }, status);
  for (const status of VOID_STATUSES)
    t.match(
      await progress([[1, 0, status]], 1),
      { state: 'exhausted', attempt: 1 },
      `${status}, one attempt`,
    );
  for (const status of OUTCOME_STATUSES)
    t.match(await progress([[1, 0, status]]), { state: 'pending', attempt: 1, arms: [1] }, status);
});

t.test('the order hangs on seed, context and names alone', (t) => {
  const names = ['a', 'b', 'c', 'd'];
  const order = seededOrder('s', 'plan', names);
  t.same([...order].sort(), names);
  t.same(seededOrder('s', 'plan', [...names].reverse()), order);
  const firsts = new Set(Array.from({ length: 64 }, (_, i) => seededOrder('s', `plan ${i}`, names)[0]));
  t.equal(firsts.size, 4, 'every name comes first somewhere');
  t.end();
});
