/** The loop and what surrounds it: gates, channels, costs, a full disk, a store that is somebody else's. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { admitEligible } from '../../daemon/decide/admit.ts';
import { reap } from '../../daemon/reap.ts';
import { runPending } from '../../daemon/run.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { viewOf } from '../../daemon/view.ts';
import type { Receipt } from '../../rules/contracts/receipt.ts';
import { viewAs } from '../../rules/runs.ts';
import { realFiles } from '../../store/files.ts';
import { type Cid, cidFromDigest, digestOfEvidence, type Evidence } from '../../store/format/cid.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { led } from '../faults/store-scenario.ts';
import { type Case, labFolder, MEMORY, makeLab, openLab, openLabStore, removeLab, SOLVE } from './kit.ts';

t.setTimeout(600_000);

const search = { tool: 'search_memory', input: { query: 'greeting' } };
const root = labFolder();
t.teardown(() => removeLab(root));
/** Where a product writes what it was asked, and its copy of the evidence. */
const HANDED = join(root, 'handed');
const NOTE = `printf '%s\\n' "$input" >> '${HANDED}'`;
const restored = (project: string) =>
  `printf '%s' '{"project":"${project}","queue_before_count":0,"restore_seconds":0.5}'`;
const CASES: readonly Case[] = [
  { name: 'prompt', arms: ['none', 'memory'], followUp: [{ say: 'It is.' }] },
  {
    name: 'pull',
    arms: ['none', 'tool'],
    plain: [search, { say: 'Nothing.' }],
    informed: [search, search, ...SOLVE],
  },
  {
    name: 'handed',
    arms: ['none', 'memory'],
    replies: {
      'full-restore': `${NOTE}\ncp artifacts/*/*.evidence.json '${HANDED}.evidence'\n${restored('notes-a')}`,
      'empty-restore': `${NOTE}\n${restored('notes-b')}`,
    },
  },
  { name: 'hangs', plain: [{ hang: true }], attempts: 1 },
  { name: 'turn-two', followUp: [{ tool: 'run', input: { command: 'true' } }, { say: 'x' }], attempts: 1 },
  { name: 'other-agent', modelKind: 'real' },
];

const lab = await makeLab(root, { cases: CASES });
t.teardown(lab.close);
const { store, engine, trigger } = lab;
const view = viewOf(store);

const bytes = (reference: Evidence, from: Store = store) =>
  from.get(cidFromDigest('raw', digestOfEvidence(reference)));

async function receiptsByArm(name: string): Promise<Record<string, Receipt>> {
  const ran = await runPending(store, engine, trigger, { family: lab.study(name) });
  const byArm: Record<string, Receipt> = {};
  for (const { arm, receipt } of ran) byArm[arm] = await viewAs('receipt', receipt, view);
  return byArm;
}

t.test('memory with the prompt: once, recorded, and never in the control', async (t) => {
  const { memory, none } = await receiptsByArm('prompt');
  t.equal(none?.injections.length, 0);
  t.equal(memory?.injections.length, 1, 'with the first prompt only');
  const injection = await viewAs('injection', memory?.injections[0]?.['/'] as Cid, view);
  t.match(injection, { channel: 'prompt', turn: 1, memories: [{ origin: 'm1' }] });
  const text = await store.get(injection.memories[0]?.text['/'] as Cid);
  t.equal(Buffer.from(text).toString(), MEMORY);
  t.same(
    memory?.replies.map(({ verb }) => verb),
    ['restore', 'snapshot-before', 'snapshot-after', 'destroy'],
  );
  t.match(
    memory?.natives.map(({ name }) => name),
    ['stdout-1', 'stderr-1', 'stdout-2', 'stderr-2'],
  );
  t.equal(memory?.before?.['/'], none?.before?.['/'], 'both arms begin alike');
  await surfaces(t, memory as Receipt);
});

t.test('memory arms are handed the evidence and the graph, controls neither', async (t) => {
  await receiptsByArm('handed');
  const inputs = readFileSync(HANDED, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const [memory, control] = [true, false].map((full) =>
    inputs.find((each) => (each.graph_arm !== null) === full),
  );
  t.same(control.artifacts, { evidence_corpus: null, graph: null });
  const { evidence_corpus: evidence, graph } = memory.artifacts;
  const listing = `[{"path":"notes.md","text":${JSON.stringify(`${MEMORY}\n`)}}]`;
  t.equal(readFileSync(`${HANDED}.evidence`, 'utf8'), listing);
  t.equal(evidence.sha256, sha256Hex(Buffer.from(listing)));
  t.equal(
    evidence.path,
    `artifacts/${evidence.sha256}/${evidence.sha256}.evidence.json`,
    'named by its bytes alone',
  );
  t.equal(graph.path, `artifacts/${graph.sha256}/${graph.sha256}.state`);
  t.same([memory.fixture, Object.keys(memory).sort()], [control.fixture, Object.keys(control).sort()]);
});

/** What certification reads of the surroundings: every tool with the words that the model is told about it. */
async function surfaces(t: Test, receipt: Receipt): Promise<void> {
  const surface = JSON.parse(Buffer.from(await bytes(receipt.surface as Evidence)).toString());
  t.same(
    surface.tools.map(({ name }: { name: string }) => name),
    ['read', 'write', 'edit', 'list', 'run'],
  );
  for (const { description } of surface.tools) t.ok(description.length > 10, description);
  const facts = JSON.parse(Buffer.from(await bytes(receipt.hostFacts as Evidence)).toString());
  t.match(facts.executor, { executor: 'none', node: process.version });
  const replaced = facts.replacements.map((each: { with: string }) => each.with);
  for (const place of ['/workspace', '/home/agent', '/opt/agent', '/opt/verifier', '/scratch'])
    t.ok(replaced.includes(place), place);
  const start = await viewAs('start', receipt.start['/'], view);
  for (const reply of receipt.replies)
    t.notMatch(Buffer.from(await bytes(reply.bytes)).toString(), start.token.slice(0, 12));
}

t.test('memory by the tool: through the meter, one record for one answer', async (t) => {
  const { tool, none } = await receiptsByArm('pull');
  t.match(tool, { status: 'completed', verdict: { reward: 1 } });
  t.match(none, { status: 'agent_failed', stopReason: 'exit' }, 'the control has no such tool');
  t.equal(tool?.injections.length, 1, 'the same question twice');
  const injection = await viewAs('injection', tool?.injections[0]?.['/'] as Cid, view);
  t.match(injection, { channel: 'tool', turn: 1, memories: [{ origin: 'm1' }] });
  await trigger.settle();
  const grades = await view.byKind('grade');
  const found = [];
  for (const cid of grades) found.push(await viewAs('grade', cid, view));
  const own = found.find((grade) => 'arm' in grade && grade.arm === 'tool');
  t.match(own, { delivered: true, reward: 1 });
  const by = { who: 'a test', why: 'to see', outcomesVisible: false };
  const decided = await admitEligible(store, lab.study('pull'), by);
  t.same(
    decided.map(({ decision }) => decision),
    ['admitted', 'admitted'],
    'the tool is no difference of parity',
  );
});

t.test('settling costs what is new, and a fault in it loses nothing', async (t) => {
  let reads = 0;
  const counting: Store = {
    ...store,
    value(cid) {
      reads += 1;
      return store.value(cid);
    },
  };
  const fresh = openTrigger(counting);
  t.same(await fresh.settle(), [], 'from the start: everything stands');
  t.ok(reads > 50);
  reads = 0;
  t.same(await fresh.settle(), []);
  t.equal(reads, 0, 'nothing new, nothing read');

  let broken = true;
  const failing: Store = {
    ...store,
    record: async (value) => (broken ? fail('E_IO', { where: 'disk' }) : store.record(value)),
  };
  const again = openTrigger(failing);
  await again.settle();
  const record = {
    ...(await viewAs('fixture', (await view.byKind('fixture'))[0] as Cid, view)),
    id: 'second',
  };
  await store.record(record as never);
  await t.rejects(again.settle(), { code: 'E_IO' });
  broken = false;
  const derived = await again.settle();
  t.equal(derived.filter(({ rule }) => rule === 'certify').length, CASES.length, 'what failed is done now');
});

t.test('a start that cannot run as registered is never begun', async (t) => {
  const family = lab.study('other-agent');
  const starts = (await view.byKind('start')).length;
  await t.rejects(runPending(store, engine, trigger, { family }), { code: 'E_GATE', message: /real model/ });
  t.equal((await view.byKind('start')).length, starts);
});

t.test(
  'a full disk in the middle of a run: a clear error, nothing half-written, and it goes on',
  async (t) => {
    const own = labFolder();
    t.teardown(() => removeLab(own));
    const cases = [{ name: 'full', attempts: 3 }];
    await (await makeLab(own, { cases })).close();
    for (const step of ['before', 'turns']) {
      const { files, fill } = fillingDisk();
      const small = await openLab(own, { cases, files });
      await reap(small.store, [small.engine.executor], small.engine.owner);
      const watch = (name: string) => {
        if (name === step) fill();
      };
      const ran = runPending(small.store, small.engine, small.trigger, { watch });
      await t.rejects(ran, { code: 'E_IO' }, `full after ${step}`);
      await small.close().catch(() => undefined);
    }
    const free = await openLab(own, { cases });
    t.equal((await reap(free.store, [free.engine.executor], free.engine.owner)).lost.length, 1);
    const ran = await runPending(free.store, free.engine, free.trigger);
    t.match(ran, [{ attempt: 3, status: 'completed' }]);
    await free.close();
  },
);

/** A disk that takes half of the first write after it was filled, and nothing from then on. */
function fillingDisk() {
  let full = false;
  const files = led(realFiles, async (call, args, run) => {
    if (!full || (call !== 'write' && call !== 'create')) return run();
    if (call === 'write') {
      const [fd, chunks, position] = args as Parameters<typeof realFiles.write>;
      const whole = Buffer.concat(chunks);
      await realFiles.write(fd, [whole.subarray(0, whole.length >> 1)], position);
    }
    return fail('E_IO', { where: call, found: 'ENOSPC' });
  });
  const fill = () => {
    full = true;
  };
  return { files, fill };
}

t.test('a signal while the agent works ends the run at once, as aborted', async (t) => {
  const family = lab.study('hangs');
  let reason: string | undefined;
  const watch = (step: string) => {
    if (step !== 'meter') return;
    setTimeout(() => {
      reason = 'SIGTERM';
    }, 1000);
  };
  const [only] = await runPending(store, engine, trigger, { family, watch, aborted: () => reason });
  const receipt = await viewAs('receipt', only?.receipt as Cid, view);
  t.match(receipt, { status: 'aborted', fault: { step: 'turns', detail: 'SIGTERM' } });
  t.equal(receipt.verdict, undefined);
  t.ok(receipt.hostFacts && receipt.before && receipt.surface, 'what was found until then is kept');
});

t.test('what an earlier turn left stays in the receipt of a run that a later turn voids', async (t) => {
  const family = lab.study('turn-two');
  const first = engine.executor.open;
  const executor = {
    ...engine.executor,
    async open(spec: Parameters<typeof first>[0]) {
      const sandbox = await first(spec);
      let runs = 0;
      const run: typeof sandbox.run = (command) =>
        command.relaySocket !== undefined && ++runs === 2
          ? fail('E_EXECUTOR', { where: 'a test', found: 'gone' })
          : sandbox.run(command);
      return { ...sandbox, run };
    },
  };
  const [only] = await runPending(store, { ...engine, executor }, trigger, { family });
  const receipt = await viewAs('receipt', only?.receipt as Cid, view);
  t.match(receipt, { status: 'sandbox_lost', fault: { step: 'turns', code: 'E_EXECUTOR' } });
  t.match(
    receipt.natives.map(({ name }) => name),
    ['stdout-1', 'stderr-1'],
  );
  t.ok(receipt.surface && receipt.exchanges.length > 0, 'with its surface and exchanges');
  t.equal(receipt.verdict, undefined);
});

t.test('only the owner of a store runs and writes off', async (t) => {
  const client: Store = { ...store, remote: true };
  await t.rejects(runPending(client, engine, trigger), { code: 'E_STORE_BUSY' });
  await t.rejects(openLabStore(root), { code: 'E_STORE_BUSY' }, 'a second daemon');
  await t.rejects(reap(client, [engine.executor], engine.owner), { code: 'E_STORE_BUSY' });
});
