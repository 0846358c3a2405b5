/**
 * The path to a real model, without one: an upstream that demands a key. The key is nowhere but in the meter, and what
 * the caps allow is never passed.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import t from 'tap';
import { admitEligible } from '../../daemon/decide/admit.ts';
import { closeFamily, publish } from '../../daemon/decide/close.ts';
import { ownerOf } from '../../daemon/engine.ts';
import { holds } from '../../daemon/meter/guard.ts';
import { KEY_VARIABLE } from '../../daemon/meter/key.ts';
import { loadBehaviours } from '../../daemon/model/behaviour.ts';
import { openModel } from '../../daemon/model/model.ts';
import { placeOf } from '../../daemon/places.ts';
import { openFolder } from '../../daemon/release/folder.ts';
import { writeRelease } from '../../daemon/release/write.ts';
import { runPending } from '../../daemon/run.ts';
import { viewOf } from '../../daemon/view.ts';
import { worstCaseOf } from '../../rules/cost.ts';
import { viewAs } from '../../rules/runs.ts';
import { verify } from '../../rules/verify/verify.ts';
import type { Cid } from '../../store/format/cid.ts';
import { apiError, type Case, labFolder, makeLab, openLab, removeLab, SOLVE } from './kit.ts';

t.setTimeout(600_000);

// Made here, so that no file holds the shape of a key.
const KEY = ['sk', 'test', 'Zy9xW8vU7tS6'.repeat(4)].join('-');
const prices = { currency: 'USD', inputMicros: 3_000_000, outputMicros: 15_000_000 };
const PLENTY = 1_000_000_000;
/** No request of these cases has more bytes than this. */
const WORST = worstCaseOf({ bytes: 4000, maxTokens: 1000 }, prices);
/** Every request has more than this: its answer alone may cost so much. */
const LEAST = worstCaseOf({ bytes: 0, maxTokens: 1000 }, prices);
const capped = (runMicros: number, stageMicros: number) => ({
  study: { prices, caps: { runMicros, stageMicros, totalMicros: PLENTY } },
  modelKind: 'real' as const,
});
const look = { tool: 'run', input: { command: 'env; cat /proc/*/environ /proc/*/cmdline | tr "\\0" "\\n"' } };

const CASES: readonly Case[] = [
  { name: 'pays', plain: [look, ...SOLVE], ...capped(PLENTY, PLENTY) },
  { name: 'own-cap', plain: [look, ...SOLVE], ...capped(Math.floor(1.2 * LEAST), PLENTY) },
  {
    name: 'stage-cap',
    plain: [apiError(529, 'overloaded_error')],
    ...capped(PLENTY, Math.floor(1.9 * LEAST)),
  },
  { name: 'hangs', plain: [{ hang: true }], timeoutSeconds: 4, ...capped(PLENTY, PLENTY) },
  { name: 'from-file', plain: SOLVE, ...capped(PLENTY, PLENTY) },
  { name: 'wrong-key', plain: SOLVE, attempts: 1, ...capped(PLENTY, PLENTY) },
];

const root = labFolder();
t.teardown(() => removeLab(root));
const model = { kind: 'http', url: `unix:${root}/model.sock`, paths: ['/v1/messages'], timeoutSeconds: 60 };
const options = { cases: CASES, executor: 'bwrap', model } as const;
env[KEY_VARIABLE] = KEY;
const lab = await makeLab(root, options);
const { store, engine, trigger } = lab;
const view = viewOf(store);
const upstream = await openModel({
  behaviours: loadBehaviours(join(root, 'behaviours')),
  listen: { socket: join(root, 'model.sock') },
  key: KEY,
});
t.teardown(() => upstream.close());
delete env[KEY_VARIABLE];

const run = async (name: string) => {
  const before = upstream.requests();
  const ran = await runPending(store, engine, trigger, { family: lab.study(name) });
  const receipts = [];
  for (const { receipt } of ran) receipts.push(await viewAs('receipt', receipt, view));
  return { receipts, asked: upstream.requests() - before };
};

/** What was reserved and booked for a start, in order. */
async function ledger(start: Cid) {
  const entries = [];
  for (const cid of await view.linkers(start, 'ledger')) {
    const reserved = await viewAs('ledger', cid, view);
    for (const booking of await view.linkers(cid, 'ledger')) {
      const booked = await viewAs('ledger', booking, view);
      if (reserved.entry === 'reservation' && booked.entry === 'booking')
        entries.push({ sequence: reserved.sequence, worst: reserved.micros, ...booked });
    }
  }
  return entries.sort((a, b) => a.sequence - b.sequence);
}

t.test('a run that pays: booked by usage, below what was reserved', async (t) => {
  const { receipts, asked } = await run('pays');
  t.match(receipts, [{ status: 'completed', verdict: { reward: 1 }, spend: { requests: 3 } }]);
  t.equal(asked, 3);
  const booked = await ledger(receipts[0]?.start['/'] as Cid);
  t.same(
    booked.map(({ basis }) => basis),
    ['usage', 'usage', 'usage'],
  );
  for (const { micros, worst } of booked) t.ok(micros <= worst, `${micros} of ${worst}`);
  t.equal(
    booked.reduce((sum, { micros }) => sum + micros, 0),
    receipts[0]?.spend.micros,
  );
});

t.test('the run has its own cap: the agent failed, with nothing sent beyond it', async (t) => {
  const { receipts, asked } = await run('own-cap');
  t.match(receipts, [{ status: 'agent_failed', stopReason: 'cost_limit', verdict: { reward: 0 } }]);
  t.equal(receipts[0]?.fault, undefined);
  const booked = await ledger(receipts[0]?.start['/'] as Cid);
  t.equal(booked.length, asked, 'what was not allowed at its worst case did not leave');
  t.ok((receipts[0]?.spend.micros ?? 0) <= 1.2 * LEAST);
});

t.test(
  'the stage has a cap: an answer without usage is booked at its worst case, and the next is capped',
  async (t) => {
    const { receipts, asked } = await run('stage-cap');
    t.match(receipts, [
      { status: 'aborted', fault: { step: 'turns', code: 'E_METER' } },
      { status: 'capped', fault: { step: 'turns', code: 'E_BUDGET' }, spend: { requests: 0, micros: 0 } },
    ]);
    t.equal(asked, 1);
    const [first] = await ledger(receipts[0]?.start['/'] as Cid);
    t.match(first, { basis: 'worst-case' });
    t.equal(first?.micros, first?.worst);
    t.ok((first?.worst ?? 0) > LEAST && (first?.worst ?? 0) < WORST);
    for (const receipt of receipts) t.equal(receipt.verdict, undefined);
  },
);

t.test('an answer that never comes is booked at its worst case', async (t) => {
  const { receipts } = await run('hangs');
  t.match(receipts, [{ status: 'timeout', spend: { requests: 1 } }]);
  const [only] = await ledger(receipts[0]?.start['/'] as Cid);
  t.match(only, { basis: 'worst-case', micros: only?.worst });
});

t.test(
  'a key that the upstream refuses is our fault and no outcome; a key comes from a file as well',
  async (t) => {
    await lab.close();
    const file = join(root, 'model.env');
    for (const [name, key, status] of [
      ['wrong-key', `${KEY}x`, 'aborted'],
      ['from-file', KEY, 'completed'],
    ] as const) {
      writeFileSync(file, `# the key\n${KEY_VARIABLE}="${key}"\n`, { mode: 0o600 });
      const again = await openLab(root, { ...options, model: { ...model, envFile: file } });
      const ran = await runPending(again.store, again.engine, again.trigger, { family: again.study(name) });
      t.match(ran, [{ status }]);
      if (name === 'from-file') {
        const by = { who: 'a test', why: 'it ran' };
        await admitEligible(again.store, again.study('pays'), { ...by, outcomesVisible: false });
        const close = await closeFamily(again.store, again.study('pays'), by);
        await writeRelease(
          again.store,
          await publish(again.store, again.trigger, close),
          join(root, 'release'),
        );
      }
      await again.close();
    }
    writeFileSync(file, '');
    t.same((await verify(await openFolder(join(root, 'release')))).faults, []);
  },
);

t.test('the key is in no file: store, release, sandboxes, transcripts', async (t) => {
  const found: string[] = [];
  let files = 0;
  let looked = 0;
  for (const folder of [root, placeOf(ownerOf(store))]) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const bytes = contents(join(folder, name));
      if (bytes === undefined) continue;
      files += 1;
      if (bytes.includes('MODEL_URL=')) looked += 1;
      if (holds(bytes, KEY)) found.push(name);
    }
  }
  t.same(found, []);
  t.ok(files > 30, `${files} files were searched`);
  t.ok(looked > 0, 'among them what the agent saw of its environment and processes');
});

function contents(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    // A folder or a socket.
    return undefined;
  }
}
