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
import t, { type Test } from 'tap';
import { openNone } from '../../../daemon/executors/none.ts';
import { openExecutor } from '../../../daemon/executors/open.ts';
import { listProcesses, readProcess } from '../../../daemon/executors/procs.ts';
import { usedFolder } from '../../../daemon/executors/used-folder.ts';
import { memoryBlocks, putTree } from '../../suite/memory.ts';
import { diesWithTheDaemon } from './owner.ts';

t.setTimeout(600_000);

function scratch(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'host-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

t.test('SIGKILL of the daemon ends the group at once; who left it is for reap', (t) =>
  diesWithTheDaemon(t, 'none', 1, (folder) => openNone({ folder: join(folder, 'none') })),
);

t.test('a folder without state is removed when empty and left alone when not', async (t) => {
  const folder = scratch(t);
  mkdirSync(join(folder, 'plain', 'empty'), { recursive: true });
  mkdirSync(join(folder, 'plain', 'strange', 'thing'), { recursive: true });
  const executor = await openExecutor('none', { folder });
  t.same(await executor.reap('owner'), []);
  t.same(readdirSync(join(folder, 'plain')), ['strange']);
});

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
    mkdirSync(join(folder, 'plain', 'sandbox'), { recursive: true });
    writeFileSync(join(folder, 'plain', 'sandbox', 'state.json'), JSON.stringify(state));
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

t.test('describe names the executor and what it enforces', async (t) => {
  const folder = scratch(t);
  t.match(await (await openExecutor('none', { folder })).describe(), {
    executor: 'none',
    enforced: { network: 'no' },
  });
  t.equal((await openExecutor('bwrap', { folder })).name, 'bwrap');
  t.equal((await openExecutor('docker', { folder })).name, 'docker');
});
