/**
 * Blocks by digest: small ones in segments, big ones as files.
 * Promises: what `get` and `stream` hand out has the digest asked for; what `put` resolved is durable; putting what is
 * there checks the copy and writes a bad one again; the bytes handed in may change as soon as a call returns.
 * Does not promise: knowing codecs (a place is keyed by digest), or that what a block links to is there.
 */

import { basename } from 'node:path';
import { damaged } from '../damage.ts';
import type { OnFault } from '../faults.ts';
import type { Files } from '../files.ts';
import { type Cid, type Codec, cidFromDigest, codecOf, type Digest, digestOf } from '../format/cid.ts';
import { sha256Hex } from '../format/crypto.ts';
import { fail, isFault } from '../format/errors.ts';
import type { Range, Reader } from '../format/reader.ts';
import { counted } from '../format/words.ts';
import { type Layout, MEBIBYTE } from '../keys.ts';
import type { NewBlock, PutOptions, Stored } from '../store.ts';
import { type BigWriter, createBig, digestFile } from './big.ts';
import { type BigReader, openBigReader } from './big-read.ts';
import type { Place, Places } from './places.ts';
import { recover } from './recover.ts';
import { openSegments, type Segments } from './segments.ts';

export interface Blocks extends Reader {
  size(cid: Cid): Promise<number>;
  hasDigest(digest: Digest): boolean;
  /** A small block at once, on this turn of the event loop. Throws what `get` throws; E_TOO_LARGE for a big one. */
  getNow(digest: Digest): Uint8Array;
  put(bytes: Uint8Array, options?: PutOptions): Promise<Stored>;
  putStream(content: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<Stored>;
  putMany(blocks: Iterable<NewBlock> | AsyncIterable<NewBlock>): Promise<readonly Stored[]>;
  close(): Promise<void>;
}

/** `get` gives a whole block in memory up to this size (bytes). */
const GET_LIMIT = 1 << 30;

interface State {
  readonly files: Files;
  readonly layout: Layout;
  readonly places: Places;
  /** null: read-only. */
  readonly segments: Segments | null;
  readonly big: BigReader;
  /** Descriptors of segments, for reading. */
  readonly open: Map<number, number>;
  /** Big blocks are put in place one after the other: two puts of one block must not race. */
  committing: Promise<unknown>;
}

export interface BlocksOptions {
  readonly files: Files;
  readonly layout: Layout;
  readonly places: Places;
  readonly writable: boolean;
  readonly onFault: OnFault;
  /** Begin a new segment, whatever room the last one has. */
  readonly fresh?: boolean;
}

/** Recovers what the index has not seen, then serves. Throws E_IO. */
export async function openBlocks(options: BlocksOptions): Promise<Blocks> {
  const { files, layout, places, writable, onFault, fresh = false } = options;
  if (writable) for (const name of files.list(layout.tmp)) await files.remove(`${layout.tmp}/${name}`);
  const { last, next, salvaged } = await recover({ files, layout, places, writable, onFault });
  const segments = writable
    ? openSegments(files, layout, { last: fresh ? null : last, next }, (segment, blocks, { from, end }) =>
        places.add(
          blocks.map(({ digest, offset, length }) => ({
            digest,
            place: { type: 'segment', segment, offset, length },
          })),
          { segment, from, offset: end },
        ),
      )
    : null;
  const big = openBigReader(files, layout, writable);
  const state: State = {
    files,
    layout,
    places,
    segments,
    big,
    open: new Map(),
    committing: Promise.resolve(),
  };
  for (const { codec, digest, bytes } of salvaged) await keepSalvaged(state, codec, digest, bytes);
  return {
    get: (cid) => get(state, cid),
    stream: (cid, range) => stream(state, cid, range),
    has: async (cid) => hasDigest(state, digestOf(cid)),
    size: async (cid) => mustPlace(state, digestOf(cid)).length,
    hasDigest: (digest) => hasDigest(state, digest),
    getNow: (digest) => getNow(state, digest),
    put: (bytes, options = {}) => put(state, bytes, options),
    putStream: (content, options = {}) => putStream(state, content, options),
    putMany: (blocks) => putMany(state, blocks),
    close: () => close(state),
  };
}

async function keepSalvaged(state: State, codec: Codec, digest: Digest, bytes: Uint8Array): Promise<void> {
  if (isSoundSmall(state, digest)) return;
  await state.segments?.append(codec, digest, bytes);
}

async function close(state: State): Promise<void> {
  await state.committing;
  await state.segments?.close();
  await state.places.settle();
  for (const fd of state.open.values()) state.files.close(fd);
  state.open.clear();
}

function hasDigest(state: State, digest: Digest): boolean {
  const place = state.places.get(digest);
  if (place === undefined) return false;
  return place.type === 'segment' || state.files.size(state.layout.bigBlock(digest)) !== null;
}

function mustPlace(state: State, digest: Digest): Place {
  return state.places.get(digest) ?? fail('E_NOT_FOUND', { where: `sha256:${digest}` });
}

async function get(state: State, cid: Cid): Promise<Uint8Array> {
  const digest = digestOf(cid);
  const place = mustPlace(state, digest);
  if (place.type === 'segment') return readSmall(state, digest, place);
  if (place.length > GET_LIMIT) {
    fail('E_TOO_LARGE', {
      where: cid,
      wanted: `at most ${GET_LIMIT} bytes`,
      found: `${place.length}`,
      hint: 'Read it as a stream',
    });
  }
  const whole = Buffer.allocUnsafeSlow(place.length);
  const fd = openPlace(state, state.layout.bigBlock(digest));
  try {
    const got = await state.files.readLater(fd, whole, 0);
    mustHave(digest, whole, got);
  } finally {
    state.files.close(fd);
  }
  return whole;
}

function getNow(state: State, digest: Digest): Uint8Array {
  const place = mustPlace(state, digest);
  if (place.type === 'segment') return readSmall(state, digest, place);
  return fail('E_TOO_LARGE', { where: `sha256:${digest}`, wanted: 'less than a MiB' });
}

type SegmentPlace = Extract<Place, { type: 'segment' }>;

function readSmall(state: State, digest: Digest, { segment, offset, length }: SegmentPlace): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  const got = state.files.read(descriptor(state, segment), bytes, offset);
  mustHave(digest, bytes, got);
  return bytes;
}

function mustHave(digest: Digest, bytes: Uint8Array, got: number): void {
  const found = got < bytes.length ? null : sha256Hex(bytes);
  if (found === digest) return;
  fail('E_DIGEST', {
    where: `sha256:${digest}`,
    wanted: `sha256:${digest}`,
    found: found === null ? `${got} of ${counted(bytes.length, 'byte')}` : `sha256:${found}`,
    hint: HINT,
  });
}

const HINT = '`ashlar check` names all damage';

function descriptor(state: State, segment: number): number {
  const known = state.open.get(segment);
  if (known !== undefined) return known;
  const fd = openPlace(state, state.layout.segment(segment));
  state.open.set(segment, fd);
  return fd;
}

const lostFile = (path: string): never =>
  damaged(path, 'the file in which the catalog has blocks', 'nothing');

/** The index knows a block in this file. */
function openPlace({ files }: State, path: string): number {
  if (files.size(path) === null) lostFile(path);
  return files.openRead(path);
}

async function* stream(state: State, cid: Cid, range?: Range): AsyncGenerator<Uint8Array> {
  const digest = digestOf(cid);
  const place = mustPlace(state, digest);
  if (place.type === 'big') {
    const path = state.layout.bigBlock(digest);
    if (state.files.size(path) === null) lostFile(path);
    yield* state.big.stream(digest, range);
    return;
  }
  const bytes = readSmall(state, digest, place);
  const part = range === undefined ? bytes : bytes.subarray(range.start, range.end);
  if (part.length > 0) yield part;
}

/** What the caller said the bytes would be. */
function checkExpected(digest: Digest, { expect }: PutOptions): void {
  if (expect === undefined || digestOf(expect) === digest) return;
  fail('E_DIGEST', { wanted: expect, found: `sha256:${digest}`, hint: 'Nothing was kept' });
}

function named(digest: Digest, { codec, expect }: PutOptions): Cid {
  return expect ?? cidFromDigest(codec ?? 'raw', digest);
}

function mustWrite(state: State): Segments {
  return state.segments ?? fail('E_READ_ONLY', { where: state.layout.root });
}

async function put(state: State, bytes: Uint8Array, options: PutOptions): Promise<Stored> {
  if (bytes.length >= MEBIBYTE) return putStream(state, oneByOne(bytes), options);
  const { digest, done, added } = putSmall(state, bytes, options);
  await done;
  return { cid: named(digest, options), size: bytes.length, added };
}

async function* oneByOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  // A copy: the caller may change the bytes while we are still at them.
  yield Uint8Array.from(bytes);
}

interface Small {
  readonly digest: Digest;
  /** When it is durable; null where it is. */
  readonly done: Promise<void> | null;
  readonly added: boolean;
}

function putSmall(state: State, bytes: Uint8Array, options: PutOptions): Small {
  const segments = mustWrite(state);
  const digest = sha256Hex(bytes) as Digest;
  checkExpected(digest, options);
  const pending = segments.pending(digest);
  if (pending !== undefined) return { digest, done: pending, added: false };
  if (isSoundSmall(state, digest)) return { digest, done: null, added: false };
  const codec = options.expect === undefined ? (options.codec ?? 'raw') : codecOf(options.expect);
  return { digest, done: segments.append(codec, digest, bytes), added: true };
}

/** Existence is no proof: a copy counts when it reads. */
function isSoundSmall(state: State, digest: Digest): boolean {
  const place = state.places.get(digest);
  if (place?.type !== 'segment') return false;
  try {
    readSmall(state, digest, place);
    return true;
  } catch (error) {
    if (isFault(error)) return false;
    throw error;
  }
}

async function putMany(
  state: State,
  blocks: Iterable<NewBlock> | AsyncIterable<NewBlock>,
): Promise<readonly Stored[]> {
  const segments = mustWrite(state);
  const stored: Stored[] = [];
  const waiting = new Set<Promise<void>>();
  const one = (block: NewBlock): Promise<unknown> | null => {
    const size = block.bytes.length;
    if (size >= MEBIBYTE) return put(state, block.bytes, block).then((big) => stored.push(big));
    const { digest, done, added } = putSmall(state, block.bytes, block);
    if (done !== null) waiting.add(done);
    stored.push({ cid: named(digest, block), size, added });
    return segments.isFull() ? segments.room() : null;
  };
  if (Symbol.asyncIterator in blocks) for await (const block of blocks) await one(block);
  else {
    for (const block of blocks) {
      const wait = one(block);
      // A promise for each of ten thousand small blocks would cost more than the blocks.
      if (wait !== null) await wait;
    }
  }
  await Promise.all(waiting);
  return stored;
}

async function putStream(
  state: State,
  content: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<Stored> {
  mustWrite(state);
  let big: BigWriter | null = null;
  try {
    for await (const piece of pieces(content)) {
      if (big === null && piece.length < MEBIBYTE) return await put(state, piece, options);
      big ??= await createBig(state.files, state.layout);
      await big.write(piece);
    }
    if (big === null) return await put(state, new Uint8Array(), options);
    return await commitBig(state, big, options);
  } catch (error) {
    await big?.discard().catch(() => undefined);
    throw error;
  }
}

/** The stream in pieces of exactly a MiB, the last one shorter; each is valid until the next is asked for. */
async function* pieces(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(MEBIBYTE);
  let filled = 0;
  for await (const chunk of content) {
    if (filled === 0 && chunk.length === MEBIBYTE) {
      // Theirs until they are asked for the next: no copy.
      yield chunk;
      continue;
    }
    for (let at = 0; at < chunk.length; ) {
      const taken = Math.min(chunk.length - at, MEBIBYTE - filled);
      buffer.set(chunk.subarray(at, at + taken), filled);
      filled += taken;
      at += taken;
      if (filled < MEBIBYTE) continue;
      yield buffer;
      filled = 0;
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled);
}

async function commitBig(state: State, big: BigWriter, options: PutOptions): Promise<Stored> {
  const digest = big.digest();
  checkExpected(digest, options);
  const commit = state.committing.then(() => placeBig(state, big, digest));
  state.committing = commit.catch(() => undefined);
  return { cid: named(digest, options), size: big.size(), added: await commit };
}

/** False where a sound copy was there. */
async function placeBig(state: State, big: BigWriter, digest: Digest): Promise<boolean> {
  const path = state.layout.bigBlock(digest);
  if (state.files.size(path) !== null) {
    if ((await digestFile(state.files, path)).digest === digest) {
      await big.discard();
      return false;
    }
    await state.files.rename(
      path,
      state.layout.quarantined(`${digest}-${basename(state.layout.temporary())}`),
    );
    // Dying here: the bad copy is in quarantine, the good one a temporary file; the caller was told of neither.
  }
  await big.commit();
  state.places.add([{ digest, place: { type: 'big', length: big.size() } }]);
  return true;
}
