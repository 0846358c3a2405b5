/**
 * Opening every log for a look, whatever its state.
 * Promises: leaves, hashes, signature and size of each log are held against each other; a log that contradicts its
 * checkpoint is named and left out of what follows.
 * Does not promise: the records behind the leaves (check.ts replays them).
 */

import type { OnFault } from '../faults.ts';
import { type Files, readWhole } from '../files.ts';
import { isCid } from '../format/cid.ts';
import { isFault } from '../format/errors.ts';
import { leafHash, openFrontier } from '../format/merkle.ts';
import type { Layout } from '../keys.ts';
import { type Log, openLog, readLine } from '../log/log.ts';

export async function checkLogs(files: Files, layout: Layout, onFault: OnFault): Promise<readonly Log[]> {
  const logs: Log[] = [];
  for (const name of files.list(layout.logs)) {
    const log = await checkLog(files, layout, name, onFault);
    if (log !== null) logs.push(log);
  }
  return logs;
}

async function checkLog(files: Files, layout: Layout, name: string, onFault: OnFault): Promise<Log | null> {
  const where = `logs/${name}`;
  const origin = readLine(files, layout.log(name).origin);
  if (origin === null) return null;
  const last = origin.slice(origin.lastIndexOf('/') + 1);
  const family = isCid(last) ? last : null;
  const from = { count: 0, offset: 0 };
  try {
    const log = await openLog({ files, layout, name, family, key: null, writable: false, from, onFault });
    checkHashes(files, layout, log, onFault);
    return log;
  } catch (error) {
    if (!isFault(error)) throw error;
    const kind =
      error.code === 'E_LOG_ROLLBACK' ? 'rollback' : error.code === 'E_SIGNATURE' ? 'signature' : 'damaged';
    onFault({ kind, where, found: error.message });
    return null;
  }
}

/** The stored hashes are those of the leaves, every one. */
function checkHashes(files: Files, layout: Layout, log: Log, onFault: OnFault): void {
  const wanted: Uint8Array[] = [];
  const frontier = openFrontier();
  for (const { bytes } of log.lines({ count: 0, offset: 0 }))
    frontier.append(leafHash(bytes), (_level, _index, hash) => wanted.push(hash));
  const found = readWhole(files, layout.log(log.name).hashes) ?? new Uint8Array();
  const at = wanted.findIndex((hash, i) => Buffer.compare(hash, found.subarray(32 * i, 32 * i + 32)) !== 0);
  if (at >= 0)
    onFault({
      kind: 'disagree',
      where: `logs/${log.name}/hashes`,
      wanted: 'the hashes of its leaves',
      found: `another at ${at}`,
    });
}
