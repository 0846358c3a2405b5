/** A study whose daemon is killed after every step, and what must be true whenever it starts again. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { ownerOf } from '../../daemon/engine.ts';
import { STEPS } from '../../daemon/execute/execute.ts';
import type { ExecutorName } from '../../daemon/executors/executor.ts';
import { names as namesIn, placeOf } from '../../daemon/places.ts';
import { openFolder } from '../../daemon/release/folder.ts';
import type { Ran } from '../../daemon/run.ts';
import { viewOf } from '../../daemon/view.ts';
import { attemptsOf, viewAs } from '../../rules/runs.ts';
import { verify } from '../../rules/verify/verify.ts';
import type { Cid } from '../../store/format/cid.ts';
import type { Store } from '../../store/store.ts';
import { type Case, labFolder, makeLab, openLabStore, removeLab, studyIn } from '../daemon/kit.ts';

/** A command that nobody else runs: it is looked for among all processes. */
const SLEEP = `sleep 98${process.pid}.5`;

export const KILL_CASES: readonly Case[] = [
  // One attempt a kill, and one more to end in.
  { name: 'steps', arms: ['none', 'memory'], attempts: STEPS.length + 1 },
  {
    name: 'reserved',
    plain: [{ hang: true }],
    attempts: 1,
    study: {
      prices: { currency: 'USD', inputMicros: 1_000_000, outputMicros: 1_000_000 },
      caps: { runMicros: 1_000_000, stageMicros: 1_000_000, totalMicros: 1_000_000 },
    },
  },
  { name: 'working', plain: [{ tool: 'run', input: { command: SLEEP } }, { say: 'x' }], attempts: 1 },
];

/** Reservations that nothing booked. */
export async function unbooked(store: Store): Promise<Cid[]> {
  const view = viewOf(store);
  const open: Cid[] = [];
  for (const cid of await view.byKind('ledger')) {
    const { entry } = await viewAs('ledger', cid, view);
    if (entry === 'reservation' && (await view.linkers(cid, 'ledger')).length === 0) open.push(cid);
  }
  return open;
}

interface Life {
  readonly signal: string | null;
  readonly said?: { readonly ran: readonly Ran[]; readonly lost: readonly Cid[]; readonly booked: number };
}

const CHILD = fileURLToPath(new URL('./execute-child.js', import.meta.url));

function begin(root: string, executor: string, name: string, until: string) {
  const child = spawn(execPath, [CHILD, root, executor, name, until], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, errors]: [string[], string[]] = [[], []];
  child.stdout.on('data', (chunk) => out.push(String(chunk)));
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const ended = new Promise<Life>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code !== 0 && signal === null)
        reject(new Error(`the daemon ended with ${code}: ${errors.join('')}`));
      else resolve({ signal, ...(out.length === 0 ? {} : { said: JSON.parse(out.join('')) }) });
    });
  });
  return { ended, kill: () => child.kill('SIGKILL') };
}

const live = (root: string, executor: string, name: string, until: string): Promise<Life> =>
  begin(root, executor, name, until).ended;

/** The whole test under one executor. */
export async function killTest(t: Test, executor: ExecutorName): Promise<void> {
  const root = labFolder();
  t.teardown(() => removeLab(root));
  const lab = await makeLab(root, { cases: KILL_CASES, executor, validated: true });
  const place = placeOf(ownerOf(lab.store));
  t.teardown(() => removeLab(place));
  await lab.close();
  await t.test('killed after each step', (t) => afterEachStep(t, root, executor));
  await t.test('killed between a reservation and its booking', (t) => whileReserved(t, root, executor));
  await t.test('killed while the agent works', (t) => whileWorking(t, root, executor));
  await t.test('nothing is left of any of them', async (t) => {
    t.same(processesOf(place), [], 'no process');
    for (const folder of namesIn(place)) t.same(leftIn(join(place, folder)), [], `nothing in ${folder}`);
    const store = await openLabStore(root, true);
    t.same(await duplicates(store), [], 'no record has two leaves');
    await store.close();
  });
}

async function afterEachStep(t: Test, root: string, executor: string): Promise<void> {
  const steps = STEPS.map(({ name }) => name);
  for (const [i, step] of steps.entries()) {
    const { signal } = await live(root, executor, 'steps', step);
    t.equal(signal, 'SIGKILL', `died after ${step}`);
    await standing(t, root, i + 1, step === 'receipt');
  }
  const { said } = await live(root, executor, 'steps', 'end');
  const last = steps.length;
  t.match(said, { lost: [], ran: [{ attempt: last, status: 'completed' }] }, 'the other arm of the attempt');
  t.equal(said?.ran.length, 1);
  const before = await leaves(root);
  t.match((await live(root, executor, 'steps', 'end')).said, { ran: [], lost: [], booked: 0 });
  t.same(await leaves(root), before, 'running it twice adds nothing');
  const report = await verify(await openFolder(join(root, 'release')));
  t.same(report.faults, [], 'and the release verifies');
}

/** After the n-th death: attempts 1 to n-1 are lost, and the n-th has one start, with a receipt or none. */
async function standing(t: Test, root: string, n: number, received: boolean): Promise<void> {
  const store = await openLabStore(root, true);
  const view = viewOf(store);
  const plans = await view.byKind('plan');
  const family = studyIn(root, 'steps');
  const own: Cid[] = [];
  for (const cid of plans) {
    const plan = await viewAs('plan', cid, view);
    if ('shared' in plan && plan.shared.family['/'] === family) own.push(cid);
  }
  const attempts = await attemptsOf(own[0] as Cid, view);
  t.same(
    [...attempts.keys()].sort((a, b) => a - b),
    Array.from({ length: n }, (_, i) => i + 1),
  );
  for (const [attempt, begun] of attempts) {
    const status = begun.map(({ receipt }) => receipt?.value.status ?? 'none');
    t.same(status, attempt < n ? ['lost'] : received ? ['completed'] : ['none'], `attempt ${attempt}`);
  }
  await store.close();
}

async function whileReserved(t: Test, root: string, executor: string): Promise<void> {
  t.equal((await live(root, executor, 'reserved', 'reserved')).signal, 'SIGKILL');
  const { said } = await live(root, executor, 'reserved', 'none');
  t.match(said, { ran: [], booked: 1 });
  const store = await openLabStore(root, true);
  const receipt = await viewAs('receipt', said?.lost[0] as Cid, viewOf(store));
  t.equal(receipt.status, 'lost');
  t.ok(receipt.spend.micros > 0, 'the worst case counts');
  t.same(await unbooked(store), []);
  await store.close();
}

async function whileWorking(t: Test, root: string, executor: string): Promise<void> {
  const { ended, kill } = begin(root, executor, 'working', 'none');
  // A daemon that ends by itself says why.
  t.equal(await Promise.race([until(() => running(SLEEP)), ended]), undefined);
  kill();
  t.equal((await ended).signal, 'SIGKILL');
  if (executor !== 'docker') await until(() => !running(SLEEP));
  const { said } = await live(root, executor, 'working', 'none');
  t.match(said, { ran: [], lost: [String] });
  t.notOk(running(SLEEP), 'the work of the agent is over');
}

/** Waits for something that must come; the runner's own limit ends it where it never does. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(50);
}

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((name) => {
      try {
        return [readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').join(' ').trim()];
      } catch {
        return [];
      }
    });
}

const running = (command: string): boolean => commandLines().includes(command);
const processesOf = (place: string): string[] => commandLines().filter((line) => line.includes(place));

/** `etc` is what every bwrap sandbox shares. */
const leftIn = (folder: string): string[] => namesIn(folder).filter((name) => name !== 'etc');

async function leaves(root: string): Promise<readonly string[]> {
  const store = await openLabStore(root, true);
  const all = await arrivals(store);
  await store.close();
  return all;
}

async function arrivals(store: Store): Promise<string[]> {
  const all: string[] = [];
  for await (const { cid } of store.since()) all.push(cid);
  return all.sort();
}

async function duplicates(store: Store): Promise<string[]> {
  const all = await arrivals(store);
  return all.filter((cid, i) => cid === all[i + 1]);
}
