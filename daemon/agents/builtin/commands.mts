/** Commands of the shell, and the end of everything that they start. */
import { spawn } from 'node:child_process';
import { env } from 'node:process';
import type { Readable } from 'node:stream';
import { collector } from './output.mts';
import type { Limits } from './turn.mts';

/**
 * The shell runs in a group of its own. Its companion waits for the end of descriptor 3, which comes when the command
 * is over or this process dies, and then ends the whole group: nothing of a command outlives it.
 */
const SHELL = '{ read -r _ <&3; kill -9 0; } >/dev/null 2>&1 & exec 3<&- 2>&1; eval "$1"';
/** Milliseconds to wait for output that someone else still holds open. */
const DRAIN = 1000;

/** Output and exit status. Rejects where no shell starts. */
export function runCommand(command: string, root: string, limits: Limits): Promise<string> {
  const started = spawn('/bin/sh', ['-c', SHELL, 'sh', command], {
    cwd: root,
    detached: true,
    env: commandEnv(root),
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const output = collector(limits.outputBytes);
  const out = started.stdout as Readable;
  out.on('data', output.add);
  let late = false;
  const deadline = setTimeout(() => {
    late = true;
    endGroup(started.pid);
  }, limits.commandSeconds * 1000);
  return new Promise((resolve, reject) => {
    started.on('error', reject);
    started.on('exit', (status, signal) => {
      clearTimeout(deadline);
      started.stdio[3]?.destroy();
      const say = () => {
        out.destroy();
        const how = late
          ? `stopped after ${limits.commandSeconds} s`
          : signal === null
            ? `exit ${status}`
            : signal;
        resolve(`${output.text()}\n[${how}]`);
      };
      const waited = setTimeout(say, DRAIN);
      out.on('close', () => {
        clearTimeout(waited);
        say();
      });
    });
  });
}

/** Nothing of ours but where things are. */
function commandEnv(root: string): Record<string, string> {
  const { PATH = '/usr/bin:/bin', HOME = root, TMPDIR = '/tmp', TZ = 'UTC' } = env;
  return { PATH, HOME, TMPDIR, TZ, LANG: 'C.UTF-8' };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
