/**
 * The only file that knows `level`: the catalog on disk, and the lock of a store.
 * Promises: E_STORE_BUSY while another process (or this one) holds the same folder open; a row that is not what was
 * written under its key is never handed out: E_STORE_DAMAGED, and `damaged` says so from then on.
 * Does not promise: that no row is missing. LevelDB checks nothing on read and may lose synced keys to one flipped byte.
 */
import { crc32 } from 'node:zlib';
import { Level } from 'level';
import { ioFault } from '../files.ts';
import { fail } from '../format/errors.ts';
import { endOf, type Index, type KeyRange } from './index.ts';

type Db = Level<string, string>;

/** Opens the folder as an index. Throws E_STORE_BUSY, E_STORE_DAMAGED, E_IO. */
export async function openLevel(path: string): Promise<Index> {
  const db: Db = new Level(path, { keyEncoding: 'utf8', valueEncoding: 'utf8' });
  await openDb(db, path);
  let harmed = false;
  const bad = (found: string, cause?: unknown): never => {
    harmed = true;
    const hint = 'The catalog is made again when the store is opened next: run it again';
    return fail('E_STORE_DAMAGED', { where: path, wanted: 'rows as they were written', found, hint, cause });
  };
  const sealed = (key: string, row: string): string => open(key, row) ?? bad(`another row at ${key}`);
  return {
    get(key) {
      const row = attempt(() => db.getSync(key), bad);
      return row === undefined ? undefined : sealed(key, row);
    },
    batch: (ops) =>
      db
        .batch(
          ops.map(({ key, value }) =>
            value === null
              ? { type: 'del' as const, key }
              : { type: 'put' as const, key, value: seal(key, value) },
          ),
        )
        .catch((error: unknown) => ioFault(error, path)),
    async *range(range) {
      const rows = db.iterator(bounds(range));
      try {
        for (let page = await nextPage(rows, bad); page.length > 0; page = await nextPage(rows, bad))
          for (const [key, row] of page) yield { key, value: sealed(key, row) };
      } finally {
        await rows.close();
      }
    },
    async count(prefix) {
      let count = 0;
      for await (const _ of db.keys(bounds({ prefix }))) count++;
      return count;
    },
    clear: () => db.clear(),
    close: () => db.close(),
    damaged: () => harmed,
  };
}

async function openDb(db: Db, path: string): Promise<void> {
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
    fail('E_STORE_DAMAGED', { where: path, found: text, cause: error });
  }
}

const CHECK = 8;

/** The value behind a check over key and value. */
const seal = (key: string, value: string): string => checkOf(key, value) + value;

const checkOf = (key: string, value: string): string =>
  crc32(`${key}\n${value}`).toString(16).padStart(CHECK, '0');

/** The value of a sealed row, or null where the check does not fit. */
function open(key: string, row: string): string | null {
  const value = row.slice(CHECK);
  return row.startsWith(checkOf(key, value)) ? value : null;
}

function attempt<T>(read: () => T, bad: (found: string, cause: unknown) => never): T {
  try {
    return read();
  } catch (error) {
    return bad(String(error), error);
  }
}

/** Rows fetched at once: a promise for each would cost more than the row. */
const PAGE = 512;

async function nextPage(
  rows: { nextv(size: number): Promise<[string, string][]> },
  bad: (found: string, cause: unknown) => never,
): Promise<readonly [string, string][]> {
  try {
    return await rows.nextv(PAGE);
  } catch (error) {
    return bad(String(error), error);
  }
}

function bounds({ prefix, after, reverse, limit }: KeyRange) {
  const from = after === undefined || after < prefix ? { gte: prefix } : { gt: after };
  return { ...from, lt: endOf(prefix), reverse: reverse ?? false, limit: limit ?? -1 };
}
