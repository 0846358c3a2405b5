/**
 * Appending small blocks to segments, many under one fsync.
 * Promises: `append` copies the bytes at once; its promise resolves when block and flush record are durable, and
 * rejects when they may not be. All appends of one turn of the event loop, and all that come while a flush is under
 * way, share one fsync. Bytes are written while more come, so that memory is flat and what is copied is copied in cache.
 * Does not promise: that a block is appended only once (blocks.ts asks first).
 */

import type { Files } from '../files.ts';
import { writeDurably } from '../files.ts';
import type { Codec, Digest } from '../format/cid.ts';
import { carHeader, headLength, writeHead } from '../frame.ts';
import { type Layout, MEBIBYTE, SEGMENT_LIMIT } from '../keys.ts';
import { type FlushEntry, flushSection, MAX_ENTRIES, type PlacedEntry, placed } from './flush.ts';

/** A batch is closed at this size (bytes): enough to make the fsync cheap. */
const BATCH_LIMIT = 64 * MEBIBYTE;
/** Appending waits while this much is unwritten (bytes). */
const BACKLOG_LIMIT = 2 * MEBIBYTE;
/** First chunk of a batch (bytes); later ones are a MiB and come from a pool. */
const FIRST_CHUNK = 64 << 10;
const POOLED = 8;

interface Batch {
  /** Not written yet. */
  chunks: Buffer[];
  /** Bytes used of the last chunk. */
  used: number;
  bytes: number;
  /** Joined by nobody beyond this many bytes: what its segment has room for. */
  limit: number;
  readonly entries: FlushEntry[];
  readonly done: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

export interface OpenSegment {
  readonly number: number;
  readonly size: number;
}

/** Told of every durable flush, before its appends resolve. */
export type Durable = (
  segment: number,
  blocks: readonly PlacedEntry[],
  piece: { readonly from: number; readonly end: number },
) => void;

interface State {
  readonly files: Files;
  readonly layout: Layout;
  readonly durable: Durable;
  /** The segment being appended to; null when the next flush must begin one. */
  segment: { number: number; fd: number; size: number } | null;
  next: number;
  readonly queue: Batch[];
  /** Bytes appended and not written. */
  backlog: number;
  /** Those who wait for room. */
  waiting: (() => void)[];
  running: Promise<void> | null;
  readonly pending: Map<Digest, Batch>;
  readonly pool: Buffer[];
}

export interface Segments {
  /** Resolves when durable. The bytes may be reused as soon as this returns. */
  append(codec: Codec, digest: Digest, bytes: Uint8Array): Promise<void>;
  /** The flush under way that holds this digest, if any. */
  pending(digest: Digest): Promise<void> | undefined;
  /** Whether much is unwritten: time to wait for `room`. */
  isFull(): boolean;
  /** Resolves when there is room: for callers that append much. */
  room(): Promise<void>;
  /** Resolves when nothing is unwritten. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Goes on after `last`, the last segment, when its end is sound; else with a new segment `next`. */
export function openSegments(
  files: Files,
  layout: Layout,
  start: { last: OpenSegment | null; next: number },
  durable: Durable,
): Segments {
  const { last, next } = start;
  const state: State = {
    files,
    layout,
    durable,
    segment: last === null ? null : { ...last, fd: -1 },
    next,
    queue: [],
    backlog: 0,
    waiting: [],
    running: null,
    pending: new Map(),
    pool: [],
  };
  return {
    append: (codec, digest, bytes) => append(state, codec, digest, bytes),
    pending: (digest) => state.pending.get(digest)?.done,
    isFull: () => state.backlog > BACKLOG_LIMIT,
    room: async () => {
      while (state.backlog > BACKLOG_LIMIT) await new Promise<void>((wake) => state.waiting.push(wake));
    },
    drain: () => drain(state),
    async close() {
      await drain(state);
      if (state.segment !== null && state.segment.fd >= 0) files.close(state.segment.fd);
      state.segment = null;
    },
  };
}

async function drain(state: State): Promise<void> {
  while (state.running !== null) await state.running;
}

function append(state: State, codec: Codec, digest: Digest, bytes: Uint8Array): Promise<void> {
  const batch = openBatch(state);
  const head = headLength(codec, bytes.length);
  const chunk = reserve(state, batch, head + bytes.length);
  const data = writeHead(chunk, batch.used, codec, digest, bytes.length);
  chunk.set(bytes, data);
  batch.used = data + bytes.length;
  batch.bytes += head + bytes.length;
  batch.entries.push({ codec, digest, length: bytes.length });
  state.backlog += head + bytes.length;
  state.pending.set(digest, batch);
  state.running ??= run(state);
  return batch.done;
}

function openBatch(state: State): Batch {
  const last = state.queue.at(-1);
  if (last !== undefined && last.bytes < last.limit && last.entries.length < MAX_ENTRIES) return last;
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const done = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // Every append hands `done` to its caller; this only keeps a caller who left from ending the process.
  done.catch(() => undefined);
  const batch: Batch = {
    chunks: [],
    used: 0,
    bytes: 0,
    limit: BATCH_LIMIT,
    entries: [],
    done,
    resolve,
    reject,
  };
  state.queue.push(batch);
  return batch;
}

/** The last chunk of the batch with room for `length` more bytes. */
function reserve(state: State, batch: Batch, length: number): Buffer {
  const last = batch.chunks.at(-1);
  if (last !== undefined && last.length - batch.used >= length) return last;
  if (last !== undefined) batch.chunks[batch.chunks.length - 1] = last.subarray(0, batch.used);
  const wanted = Math.max(length, batch.bytes === 0 ? FIRST_CHUNK : MEBIBYTE);
  const pooled = wanted === MEBIBYTE ? state.pool.pop() : undefined;
  const chunk = pooled ?? Buffer.allocUnsafeSlow(wanted);
  batch.chunks.push(chunk);
  batch.used = 0;
  return chunk;
}

async function run(state: State): Promise<void> {
  // Let the rest of this turn join the first batch.
  await nextTurn();
  while (state.queue.length > 0) await flush(state, state.queue[0] as Batch);
  state.running = null;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function flush(state: State, batch: Batch): Promise<void> {
  try {
    const segment = await segmentFor(state, batch.bytes);
    batch.limit = Math.min(BATCH_LIMIT, Math.max(SEGMENT_LIMIT - segment.size, batch.bytes));
    const written = await writeOrTakeBack(state, segment, batch);
    if ('error' in written) {
      settle(state, batch);
      batch.reject(written.error);
      return;
    }
    // Dying here: bytes behind the last durable flush record; nobody was told of them.
    await state.files.sync(segment.fd);
    // Dying here: blocks that are there and in no index; the next owner finds them behind the cursor.
    const from = segment.size;
    segment.size = written.end;
    state.durable(segment.number, written.blocks, { from, end: segment.size });
    settle(state, batch);
    batch.resolve();
  } catch (error) {
    abandon(state);
    settle(state, batch);
    batch.reject(error);
  }
}

interface Written {
  readonly blocks: readonly PlacedEntry[];
  readonly end: number;
}

/**
 * Writes all of a batch and its flush record at the end of the segment. A write that failed (a full disk) is cut off
 * again, so that its bytes do not keep the disk full, and the segment goes on; where even that fails the segment is
 * abandoned, as after a failed fsync.
 */
async function writeOrTakeBack(
  state: State,
  segment: { fd: number; size: number },
  batch: Batch,
): Promise<Written | { readonly error: unknown }> {
  try {
    let at = segment.size;
    // Whoever waits for room has more for this batch; when nobody does, it is closed.
    while (state.waiting.length > 0 && batch.bytes < batch.limit) {
      at += await writeChunks(state, segment.fd, batch, at);
      await nextTurn();
    }
    batch.limit = 0;
    const record = { from: segment.size, entries: batch.entries };
    const { blocks, end } = placed(record);
    const section = flushSection(record);
    await writeChunks(state, segment.fd, batch, at, section);
    return { blocks, end: end + section.length };
  } catch (error) {
    batch.limit = 0;
    await state.files.truncate(segment.fd, segment.size).catch(() => {
      throw error;
    });
    return { error };
  }
}

/** Writes what the batch holds by now, and the record that closes it; gives the length of the former. */
async function writeChunks(
  state: State,
  fd: number,
  batch: Batch,
  at: number,
  record?: Uint8Array,
): Promise<number> {
  const chunks = batch.chunks.map((chunk, i, { length }) =>
    i < length - 1 ? chunk : chunk.subarray(0, batch.used),
  );
  batch.chunks = [];
  batch.used = 0;
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  try {
    await state.files.write(fd, record === undefined ? chunks : [...chunks, record], at);
    return length;
  } finally {
    for (const { buffer } of chunks) {
      // A cut chunk still owns its whole MiB.
      if (buffer.byteLength === MEBIBYTE && state.pool.length < POOLED) state.pool.push(Buffer.from(buffer));
    }
    relieve(state, length);
  }
}

function relieve(state: State, bytes: number): void {
  state.backlog -= bytes;
  const { waiting } = state;
  state.waiting = [];
  for (const wake of waiting) wake();
}

/** Forgets a batch, whatever became of it. */
function settle(state: State, batch: Batch): void {
  if (state.queue[0] === batch) state.queue.shift();
  relieve(
    state,
    batch.chunks.reduce(
      (sum, chunk, i) => sum + (i === batch.chunks.length - 1 ? batch.used : chunk.length),
      0,
    ),
  );
  batch.chunks = [];
  for (const { digest } of batch.entries) {
    if (state.pending.get(digest) === batch) state.pending.delete(digest);
  }
}

/** After a failed write or fsync nobody knows what the file holds: it gets no further byte from us. */
function abandon(state: State): void {
  const segment = state.segment;
  state.segment = null;
  if (segment === null || segment.fd < 0) return;
  try {
    state.files.close(segment.fd);
  } catch {
    // Closing a file that already failed has nothing more to say.
  }
}

async function segmentFor(
  state: State,
  bytes: number,
): Promise<{ number: number; fd: number; size: number }> {
  const current = state.segment;
  if (current !== null && current.size + bytes <= SEGMENT_LIMIT) {
    if (current.fd < 0) current.fd = await state.files.openWrite(state.layout.segment(current.number));
    return current;
  }
  abandon(state);
  const number = state.next++;
  const path = state.layout.segment(number);
  const header = carHeader([]);
  await writeDurably(state.files, path, header, state.layout.temporary());
  // Dying here: a segment without blocks.
  state.segment = { number, fd: await state.files.openWrite(path), size: header.length };
  return state.segment;
}
