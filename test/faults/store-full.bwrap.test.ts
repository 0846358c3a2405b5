/** A store on a disk that is really full: a file system of a few MiB in memory, which bubblewrap mounts for one process. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

t.setTimeout(280_000);

t.test(
  'a full disk costs what was not acknowledged and nothing else; with room again all goes on',
  async (t) => {
    const base = mkdtempSync(join(tmpdir(), 'ashlar-full-'));
    t.teardown(() => rmSync(base, { recursive: true, force: true }));
    const small = join(base, 'small');
    mkdirSync(small);
    const child = fileURLToPath(new URL('./store-full-child.js', import.meta.url));
    const mount = ['--dev-bind', '/', '/', '--size', String(12 << 20), '--tmpfs', small];
    const { stdout, stderr, status } = spawnSync('bwrap', [...mount, process.execPath, child, small], {
      encoding: 'utf8',
    });
    t.equal(status, 0, stderr);
    const { faults, wrong } = JSON.parse(stdout) as { faults: string[]; wrong: string[] };
    t.same(wrong, []);
    t.same([...new Set(faults)], ['E_IO'], 'each fault is the disk');
    t.ok(faults.length > 20, `${faults.length} of them`);
  },
);
