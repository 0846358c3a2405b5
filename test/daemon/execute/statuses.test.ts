/**
 * Every status of DESIGN section 2 by a run that ends in it: the receipt says it, an outcome stands where the table has
 * one, and attempts follow from it.
 */
import t, { type Test } from 'tap';
import { admitEligible } from '../../../daemon/decide/admit.ts';
import { closeFamily, reportClose } from '../../../daemon/decide/close.ts';
import { progressOfFamily, standingOf } from '../../../daemon/family.ts';
import { reap } from '../../../daemon/reap.ts';
import { runPending } from '../../../daemon/run.ts';
import { viewOf } from '../../../daemon/view.ts';
import { why } from '../../../daemon/why.ts';
import {
  OUTCOME_STATUSES,
  type Receipt,
  STOP_REASONS,
  status as statusSchema,
  VOID_STATUSES,
} from '../../../rules/contracts/receipt.ts';
import { viewAs } from '../../../rules/runs.ts';
import { apiError, type Case, labFolder, makeLab, removeLab, SUITE, snapshotReply, write } from '../kit.ts';

t.setTimeout(600_000);

interface Row extends Case {
  readonly status: Receipt['status'];
  readonly stopReason?: Receipt['stopReason'];
  /** Step and code of the fault. */
  readonly fault?: readonly [string, string];
  readonly reward?: 0 | 1;
  readonly reason?: string;
}

const PAID = { prices: { currency: 'USD', inputMicros: 1_000_000, outputMicros: 1_000_000 } };
const caps = (runMicros: number, stageMicros: number) => ({
  study: { ...PAID, caps: { runMicros, stageMicros, totalMicros: 1_000_000_000 } },
});
const command = (text: string) => [{ tool: 'run', input: { command: text } }, { say: 'Done.' }];
const hog = "node -e 'globalThis.held = Buffer.alloc(400<<20,1); setTimeout(()=>{},60000)'";
const crowd = 'for i in $(seq 300); do sleep 60 & done; sleep 60';

const ROWS: readonly Row[] = [
  { name: 'done', status: 'completed', reward: 0, reason: 'tests-failed' },
  { name: 'late', status: 'timeout', plain: [{ hang: true }], timeoutSeconds: 3, reward: 0 },
  ...(
    [
      ['exit', { plain: [apiError(400, 'invalid_request_error')] }],
      ['context_overflow', { plain: [apiError(413, 'request_too_large')] }],
      ['turn_limit', { limits: { turns: 1 } }],
      ['token_limit', { plain: [{ stop: 'max_tokens' }] }],
      ['refusal', { plain: [{ stop: 'refusal' }] }],
      ['cost_limit', caps(1, 1_000_000_000)],
      ['oom', { plain: command(hog), memoryMb: 256 }],
      ['pids', { plain: command(crowd) }],
    ] as const
  ).map(([stopReason, rest]): Row => {
    const name = stopReason.replace('_', '-');
    return { name, status: 'agent_failed', stopReason, reward: 0, ...rest };
  }),
  {
    name: 'absent',
    status: 'memory_absent',
    arms: ['memory'],
    replies: { 'full-snapshot': snapshotReply(0, []) },
    fault: ['probe', 'memory_absent'],
  },
  {
    name: 'present',
    status: 'memory_present',
    arms: ['none', 'memory'],
    replies: { 'empty-snapshot': snapshotReply(1, ['m1']) },
    fault: ['probe', 'memory_present'],
  },
  {
    name: 'prebuild-fails',
    status: 'sandbox_lost',
    prebuildArgv: ['false'],
    fault: ['prebuild', 'E_EXECUTOR'],
  },
  { name: 'suite-broken', status: 'verifier_error', suite: 'throw 1;\n', fault: ['verify', 'E_EXECUTOR'] },
  {
    name: 'product-exits',
    status: 'provision_failed',
    arms: ['memory'],
    replies: { 'full-restore': 'exit 3' },
    fault: ['restore', 'E_PROVISION'],
  },
  {
    name: 'queue-waits',
    status: 'provision_failed',
    arms: ['memory'],
    replies: { 'full-snapshot': snapshotReply(1, ['m1'], 2) },
    fault: ['probe', 'provision_failed'],
  },
  {
    name: 'other-state',
    status: 'provision_failed',
    arms: ['memory'],
    replies: { 'full-snapshot': snapshotReply(2, ['m1']) },
    fault: ['probe', 'provision_failed'],
  },
  {
    name: 'recall-fails',
    status: 'provision_failed',
    arms: ['memory'],
    replies: { 'full-recall': 'exit 1' },
    fault: ['turns', 'E_PROVISION'],
  },
  { name: 'capped', status: 'capped', ...caps(1_000_000_000, 1), fault: ['turns', 'E_BUDGET'] },
  // The model's side: our key, our account, the service's own trouble, a lost connection.
  ...(
    [
      ['model-gone', apiError(529, 'overloaded_error')],
      ['key-rejected', apiError(401, 'authentication_error')],
      ['not-allowed', apiError(403, 'permission_error')],
      ['no-such-model', apiError(404, 'not_found_error')],
      ['rate', apiError(429, 'rate_limit_error')],
      ['broken-service', apiError(500, 'api_error')],
      ['bad-gateway', apiError(502, 'bad_gateway')],
      ['no-credit', apiError(400, 'billing_error')],
      ['cut-before', { cut: 'before' }],
      ['cut-within', { cut: 'within' }],
    ] as const
  ).map(([name, step]): Row => ({ name, status: 'aborted', plain: [step], fault: ['turns', 'E_METER'] })),
  // The request itself: the agent's.
  {
    name: 'too-long',
    status: 'agent_failed',
    stopReason: 'context_overflow',
    plain: [{ error: { status: 400, type: 'invalid_request_error', message: 'prompt is too long: 9 > 8' } }],
    reward: 0,
  },
  {
    name: 'unprocessable',
    status: 'agent_failed',
    stopReason: 'exit',
    plain: [apiError(422, 'invalid_request_error')],
    reward: 0,
  },
  // An agent cannot void its own failure by what it leaves behind.
  {
    name: 'pipe-left',
    status: 'completed',
    plain: command('mkfifo app.mjs.pipe'),
    allowed: ['app.mjs', 'app.mjs.pipe'],
    reward: 0,
    reason: 'list-incomplete',
  },
  {
    name: 'outside',
    status: 'completed',
    informed: [write('x', 'other.txt'), { say: 'Done.' }],
    arms: ['memory'],
    reward: 0,
    reason: 'mutation-outside',
  },
  {
    name: 'suite-left',
    status: 'completed',
    plain: [write('process.exit(0)\n'), { say: 'Done.' }],
    suite: `${SUITE}if (!text.includes('greeting')) process.exit(0);\n`,
    reward: 0,
    reason: 'list-incomplete',
  },
];

const isOutcome = (status: string) => (OUTCOME_STATUSES as readonly string[]).includes(status);
const isVoid = (status: string) => (VOID_STATUSES as readonly string[]).includes(status);

const root = labFolder();
t.teardown(() => removeLab(root));
const lab = await makeLab(root, {
  cases: [...ROWS, { name: 'stops', arms: ['none', 'memory'], attempts: 2 }, { name: 'dies', attempts: 1 }],
});
t.teardown(lab.close);
const { store, engine, trigger } = lab;
const view = viewOf(store);
const reached = new Set<string>();

for (const row of ROWS) {
  await t.test(`${row.name}: ${row.status} ${row.stopReason ?? ''}`, async (t) => {
    const family = lab.study(row.name);
    const ran = await runPending(store, engine, trigger, { family });
    const chosen = ran.find(({ status }) => status === row.status) ?? ran[0];
    t.ok(chosen, 'it ran');
    if (chosen === undefined) return;
    const receipt = await viewAs('receipt', chosen.receipt, view);
    reached.add(receipt.status);
    if (receipt.stopReason !== undefined) reached.add(receipt.stopReason);
    t.equal(receipt.status, row.status);
    t.equal(receipt.stopReason, row.stopReason);
    t.same(receipt.fault === undefined ? undefined : [receipt.fault.step, receipt.fault.code], row.fault);
    t.equal(
      receipt.verdict !== undefined,
      isOutcome(row.status),
      'a verdict exactly where there is an outcome',
    );
    t.equal(
      receipt.audit !== undefined && receipt.after !== undefined,
      isOutcome(row.status) || row.status === 'verifier_error',
    );
    if (row.reward !== undefined) t.equal(receipt.verdict?.reward, row.reward);
    if (row.reason !== undefined) t.equal(receipt.verdict?.reason, row.reason);
    t.ok(receipt.hostFacts, 'the host facts are there, whatever happened');
    await attempts(t, row, ran);
  });
}

/** Void: the attempt ends at once, and the next exists while one is left; a cap that is spent lets nothing start. */
async function attempts(t: Test, row: Row, ran: readonly { attempt: number; arm: string }[]) {
  const family = lab.study(row.name);
  const [plan] = await progressOfFamily(store, await standingOf(store, family));
  const arms = row.arms ?? ['none'];
  const expected = isVoid(row.status) ? (row.status === 'capped' ? 1 : 2) : arms.length;
  t.equal(ran.length, expected, 'so many starts');
  const state = row.status === 'capped' ? 'pending' : isVoid(row.status) ? 'exhausted' : 'done';
  t.equal(plan?.progress.state, state);
  const reason = { pending: 'budget-gate', exhausted: 'attempts-exhausted', done: 'already-done' }[state];
  t.equal((await why(store, plan?.plan.cid as never))[0]?.reason, reason);
  t.same(await runPending(store, engine, trigger, { family }), [], 'a second time adds nothing');
}

t.test(
  'a stop between two steps, and while the agent works, is aborted; the attempt ends at once',
  async (t) => {
    const family = lab.study('stops');
    let reason: string | undefined;
    const first = await runPending(store, engine, trigger, {
      family,
      watch: (step) => {
        if (step === 'restore') reason = 'SIGTERM';
      },
      aborted: () => reason,
    });
    t.match(first, [{ status: 'aborted', attempt: 1 }], 'one arm began, and nothing after it');
    const receipt = await viewAs('receipt', first[0]?.receipt as never, view);
    reached.add('aborted');
    t.match(receipt.fault, { step: 'probe', code: 'E_EXECUTOR', detail: 'SIGTERM' });
    t.ok(
      receipt.replies.some(({ verb }) => verb === 'destroy'),
      'what was restored was destroyed',
    );
    reason = undefined;
    const second = await runPending(store, engine, trigger, { family });
    t.match(second, [{ attempt: 2 }, { attempt: 2 }], 'all arms again');
    t.same(new Set(second.map(({ arm }) => arm)), new Set(['none', 'memory']));
  },
);

t.test('a start without a receipt blocks its plan until it is lost', async (t) => {
  const family = lab.study('dies');
  const dying = runPending(store, engine, trigger, {
    family,
    watch: (step) => {
      if (step === 'before') throw new Error('gone');
    },
  });
  await t.rejects(dying, /gone/);
  const [plan] = await progressOfFamily(store, await standingOf(store, family));
  t.match(await why(store, plan?.plan.cid as never), [{ reason: 'leased-by' }]);
  t.same(await runPending(store, engine, trigger, { family }), []);
  const { lost } = await reap(store, [engine.executor], engine.owner);
  t.equal(lost.length, 1);
  const receipt = await viewAs('receipt', lost[0] as never, view);
  t.match(receipt, { status: 'lost', fault: { step: 'daemon' } });
  t.equal(receipt.verdict, undefined);
  reached.add('lost');
  t.same((await reap(store, [engine.executor], engine.owner)).lost, [], 'twice adds nothing');
  t.match(await why(store, plan?.plan.cid as never), [{ reason: 'attempts-exhausted' }]);
});

t.test('no memory where it should be, or one in the control, never shows as a null result', async (t) => {
  for (const name of ['absent', 'present']) {
    const family = lab.study(name);
    await trigger.settle();
    await admitEligible(store, family, { who: 'a test', why: 'to see', outcomesVisible: false });
    const close = await closeFamily(store, family, { who: 'a test', why: 'all ran' });
    const { summary } = await reportClose(store, trigger, close);
    const value = await viewAs('summary', summary, view);
    if ('refused' in value) return t.fail('a refused summary');
    const status = name === 'absent' ? 'memory_absent' : 'memory_present';
    const arm = name === 'absent' ? 'memory' : 'none';
    t.equal(value.counts.arms[arm]?.statuses[status], 1, 'counted under its name');
    t.same(value.tasks[0]?.arms[arm]?.outcomes, [null], 'no outcome, not 0');
    t.equal(value.tasks[0]?.arms[arm]?.runs, 0);
    for (const comparison of value.comparisons) t.equal(comparison.pairs, 0, 'no pair');
  }
});

t.test('every status and stop reason was reached', async (t) => {
  t.same([...reached].sort(), [...new Set([...statusSchema.options, ...STOP_REASONS])].sort());
});
