/**
 * The executor over a container engine. It needs one that answers, at DOCKER_HOST or the local socket, and fails
 * without.
 */
import t from 'tap';
import { openDocker } from '../../daemon/executors/docker/docker.ts';
import { openEngine } from '../../daemon/executors/docker/engine.ts';
import { importImage, loadImage, makeHostImage } from '../../daemon/executors/docker/image.ts';
import { digestOf, evidence } from '../../store/format/cid.ts';
import { executorSuite } from '../suite/executor.ts';
import { memoryBlocks, putSnapshot } from '../suite/memory.ts';
import { subject } from './executors/docker.ts';

// Run alone, tap allows a file 30 s; this one starts dozens of containers.
t.setTimeout(1_200_000);

t.test('docker keeps the contract of executors', (t) => executorSuite(t, subject));

const LIMITS = { cpus: 0.5, memoryMb: 128, pids: 64 };
const COMMAND = { env: {}, timeoutSeconds: 120, maxOutputBytes: 1 << 20 };

t.test('an image is loaded by digest, and one that is not what it says is refused', async (t) => {
  const blocks = memoryBlocks();
  const image = await makeHostImage(blocks.emit);
  const engine = openEngine();
  await loadImage(engine, blocks.reader, image);
  t.same((await engine.image(image.configDigest))?.layers, image.layers);
  t.same(
    await importImage(engine, image.configDigest, memoryBlocks().emit),
    image,
    'and is imported as what it is',
  );
  await t.rejects(importImage(engine, 'no/such:image', blocks.emit), { code: 'E_NOT_FOUND' });
  const other = evidence(digestOf(await blocks.emit(Buffer.from('no layer'))));
  const lies = { ...image, layers: [other] };
  await t.rejects(loadImage(engine, blocks.reader, lies), { code: 'E_EXECUTOR' });
  const config = JSON.stringify({
    os: 'linux',
    architecture: 'amd64',
    rootfs: { type: 'layers', diff_ids: [other] },
  });
  const broken = {
    configDigest: evidence(digestOf(await blocks.emit(Buffer.from(config)))),
    layers: image.layers,
  };
  await t.rejects(
    loadImage(engine, blocks.reader, broken),
    { code: 'E_EXECUTOR' },
    'layers that the config denies',
  );
  await t.rejects(loadImage(engine, memoryBlocks().reader, { ...image, configDigest: other }));
});

t.test('limits reach the kernel, the root is read-only, and an oom of a child is seen', async (t) => {
  const blocks = memoryBlocks();
  const executor = openDocker();
  t.teardown(() => executor.close());
  const image = await makeHostImage(blocks.emit);
  const workspace = await putSnapshot({ f: { file: 'f' } }, blocks.emit);
  const sandbox = await executor.open({
    owner: 'o',
    token: 't',
    image,
    limits: LIMITS,
    workspace,
    reader: blocks.reader,
  });
  const script = `cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null
    cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null; touch /x /bin/x /opt/x; stat -c '%u %a' . f`;
  const seen = await sandbox.run({ ...COMMAND, argv: ['sh', '-c', script] });
  t.equal(Buffer.from(seen.stdout).toString(), `${128 * 2 ** 20}\n64\n1000 755\n1000 644\n`);
  t.equal(
    Buffer.from(seen.stderr)
      .toString()
      .match(/Read-only file system/g)?.length,
    3,
  );
  const child = await sandbox.run({ ...COMMAND, argv: ['sh', '-c', '(tail /dev/zero); echo $?; exit 3'] });
  t.match(child, { exit: 3, oom: true, timedOut: false });
  const nowhere = await sandbox.run({ ...COMMAND, argv: ['true'], cwd: '/workspace/none' });
  t.match(nowhere, { exit: 126 });
  t.equal((await sandbox.snapshot(blocks.emit)).snapshot, workspace, 'a missing folder is not made');
});

t.test('what an image wants to add, be, or do is not done', async (t) => {
  const blocks = memoryBlocks();
  const executor = openDocker();
  t.teardown(() => executor.close());
  const host = await makeHostImage(blocks.emit);
  const config = {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    config: {
      Env: ['PATH=/nowhere', 'IMAGE_SAYS=hello'],
      Entrypoint: ['sleep', '600'],
      User: '0',
      WorkingDir: '/nowhere',
      Healthcheck: { Test: ['CMD', 'touch', '/workspace/healthy'], Interval: 1_000_000_000 },
    },
    os: 'linux',
    rootfs: { diff_ids: host.layers, type: 'layers' },
  };
  const configDigest = evidence(digestOf(await blocks.emit(Buffer.from(JSON.stringify(config)))));
  const image = { configDigest, layers: host.layers };
  const workspace = await putSnapshot({}, blocks.emit);
  const sandbox = await executor.open({
    owner: 'o',
    token: 't',
    image,
    limits: LIMITS,
    workspace,
    reader: blocks.reader,
  });
  const argv = [
    'node',
    '-e',
    'console.log(Object.keys(process.env).sort().join(), process.getuid(), process.cwd())',
  ];
  const seen = await sandbox.run({ ...COMMAND, argv });
  t.equal(Buffer.from(seen.stdout).toString(), 'HOME,PATH,TMPDIR 1000 /workspace\n');
  await sandbox.run({ ...COMMAND, argv: ['sleep', '3'] });
  t.equal((await sandbox.snapshot(blocks.emit)).snapshot, workspace, 'no health check has run');
});

t.test('a relay that cannot start is our fault, and leaves the sandbox usable', async (t) => {
  const blocks = memoryBlocks();
  const executor = openDocker();
  t.teardown(() => executor.close());
  const image = await makeHostImage(blocks.emit);
  const workspace = await putSnapshot({}, blocks.emit);
  const sandbox = await executor.open({
    owner: 'o',
    token: 't',
    image,
    limits: LIMITS,
    workspace,
    reader: blocks.reader,
  });
  await t.rejects(sandbox.run({ ...COMMAND, argv: ['true'], relaySocket: '/no/such/socket' }), {
    code: 'E_EXECUTOR',
  });
  t.match(await sandbox.run({ ...COMMAND, argv: ['true'] }), { exit: 0 });
});

t.test('without an engine or an image the fault says so', async (t) => {
  const { reader, emit } = memoryBlocks();
  const spec = { owner: 'o', token: 't', limits: LIMITS, workspace: await putSnapshot({}, emit), reader };
  await t.rejects(openDocker().open(spec), { code: 'E_EXECUTOR' });
  for (const host of ['unix:///no/such/socket', 'tcp://127.0.0.1:1']) {
    await t.rejects(openDocker({ host }).describe(), { code: 'E_EXECUTOR' });
    await t.rejects(openDocker({ host }).reap('o'), { code: 'E_EXECUTOR' });
  }
});
