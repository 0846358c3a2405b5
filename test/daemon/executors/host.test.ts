/**
 * What the executors of this host promise beyond the common contract: death of the daemon, entries without
 * permissions, and a host that lacks what is needed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { openBwrap } from '../../../daemon/executors/bwrap.ts';
import { openNone } from '../../../daemon/executors/none.ts';
import { openExecutor } from '../../../daemon/executors/open.ts';
import { listProcesses, readProcess } from '../../../daemon/executors/procs.ts';
import { usedFolder } from '../../../daemon/executors/used-folder.ts';
import { random } from '../../../store/format/crypto.ts';
import { memoryBlocks, putSnapshot, putTree } from '../../suite/memory.ts';

t.setTimeout(600_000);

function scratch(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'host-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function withArgument(mark: string): number {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(mark);
    } catch {
      return false;
    }
  }).length;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20);
}

for (const name of ['none', 'bwrap'] as const) {
  t.test(`${name}: SIGKILL of the daemon ends the program at once, before anybody reaps`, async (t) => {
    const folder = scratch(t);
    const mark = `4${Buffer.from(random(4)).readUInt32BE()}`;
    const owner = join(import.meta.dirname, '..', '..', 'suite', 'executor-owner.js');
    const subject = join(import.meta.dirname, `${name}.js`);
    const child = spawn(process.execPath, [owner, subject, 'owner', 'token', `mark=${mark}`], {
      env: { ...process.env, SUITE_FOLDER: folder, SUITE_FOLDER_BWRAP: folder },
      stdio: 'inherit',
    });
    const ended = once(child, 'exit');
    await until(() => withArgument(mark) >= 3);
    child.kill('SIGKILL');
    await ended;
    // none: the one that left the group is for `reap`.
    const survivors = name === 'none' ? 1 : 0;
    await until(() => withArgument(mark) <= survivors);
    const executor = name === 'none' ? openNone({ folder }) : openBwrap({ folder });
    t.same(await executor.reap('owner'), ['token']);
    t.equal(withArgument(mark), 0);
  });
}

t.test(
  'a folder that was begun and has no state yet is removed when empty, and left alone when not',
  async (t) => {
    const folder = scratch(t);
    mkdirSync(join(folder, 'none', 'empty'), { recursive: true });
    mkdirSync(join(folder, 'none', 'strange', 'thing'), { recursive: true });
    const executor = await openExecutor('none', { folder });
    t.same(await executor.reap('owner'), []);
    t.same(readdirSync(join(folder, 'none')), ['strange']);
  },
);

t.test('a recorded pid that another process has now is not killed', async (t) => {
  const folder = scratch(t);
  const bystander = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  t.teardown(() => bystander.kill('SIGKILL'));
  await once(bystander, 'spawn');
  const pid = bystander.pid ?? 0;
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const start = (readProcess(pid)?.start ?? 0) - 1;
  for (const state of [
    { owner: 'owner', token: 'other start', boot, leaders: [{ pid, start }] },
    { owner: 'owner', token: 'other boot', boot: 'x', leaders: [{ pid, start: start + 1 }] },
  ]) {
    mkdirSync(join(folder, 'none', 'sandbox'), { recursive: true });
    writeFileSync(join(folder, 'none', 'sandbox', 'state.json'), JSON.stringify(state));
    t.same(await (await openExecutor('none', { folder })).reap('owner'), [state.token]);
    t.ok(listProcesses().some((process) => process.pid === pid));
  }
});

t.test('what its owner may not read is read, and keeps its mode', async (t) => {
  const { emit } = memoryBlocks();
  const folder = scratch(t);
  const locked = join(folder, 'locked');
  mkdirSync(join(locked, 'inner'), { recursive: true });
  writeFileSync(join(locked, 'inner', 'f'), 'f', { mode: 0o200 });
  for (const path of [join(locked, 'inner'), locked]) chmodSync(path, 0o000);
  const wanted = {
    locked: { dir: { inner: { dir: { f: { file: 'f', mode: 0o200 } }, mode: 0 } }, mode: 0 },
  };
  const asOther = process.getuid?.() === 0 ? unprivileged(folder) : () => undefined;
  t.equal(await usedFolder(folder, emit), await putTree(wanted, emit));
  t.equal(await usedFolder(folder, emit), await putTree(wanted, emit), 'and again: the modes stand');
  asOther();
});

/** Makes this process an ordinary user who owns the folder, until the answer is called. */
function unprivileged(folder: string): () => void {
  const nobody = 65534;
  for (const path of ['.', 'locked', 'locked/inner', 'locked/inner/f'])
    chownSync(join(folder, path), nobody, nobody);
  process.seteuid?.(nobody);
  return () => process.seteuid?.(0);
}

t.test('without bubblewrap the fault says so', async (t) => {
  const executor = openBwrap({ folder: scratch(t), bwrap: '/no/such/bwrap' });
  await t.rejects(executor.describe(), { code: 'E_EXECUTOR' });
  const { reader, emit } = memoryBlocks();
  const sandbox = await executor.open({
    owner: 'o',
    token: 't',
    limits: { cpus: 1, memoryMb: 128, pids: 32 },
    workspace: await putSnapshot({}, emit),
    reader,
  });
  const command = { argv: ['true'], env: {}, timeoutSeconds: 20, maxOutputBytes: 100 };
  await t.rejects(sandbox.run(command), { code: 'E_EXECUTOR' }, 'the sandbox, not the program, failed');
  await t.rejects(sandbox.run({ ...command, argv: [] }), { code: 'E_EXECUTOR' });
  await executor.close();
});

t.test('describe names the executor and what it enforces', async (t) => {
  const folder = scratch(t);
  t.match(await (await openExecutor('none', { folder })).describe(), {
    executor: 'none',
    enforced: { network: 'no' },
  });
  t.match(await (await openExecutor('bwrap', { folder })).describe(), { bwrap: /^bubblewrap / });
});
