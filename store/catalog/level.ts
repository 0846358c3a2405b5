/**
 * The only file that knows `level`: the catalog on disk, and the lock of a store.
 * Promises: E_STORE_BUSY while another process (or this one) holds the same folder open.
 * Does not promise: honest bytes. LevelDB checks nothing on read and may lose synced keys to one flipped byte.
 */
import { Level } from 'level';
import { ioFault } from '../files.ts';
import { fail } from '../format/errors.ts';
import { endOf, type Index, type KeyRange } from './index.ts';

/** Opens the folder as an index. Throws E_STORE_BUSY, E_STORE_DAMAGED. */
export async function openLevel(path: string): Promise<Index> {
  const db = new Level<string, string>(path, { keyEncoding: 'utf8', valueEncoding: 'utf8' });
  try {
    await db.open();
  } catch (error) {
    const cause = (error as { cause?: { code?: string } }).cause;
    if (cause?.code === 'LEVEL_LOCKED') fail('E_STORE_BUSY', { where: path, cause });
    // A full or failing disk is no damage: what cannot be opened now must not be set aside.
    const text = String(cause ?? error);
    if (cause?.code === 'LEVEL_IO_ERROR' && !text.includes('No such file')) {
      const full = text.includes('No space left')
        ? { hint: 'Free some space, or open the store read-only' }
        : {};
      fail('E_IO', { where: path, found: text, cause: error, ...full });
    }
    fail('E_STORE_DAMAGED', { where: path, found: String(cause ?? error), cause: error });
  }
  return {
    get: (key) => db.getSync(key),
    batch: (ops) =>
      db
        .batch(
          ops.map(({ key, value }) =>
            value === null ? { type: 'del' as const, key } : { type: 'put' as const, key, value },
          ),
        )
        .catch((error: unknown) => ioFault(error, path)),
    range: (range) => rows(db, range),
    clear: () => db.clear(),
    close: () => db.close(),
  };
}

async function* rows(db: Level<string, string>, { prefix, after, reverse, limit }: KeyRange) {
  const from = after === undefined || after < prefix ? { gte: prefix } : { gt: after };
  const options = { ...from, lt: endOf(prefix), reverse: reverse ?? false, limit: limit ?? -1 };
  for await (const [key, value] of db.iterator(options)) yield { key, value };
}
