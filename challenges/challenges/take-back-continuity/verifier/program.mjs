/** Asks the program in the workspace, as a child process: nothing of it is ever imported here. */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const workspace = process.env.ASHLAR_WORKSPACE ?? process.cwd();

/** Sends requests and gives the replies; throws where there is not exactly one JSON reply a request. */
export function ask(...requests) {
  const child = spawnSync(process.execPath, [join(workspace, 'bin/quayside.mjs')], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '' },
    input: requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
    encoding: 'utf8',
    timeout: 10_000,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 20,
  });
  if (child.status !== 0) throw new Error(`the program ended with ${child.status ?? child.signal}`);
  const lines = child.stdout.split('\n').filter((line) => line !== '');
  if (lines.length !== requests.length)
    throw new Error(`${requests.length} requests, ${lines.length} replies`);
  return lines.map((line) => JSON.parse(line));
}
