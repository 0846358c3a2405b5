/** The executor `bwrap` as a subject of the suite. */
import { mkdirSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBwrap } from '../../../daemon/executors/bwrap.ts';
import type { Subject } from '../../suite/executor.ts';

process.env.SUITE_FOLDER_BWRAP ??= join(tmpdir(), `suite-${process.pid}-${process.hrtime.bigint()}`);
const folder = process.env.SUITE_FOLDER_BWRAP;

export const subject: Subject = {
  async open() {
    mkdirSync(folder, { recursive: true });
    return { executor: openBwrap({ folder }) };
  },
  module: fileURLToPath(import.meta.url),
  isolated: true,
  leftovers: async () => readdirSync(folder).filter((name) => name !== 'etc'),
};
