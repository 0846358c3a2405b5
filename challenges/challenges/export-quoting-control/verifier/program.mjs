/** Asks the program in the workspace, as a child process: nothing of it is ever imported here. */
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const workspace = process.env.ASHLAR_WORKSPACE ?? process.cwd();
const asked = new Map();

/** Sends requests and gives the replies; throws where there is not exactly one JSON reply a request. */
export function ask(...requests) {
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  if (!asked.has(input)) asked.set(input, run(input));
  const { status, signal, stdout } = asked.get(input);
  if (status !== 0) throw new Error(`the program ended with ${status ?? signal}`);
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (lines.length !== requests.length)
    throw new Error(`${requests.length} requests, ${lines.length} replies`);
  return lines.map((line) => JSON.parse(line));
}

function run(input) {
  return spawnSync(process.execPath, [join(workspace, 'bin/quayside.mjs')], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '' },
    input,
    encoding: 'utf8',
    timeout: 10_000,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 20,
  });
}
