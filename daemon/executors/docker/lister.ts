/**
 * What stands in the volumes, listed from inside a fresh container: the engine's archive leaves sockets out.
 * Promises: names as bytes, no link followed, folders without permissions too. Does not promise: contents.
 */
import { fail } from '../../../store/format/errors.ts';
import { runContainer } from './container.ts';
import type { Engine, Mount } from './engine.ts';
import type { Listing } from './transfer.ts';

/** Prints per folder given: how many entries, and the sockets' paths in hexadecimal. */
const PROGRAM = `
const fs = require('node:fs');
const slash = Buffer.from('/');
const list = (root) => {
  let count = 0;
  const sockets = [];
  const walk = (at, inner) => {
    for (const name of fs.readdirSync(at, { encoding: 'buffer' })) {
      const path = Buffer.concat([at, slash, name]);
      const below = inner.length === 0 ? name : Buffer.concat([inner, slash, name]);
      const found = fs.lstatSync(path);
      count += 1;
      if (found.isDirectory()) walk(path, below);
      if (found.isSocket()) sockets.push(below.toString('hex'));
    }
  };
  walk(Buffer.from(root), Buffer.alloc(0));
  return { count, sockets };
};
console.log(JSON.stringify(process.argv.slice(1).map(list)));
`;

const TIMEOUT_SECONDS = 600;

/** One listing per mount, in order. The image must hold `node`. Throws E_EXECUTOR. */
export async function listVolumes(
  engine: Engine,
  options: { image: string; mounts: readonly Mount[]; labels: Readonly<Record<string, string>> },
): Promise<Listing[]> {
  const argv = ['node', '-e', PROGRAM, ...options.mounts.map((mount) => mount.target)];
  const running = await runContainer(
    engine,
    {
      image: options.image,
      argv,
      env: ['PATH=/usr/local/bin:/usr/bin:/bin'],
      unset: [],
      user: '0:0',
      cwd: '/',
      hostname: 'lister',
      network: 'none',
      mounts: options.mounts.map((mount) => ({ ...mount, readOnly: true })),
      tmpfs: {},
      capabilities: ['DAC_READ_SEARCH'],
      labels: options.labels,
      stdin: false,
      readOnlyRoot: true,
    },
    { argv, env: {}, timeoutSeconds: TIMEOUT_SECONDS, maxOutputBytes: 1 << 30 },
  );
  const done = await running.done;
  if (done.exit !== 0) {
    fail('E_EXECUTOR', {
      where: 'lister',
      wanted: 'a listing of the volumes',
      found: `exit ${done.exit}: ${Buffer.from(done.stderr).toString('utf8').slice(0, 500)}`,
      hint: 'The image for tools must hold node.',
    });
  }
  return JSON.parse(Buffer.from(done.stdout).toString('utf8')) as Listing[];
}
