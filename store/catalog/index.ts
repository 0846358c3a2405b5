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
  clear(): Promise<void>;
  close(): Promise<void>;
  /** Whether a row was met that nobody wrote so: all of it is to be made again. */
  damaged(): boolean;
}

/** The first string after all strings that start with `prefix` (keys are ASCII). */
export const endOf = (prefix: string): string => `${prefix}\x7f`;

/** An index in memory: the whole catalog of a store that cannot be written. */
export function memoryIndex(): Index {
  const rows = new Map<string, string>();
  let sorted: string[] | null = null;
  const keys = (): string[] => {
    sorted ??= [...rows.keys()].sort();
    return sorted;
  };
  return {
    get: (key) => rows.get(key),
    async batch(ops) {
      for (const { key, value } of ops) {
        if (value === null ? rows.delete(key) : !rows.has(key)) sorted = null;
        if (value !== null) rows.set(key, value);
      }
    },
    async *range(range) {
      for (const key of selected(keys(), range)) yield { key, value: rows.get(key) as string };
    },
    async clear() {
      rows.clear();
      sorted = null;
    },
    close: async () => undefined,
    damaged: () => false,
  };
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
