/** The executor `none` as a subject of the suite. */
import { mkdirSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openNone } from '../../../daemon/executors/none.ts';
import type { Subject } from '../../suite/executor.ts';

// One folder for this process and the second one of the suite, which inherits the variable.
process.env.SUITE_FOLDER ??= join(tmpdir(), `suite-${process.pid}-${process.hrtime.bigint()}`);
const folder = process.env.SUITE_FOLDER;

export const subject: Subject = {
  async open() {
    mkdirSync(folder, { recursive: true });
    return { executor: openNone({ folder }) };
  },
  module: fileURLToPath(import.meta.url),
  isolated: false,
  leftovers: async () => readdirSync(folder),
};
