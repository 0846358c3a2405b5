/**
 * Digest -> where the block lies: the catalog's rows for blocks, written behind.
 * Promises: `get` sees every `add` at once; rows reach the index in order, each batch with the cursor it belongs to.
 * Does not promise: durability. A row that is lost is found again from the segments, behind the cursor.
 */
import type { Index, Op } from '../catalog/index.ts';
import type { Digest } from '../format/cid.ts';
import { key, lastPart, prefix } from '../keys.ts';

export type Place =
  | { readonly type: 'segment'; readonly segment: number; readonly offset: number; readonly length: number }
  | { readonly type: 'big'; readonly length: number };

/** Everything before this point of the segments is in the index. */
export interface SegmentCursor {
  readonly segment: number;
  readonly offset: number;
}

/** What a batch of rows covers: a piece of a segment, up to the new cursor. */
export interface Covered extends SegmentCursor {
  readonly from: number;
}

export interface PlaceRow {
  readonly digest: Digest;
  readonly place: Place;
}

export interface Places {
  get(digest: Digest): Place | undefined;
  add(rows: readonly PlaceRow[], covered?: Covered): void;
  /** Drops every row of a segment. O(rows). */
  forget(segment: number): Promise<void>;
  cursor(): SegmentCursor | null;
  /**
   * Whether the pieces before the cursor follow each other: each came with its rows, all or none, so a gap says that
   * LevelDB lost some. Looks at the newest thousand of a segment, which is more than LevelDB holds in its log.
   */
  isWhole(start: number): Promise<boolean>;
  /** Drops every row and the cursor. O(rows). */
  clear(): Promise<void>;
  all(): AsyncIterable<PlaceRow>;
  /** Resolves when all rows are in the index, or could not be written: then they stay in memory until the end. */
  settle(): Promise<void>;
}

const print = (place: Place): string =>
  place.type === 'big' ? `big:${place.length}` : `${place.segment}:${place.offset}:${place.length}`;

/** The place in a row, or undefined where the row is damaged. */
export function parsePlace(text: string | undefined): Place | undefined {
  if (text === undefined) return undefined;
  const first = text.indexOf(':');
  const last = text.lastIndexOf(':');
  const length = Number(text.slice(last + 1));
  if (first < 1 || !isCount(length)) return undefined;
  if (first === last) return text.startsWith('big:') ? { type: 'big', length } : undefined;
  const segment = Number(text.slice(0, first));
  const offset = Number(text.slice(first + 1, last));
  return isCount(segment) && isCount(offset) ? { type: 'segment', segment, offset, length } : undefined;
}

const isCount = (n: number | undefined): n is number => Number.isSafeInteger(n) && (n as number) >= 0;

interface State {
  readonly index: Index;
  /** Rows that the index does not hold yet. */
  readonly ahead: Map<string, string>;
  queue: Op[];
  writing: Promise<void> | null;
}

export function openPlaces(index: Index): Places {
  const state: State = { index, ahead: new Map(), queue: [], writing: null };
  return {
    get(digest) {
      const at = key.block(digest);
      return parsePlace(state.ahead.get(at) ?? index.get(at));
    },
    add: (rows, cursor) => add(state, rows, cursor),
    forget: (segment) => forget(state, segment),
    cursor: () => readCursor(state.ahead.get(key.segmentCursor) ?? index.get(key.segmentCursor)),
    isWhole: (start) => isWhole(state, start),
    clear: () => clear(state),
    all: () => all(state),
    settle: () => state.writing ?? Promise.resolve(),
  };
}

function readCursor(text: string | undefined): SegmentCursor | null {
  const [segment, offset] = (text ?? '').split(':').map(Number);
  return isCount(segment) && isCount(offset) && segment > 0 ? { segment, offset } : null;
}

function add(state: State, rows: readonly PlaceRow[], covered: Covered | undefined): void {
  for (const { digest, place } of rows) push(state, key.block(digest), print(place));
  if (covered !== undefined) {
    const { segment, from, offset } = covered;
    if (from < offset) push(state, key.flush(segment, offset), String(from));
    push(state, key.segmentCursor, `${segment}:${offset}`);
  }
  state.writing ??= writeBehind(state);
}

function push(state: State, at: string, value: string): void {
  state.ahead.set(at, value);
  state.queue.push({ key: at, value });
}

async function writeBehind(state: State): Promise<void> {
  while (state.queue.length > 0) {
    const ops = state.queue;
    state.queue = [];
    try {
      await state.index.batch(ops);
    } catch {
      // The blocks are durable and the rows stay in `ahead`; the cursor on disk is behind, so the next owner finds them.
      continue;
    }
    for (const op of ops) if (state.ahead.get(op.key) === op.value) state.ahead.delete(op.key);
  }
  state.writing = null;
}

async function forget(state: State, segment: number): Promise<void> {
  await state.writing;
  const ops: Op[] = [];
  for await (const { key: at, value } of state.index.range({ prefix: prefix.blocks }))
    if (value.startsWith(`${segment}:`)) ops.push({ key: at, value: null });
  await state.index.batch(ops);
}

const LOOKED_AT = 1024;

async function isWhole({ index }: State, start: number): Promise<boolean> {
  const cursor = readCursor(index.get(key.segmentCursor));
  if (cursor === null) return true;
  let wanted = cursor.offset;
  let looked = 0;
  const newest = { prefix: prefix.flushesOf(cursor.segment), reverse: true, limit: LOOKED_AT };
  for await (const { key: at, value } of index.range(newest)) {
    looked++;
    const end = Number(lastPart(at));
    // A piece of a segment that was longer once.
    if (end > wanted) continue;
    if (end < wanted) return false;
    wanted = Number(value);
  }
  return wanted <= start || looked === LOOKED_AT;
}

async function clear(state: State): Promise<void> {
  await state.writing;
  const ops: Op[] = [{ key: key.segmentCursor, value: null }];
  for (const start of [prefix.blocks, prefix.flushes])
    for await (const { key: at } of state.index.range({ prefix: start })) ops.push({ key: at, value: null });
  await state.index.batch(ops);
}

async function* all(state: State): AsyncGenerator<PlaceRow> {
  await state.writing;
  for await (const { key: at, value } of state.index.range({ prefix: prefix.blocks })) {
    const place = parsePlace(value);
    if (place !== undefined) yield { digest: at.slice(prefix.blocks.length) as Digest, place };
  }
}
