/**
 * The index behind the catalog: an ordered map of short strings. On disk it is LevelDB (level.ts), on a read-only
 * mount it lives in memory.
 * Promises: `get` sees every batch that resolved; ranges are in key order.
 * Does not promise: truth. Whatever is in here can be rebuilt from segments and logs, and is never a witness.
 */

export interface Op {
  readonly key: string;
  /** null removes. */
  readonly value: string | null;
}

export interface KeyRange {
  /** Keys that start with this. */
  readonly prefix: string;
  /** Only keys after this one. */
  readonly after?: string;
  readonly reverse?: boolean;
  readonly limit?: number;
}

export interface Row {
  readonly key: string;
  readonly value: string;
}

export interface Index {
  get(key: string): string | undefined;
  /** All or nothing. */
  batch(ops: readonly Op[]): Promise<void>;
  range(range: KeyRange): AsyncIterable<Row>;
  /** Number of keys up to their first slash. */
  count(prefix: string): Promise<number>;
  clear(): Promise<void>;
  close(): Promise<void>;
  /** Whether a row was met that nobody wrote so: all of it is to be made again. */
  damaged(): boolean;
}

/** The first string after all strings that start with `prefix` (keys are ASCII). */
export const endOf = (prefix: string): string => `${prefix}\x7f`;

interface Group {
  readonly rows: Map<string, string>;
  /** Its keys in order, once somebody asked; null when they changed since. */
  sorted: string[] | null;
}

/** Every prefix that is asked for begins with one of these. */
const groupOf = (key: string): string => key.slice(0, key.indexOf('/') + 1);

/** An index in memory: the whole catalog of a store that cannot be written. */
export function memoryIndex(): Index {
  const groups = new Map<string, Group>();
  const group = (key: string): Group => {
    const name = groupOf(key);
    const known = groups.get(name);
    if (known !== undefined) return known;
    const made: Group = { rows: new Map(), sorted: null };
    groups.set(name, made);
    return made;
  };
  return {
    get: (key) => groups.get(groupOf(key))?.rows.get(key),
    async batch(ops) {
      for (const { key, value } of ops) enter(group(key), key, value);
    },
    async *range(range) {
      const found = group(range.prefix);
      found.sorted ??= [...found.rows.keys()].sort();
      for (const key of selected(found.sorted, range)) yield { key, value: found.rows.get(key) as string };
    },
    count: async (prefix) => group(prefix).rows.size,
    clear: async () => groups.clear(),
    close: async () => undefined,
    damaged: () => false,
  };
}

function enter(group: Group, key: string, value: string | null): void {
  if (value === null ? group.rows.delete(key) : !group.rows.has(key)) group.sorted = null;
  if (value !== null) group.rows.set(key, value);
}

function selected(keys: readonly string[], { prefix, after, reverse, limit }: KeyRange): readonly string[] {
  const start = lowerBound(keys, after === undefined ? prefix : `${after}\0`);
  const found = keys.slice(Math.max(start, lowerBound(keys, prefix)), lowerBound(keys, endOf(prefix)));
  if (reverse === true) found.reverse();
  return limit === undefined ? found : found.slice(0, limit);
}

function lowerBound(keys: readonly string[], wanted: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
