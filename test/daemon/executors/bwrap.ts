/** The executor `bwrap` as a subject of the suite. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBwrap } from '../../../daemon/executors/bwrap.ts';
import type { Subject } from '../../suite/executor.ts';

// One folder for this process, which removes it, and for the second one of the suite, which inherits the variable.
const inherited = process.env.SUITE_FOLDER;
const folder = join(inherited ?? mkdtempSync(join(tmpdir(), 'suite-')), 'bwrap');
if (inherited === undefined) {
  process.env.SUITE_FOLDER = dirname(folder);
  process.once('exit', () => rmSync(dirname(folder), { recursive: true, force: true }));
}

export const subject: Subject = {
  async open() {
    mkdirSync(folder, { recursive: true });
    return { executor: openBwrap({ folder }) };
  },
  module: fileURLToPath(import.meta.url),
  isolated: true,
  leftovers: async () => readdirSync(folder).filter((name) => name !== 'etc'),
};
