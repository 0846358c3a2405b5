/**
 * The same study under `none` and under `docker`, differing in isolation and images only: equal snapshots and outcomes;
 * what the agent can reach from its container, and what the verifier can.
 */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { admitEligible } from '../../daemon/decide/admit.ts';
import { closeFamily, publish } from '../../daemon/decide/close.ts';
import { openFolder } from '../../daemon/release/folder.ts';
import { writeRelease } from '../../daemon/release/write.ts';
import { runPending } from '../../daemon/run.ts';
import { viewOf } from '../../daemon/view.ts';
import type { Receipt } from '../../rules/contracts/receipt.ts';
import { viewAs } from '../../rules/runs.ts';
import { verify } from '../../rules/verify/verify.ts';
import { cidFromDigest, digestOfEvidence } from '../../store/format/cid.ts';
import { type Case, type Lab, labFolder, makeLab, removeLab, SOLVE, SUITE } from './kit.ts';

t.setTimeout(900_000);

/** Everything a process can try, one line a try; `REACHED` must stand only behind the relay. */
const PROBE = `
const net = require('node:net'), dns = require('node:dns').promises, os = require('node:os');
const tried = (name, promise) => promise.then(() => name + ' REACHED', (error) => name + ' ' + (error.code || error.message));
const tcp = (host, port) => new Promise((resolve, reject) => {
  const socket = net.connect({ host, port, timeout: 3000 }, resolve);
  socket.on('error', reject).on('timeout', () => { socket.destroy(); reject(new Error('TIMEOUT')); });
});
Promise.all([
  tried('dns', dns.lookup('example.org')),
  tried('bridge', tcp('172.17.0.1', 80)),
  tried('metadata', tcp('169.254.169.254', 80)),
  tried('outside', tcp('1.1.1.1', 443)),
  tried('host-loopback', tcp('127.0.0.1', 22)),
  tried('relay', tcp('127.0.0.1', 8080)),
]).then((lines) => {
  const others = Object.keys(os.networkInterfaces()).filter((name) => name !== 'lo');
  console.log([...lines, 'interfaces ' + others.join()].join('\\n'));
});
`;
const look = { tool: 'run', input: { command: `node -e '${PROBE.replaceAll("'", '"')}'` } };

/** The suite looks around as well: whatever it reaches fails the test that the oracle must pass. */
const SUITE_LOOKS = `${SUITE}
import net from 'node:net';
import os from 'node:os';
import dns from 'node:dns/promises';
const reach = (host, port) => new Promise((resolve) => {
  const socket = net.connect({ host, port, timeout: 2000 }, () => resolve(true));
  socket.on('error', () => resolve(false)).on('timeout', () => { socket.destroy(); resolve(false); });
});
test('alone', async () => {
  assert.deepEqual(Object.keys(os.networkInterfaces()).filter((name) => name !== 'lo'), []);
  assert.equal(await dns.lookup('example.org').then(() => true, () => false), false);
  for (const [host, port] of [['172.17.0.1', 80], ['1.1.1.1', 443], ['127.0.0.1', 8080]])
    assert.equal(await reach(host, port), false);
});
`;

const STUDY: Case = { name: 'twice', arms: ['none', 'memory'], informed: [look, ...SOLVE] };
const ALONE: Case = { ...STUDY, name: 'alone', suite: SUITE_LOOKS, tests: [{ id: 'alone', tag: 'func' }] };

interface Done {
  readonly lab: Lab;
  readonly runs: readonly { readonly arm: string; readonly epoch: number; readonly receipt: Receipt }[];
}

/** A store of its own with both challenges; runs the first. No study may rest on a suite that looks around and is not alone. */
async function openDone(t: Test, executor: 'none' | 'docker'): Promise<Done> {
  const root = labFolder();
  t.teardown(() => removeLab(root));
  const alone = { ...ALONE, unregistered: executor === 'none' };
  const lab = await makeLab(root, { cases: [STUDY, alone], executor, validated: true });
  t.teardown(lab.close);
  return { lab, runs: await runsOf(lab, 'twice') };
}

async function runsOf({ store, engine, trigger, study }: Lab, name: string): Promise<Done['runs']> {
  const runs = [];
  for (const { arm, epoch, receipt } of await runPending(store, engine, trigger, { family: study(name) }))
    runs.push({ arm, epoch, receipt: await viewAs('receipt', receipt, viewOf(store)) });
  return runs;
}

const outcomes = ({ runs }: Done) =>
  runs
    .map(({ arm, epoch, receipt }) => {
      const { status, verdict, before, after, prebuild } = receipt;
      return { arm, epoch, status, reward: verdict?.reward, byTag: verdict?.byTag, before, after, prebuild };
    })
    .sort((a, b) => `${a.arm}${a.epoch}`.localeCompare(`${b.arm}${b.epoch}`));

async function native(lab: Lab, receipt: Receipt, name: string): Promise<string> {
  const found = receipt.natives.find((each) => each.name === name);
  const cid = cidFromDigest('raw', digestOfEvidence(found?.bytes as never));
  return Buffer.from(await lab.store.get(cid)).toString('utf8');
}

t.test('two studies that differ in isolation and images', async (t) => {
  const plain = await openDone(t, 'none');
  const boxed = await openDone(t, 'docker');
  t.same(outcomes(boxed), outcomes(plain), 'equal snapshots, before and after, and equal outcomes');
  t.same(
    outcomes(boxed).map(({ arm, reward }) => `${arm} ${reward}`),
    ['memory 1', 'none 0'],
  );
  await sameButIsolation(t, plain.lab, boxed.lab);

  const { lab, runs } = boxed;
  const receipt = runs.find(({ arm }) => arm === 'memory')?.receipt as Receipt;
  const session = await native(lab, receipt, '.agent/session.jsonl');
  for (const name of ['dns', 'bridge', 'metadata', 'outside', 'host-loopback'])
    t.match(session, new RegExp(`${name} (?!REACHED)[A-Z_]+`), `${name} is out of reach`);
  t.match(session, /relay REACHED/);
  t.match(session, /interfaces \\n/, 'no interface but loopback');

  const family = lab.study('twice');
  const by = { who: 'a test', why: 'every plan is done' };
  const decided = await admitEligible(lab.store, family, { ...by, outcomesVisible: false });
  t.same(new Set(decided.map(({ decision }) => decision)), new Set(['admitted']), 'every run is eligible');
  const release = await publish(lab.store, lab.trigger, await closeFamily(lab.store, family, by));
  await writeRelease(lab.store, release, join(lab.root, 'release'));
  t.same((await verify(await openFolder(join(lab.root, 'release')))).faults, []);
  await t.test('the verifier reaches nothing', async (t) => {
    const memory = (await runsOf(lab, 'alone')).find(({ arm }) => arm === 'memory');
    t.match(memory?.receipt.verdict, { reward: 1, reason: 'all-passed' });
  });
});

async function sameButIsolation(t: Test, plain: Lab, boxed: Lab): Promise<void> {
  const read = async ({ store, study }: Lab) => viewAs('study', study('twice'), viewOf(store));
  const [a, b] = [await read(plain), await read(boxed)];
  const { isolation, images, validations, ...rest } = b;
  const { isolation: _, images: none, validations: __, ...others } = a;
  t.same(rest, others, 'nothing else');
  t.equal(isolation, 'docker');
  t.same(none, {});
  t.same(Object.keys(images), ['node']);
  t.ok(validations.length > 0);
  const config = cidFromDigest('raw', digestOfEvidence(images.node as never));
  t.ok(await boxed.store.has(config), 'the image is in the store');
}
