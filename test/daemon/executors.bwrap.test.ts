/**
 * The executor over bubblewrap, and what it promises beyond the common contract.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openBwrap } from '../../daemon/executors/bwrap.ts';
import { executorSuite } from '../suite/executor.ts';
import { memoryBlocks, putSnapshot } from '../suite/memory.ts';
import { subject } from './executors/bwrap.ts';
import { diesWithTheDaemon } from './executors/owner.ts';

// Run alone, tap allows a file 30 s; these start dozens of sandboxes.
t.setTimeout(600_000);

const LIMITS = { cpus: 1, memoryMb: 512, pids: 64 };
const COMMAND = { env: {}, timeoutSeconds: 60, maxOutputBytes: 1 << 20 };

function scratch(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'scratch-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(t: Test, options: { bwrap?: string; hide?: string[] }) {
  const executor = openBwrap({ folder: scratch(t), ...options });
  t.teardown(() => executor.close());
  const { reader, emit } = memoryBlocks();
  const workspace = await putSnapshot({}, emit);
  return executor.open({ owner: 'o', token: 't', limits: LIMITS, workspace, reader });
}

t.test('bwrap keeps the contract of executors', (t) => executorSuite(t, subject));

t.test('SIGKILL of the daemon ends everything inside at once, before anybody reaps', (t) =>
  diesWithTheDaemon(t, 'bwrap', 0, (folder) => openBwrap({ folder: join(folder, 'bwrap') })),
);

t.test(
  "a bubblewrap that is not there, or cannot make its sandbox, is our fault and not the program's",
  async (t) => {
    const executor = openBwrap({ folder: scratch(t), bwrap: '/no/such/bwrap' });
    await t.rejects(executor.describe(), { code: 'E_EXECUTOR' });
    t.match(await openBwrap({ folder: scratch(t) }).describe(), { bwrap: /^bubblewrap / });
    for (const bwrap of ['/no/such/bwrap', '/bin/false']) {
      const sandbox = await open(t, { bwrap });
      await t.rejects(sandbox.run({ ...COMMAND, argv: ['true'] }), { code: 'E_EXECUTOR' }, bwrap);
    }
    const sandbox = await open(t, {});
    await t.rejects(sandbox.run({ ...COMMAND, argv: ['true'], relaySocket: '/no/such/socket' }), {
      code: 'E_EXECUTOR',
    });
    t.match(await sandbox.run({ ...COMMAND, argv: ['true'] }), { exit: 0 });
  },
);

t.test('what is hidden below /usr is an empty folder inside', async (t) => {
  const folder = '/usr/share';
  const list = async (sandbox: Awaited<ReturnType<typeof open>>) =>
    Buffer.from((await sandbox.run({ ...COMMAND, argv: ['ls', folder] })).stdout).toString();
  t.not(await list(await open(t, {})), '');
  t.equal(await list(await open(t, { hide: [folder] })), '');
});
