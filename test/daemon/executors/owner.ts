/** What becomes of a program whose daemon was killed, asked of the executors of this host. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Executor } from '../../../daemon/executors/executor.ts';
import { random } from '../../../store/format/crypto.ts';

/** Kills a second process that owns a sandbox; at most `survivors` may live until `reap` ends them. */
export async function diesWithTheDaemon(
  t: Test,
  name: 'none' | 'bwrap',
  survivors: number,
  open: (folder: string) => Executor,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'scratch-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const mark = `4${Buffer.from(random(4)).readUInt32BE()}`;
  const owner = join(import.meta.dirname, '..', '..', 'suite', 'executor-owner.js');
  const subject = join(import.meta.dirname, `${name}.js`);
  const child = spawn(process.execPath, [owner, subject, 'owner', 'token', `mark=${mark}`], {
    env: { ...process.env, SUITE_FOLDER: folder },
    stdio: 'inherit',
  });
  const ended = once(child, 'exit');
  while (withArgument(mark) < 3) await sleep(20);
  child.kill('SIGKILL');
  await ended;
  while (withArgument(mark) > survivors) await sleep(20);
  t.same(await open(folder).reap('owner'), ['token']);
  t.equal(withArgument(mark), 0);
}

/** How many processes of this host have this argument. */
function withArgument(mark: string): number {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(mark);
    } catch {
      return false;
    }
  }).length;
}
