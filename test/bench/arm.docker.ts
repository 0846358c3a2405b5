/**
 * Bench: one sandbox of the container executor, from the workspace in to the snapshot out, beside the same work done with
 * bare calls of the engine: create, put, start, wait, get, remove.
 * `node dist/test/bench/arm.docker.js` with an engine that answers. Wall clock, least of five rounds of each, taken in turn.
 * Target: at most 1.2 times. Ours makes three containers where the bare calls make one: one that holds the volumes, one
 * for each program, and one that lists what an archive leaves out (sockets), since nothing of the agent's may still run then.
 */
import { performance } from 'node:perf_hooks';
import { openDocker } from '../../daemon/executors/docker/docker.ts';
import { type ContainerSpec, openEngine } from '../../daemon/executors/docker/engine.ts';
import { loadImage, makeHostImage } from '../../daemon/executors/docker/image.ts';
import { writeTar } from '../../daemon/executors/tar.ts';
import { memoryBlocks, putSnapshot } from '../suite/memory.ts';

const ROUNDS = 5;
const FILES = 300;
const AGENT = { uid: 1000, gid: 1000 };
const LIMITS = { cpus: 1, memoryMb: 256, pids: 64 };
const PROGRAM = ['node', '-e', 'require("fs").writeFileSync("answer", "42")'];

const blocks = memoryBlocks();
const image = await makeHostImage(blocks.emit);
const content = (i: number) => `file ${i}\n`.repeat(200);
const plan = Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`f${i}`, { file: content(i) }]));
const workspace = await putSnapshot(plan, blocks.emit);
const engine = openEngine();
await loadImage(engine, blocks.reader, image);
const executor = openDocker();

async function ours(): Promise<void> {
  const sandbox = await executor.open({
    owner: 'bench',
    token: 'bench',
    image,
    limits: LIMITS,
    workspace,
    reader: blocks.reader,
  });
  const command = { argv: PROGRAM, env: {}, timeoutSeconds: 60, maxOutputBytes: 1 << 20 };
  const { exit } = await sandbox.run(command);
  if (exit !== 0) throw new Error(`the program ended with ${exit}`);
  await sandbox.snapshot(blocks.emit);
  await sandbox.close();
}

const BARE: ContainerSpec = {
  image: image.configDigest,
  argv: PROGRAM,
  env: ['PATH=/usr/local/bin:/usr/bin:/bin'],
  unset: [],
  user: '1000:1000',
  cwd: '/workspace',
  hostname: 'bench',
  network: 'none',
  mounts: [],
  tmpfs: {},
  capabilities: [],
  labels: {},
  stdin: false,
  readOnlyRoot: false,
  limits: LIMITS,
};

async function* files() {
  yield { path: Buffer.from('workspace'), type: 'dir', mode: 0o755, ...AGENT } as const;
  for (let i = 0; i < FILES; i++) {
    const body = Buffer.from(content(i));
    const path = Buffer.from(`workspace/f${i}`);
    yield { path, type: 'file', mode: 0o644, size: body.length, body: [body], ...AGENT } as const;
  }
}

async function bare(): Promise<void> {
  const id = await engine.create(BARE);
  await engine.putArchive(id, writeTar(files()));
  await engine.start(id);
  await engine.wait(id);
  for await (const _ of await engine.getArchive(id, '/workspace'));
  await engine.remove(id);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

let [a, b] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
for (let round = 0; round < ROUNDS; round++) {
  a = Math.min(a, await timed(ours));
  b = Math.min(b, await timed(bare));
}
await executor.close();
const ratio = (a / b).toFixed(2);
console.log(
  `one sandbox of ${FILES} files: ${a.toFixed(0)} ms, bare calls ${b.toFixed(0)} ms, ratio ${ratio} (target <= 1.2)`,
);
