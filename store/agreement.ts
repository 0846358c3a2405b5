/**
 * Whether catalog and logs say the same, before anything is entered from one into the other.
 * Promises: a catalog that lost rows is found out by the newest leaves (LevelDB loses the newest keys first); a leaf that
 * is not what was entered is never entered: its log is set aside with a fault.
 * Does not promise: finding an old row that is missing; `ashlar check` compares all of them.
 */
import type { Catalog } from './catalog/catalog.ts';
import { damaged } from './damage.ts';
import { type AshlarError, isFault } from './format/errors.ts';
import type { Log } from './log/log.ts';
import type { LogSet } from './log/logs.ts';

/** How many of the newest leaves of each log are looked up in the catalog at start-up. */
const SAMPLE = 1024;

/** Whether the catalog knows the newest leaves that it says it has seen. O(1024). */
export function agrees(catalog: Catalog, logs: LogSet): boolean {
  return logs.all().every((log) => knowsNewest(catalog, log));
}

function knowsNewest(catalog: Catalog, log: Log): boolean {
  const { count } = catalog.seen(log.name);
  if (count > log.size()) return false;
  const from = Math.max(0, count - SAMPLE);
  if (count === from) return true;
  const offset = catalog.offset(log.name, from);
  if (offset === null) return false;
  for (const line of log.lines({ count: from, offset })) {
    if (line.index >= count) break;
    const known = line.leaf !== null && catalog.standing(line.leaf.cid) !== null;
    // A leaf that is damaged says nothing against the catalog, which has it as it was.
    if (!known && log.holds(line)) return false;
  }
  return true;
}

/** Sets aside every log with a damaged leaf that the catalog does not have. O(new leaves). */
export async function setAsideLossy(catalog: Catalog, logs: LogSet): Promise<void> {
  for (const log of logs.all()) {
    const fault = await lossOf(catalog, log);
    if (fault !== null) logs.setAside(log, fault);
  }
}

async function lossOf(catalog: Catalog, log: Log): Promise<AshlarError | null> {
  try {
    for (const line of log.lines(catalog.seen(log.name))) {
      if (log.holds(line)) continue;
      // It may be the hash that is wrong: this look finds out and puts it right.
      await log.sound();
      if (!log.holds(line))
        damaged(`logs/${log.name}/leaves`, `leaf ${line.index} as it was entered`, 'other bytes');
    }
    return null;
  } catch (error) {
    if (!isFault(error)) throw error;
    return error;
  }
}
