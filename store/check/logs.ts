/**
 * Opening every log for a look, whatever its state.
 * Promises: leaves, hashes, signature and size of each log are held against each other; a log that contradicts its
 * checkpoint, or whose files do not fit each other, is named and left out of what follows.
 * Does not promise: the records behind the leaves (check.ts replays them).
 */

import type { OnFault } from '../faults.ts';
import type { Files } from '../files.ts';
import { isCid } from '../format/cid.ts';
import { type AshlarError, isFault } from '../format/errors.ts';
import { isLogName, isPulled, type Layout } from '../keys.ts';
import { type Log, openLog } from '../log/log.ts';
import { isLog } from '../log/logs.ts';
import { readLine } from '../log/state.ts';

interface State {
  readonly files: Files;
  readonly layout: Layout;
  /** The id in the marker, or null where it does not read. */
  readonly storeId: string | null;
  readonly onFault: OnFault;
}

export async function checkLogs(state: State): Promise<readonly Log[]> {
  const { files, layout, onFault } = state;
  const logs: Log[] = [];
  for (const name of files.list(layout.logs)) {
    checkNames(state, name);
    if (!isLog(files, layout, name)) continue;
    const log = await checkLog(state, name);
    if (log === null) continue;
    logs.push(log);
    if (state.storeId === null || isPulled(name) || log.origin.startsWith(`ashlar.${state.storeId}/`))
      continue;
    onFault({
      kind: 'damaged',
      where: 'ashlar.json',
      wanted: `the store id in ${log.origin}`,
      found: state.storeId,
    });
  }
  return logs;
}

const PARTS = new Set(['origin', 'leaves', 'hashes', 'checkpoint', 'vkey']);

function checkNames({ files, layout, onFault }: State, name: string): void {
  if (!isLogName(name)) onFault({ kind: 'extra', where: `logs/${name}`, found: 'no log' });
  for (const part of files.list(layout.log(name).folder))
    if (!PARTS.has(part))
      onFault({ kind: 'extra', where: `logs/${name}/${part}`, found: 'no part of a log' });
}

async function checkLog({ files, layout, onFault }: State, name: string): Promise<Log | null> {
  const where = `logs/${name}`;
  if (files.size(layout.log(name).hashes) === null)
    onFault({
      kind: 'missing',
      where: `${where}/hashes`,
      wanted: 'the hashes of its leaves',
      found: 'nothing',
    });
  const origin = readLine(files, layout.log(name).origin) ?? '';
  const last = origin.slice(origin.lastIndexOf('/') + 1);
  const family = isCid(last) ? last : null;
  const from = { count: 0, offset: 0 };
  let log: Log | null = null;
  try {
    log = await openLog({ files, layout, name, family, key: null, writable: false, from, onFault });
    await log.sound();
  } catch (error) {
    if (!isFault(error)) throw error;
    onFault({ kind: kindOf(error), where, found: error.message });
  }
  return log;
}

const kindOf = ({ code, cause }: AshlarError): 'rollback' | 'signature' | 'damaged' => {
  if (code === 'E_LOG_ROLLBACK') return 'rollback';
  return isFault(cause, 'E_SIGNATURE') ? 'signature' : 'damaged';
};
