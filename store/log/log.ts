/**
 * One log: leaves, one a line; the hashes of its tree; its last signed checkpoint.
 * Promises: `append` resolves when the leaves are durable; only durable leaves are signed, each size with one root; a
 * log that is shorter than a checkpoint of its own, or contradicts it, does not open (E_LOG_ROLLBACK).
 * Does not promise: that a leaf's record is there, or that a leaf stands only once (records.ts).
 */

import type { OnFault } from '../faults.ts';
import { type Files, readWhole, writeDurably } from '../files.ts';
import { type Checkpoint, openCheckpoint, printCheckpoint, signCheckpoint } from '../format/checkpoint.ts';
import type { Cid } from '../format/cid.ts';
import { sha256Hex } from '../format/crypto.ts';
import { fail, isFault } from '../format/errors.ts';
import {
  consistencyProof,
  type Frontier,
  type Hash,
  type HashReader,
  inclusionProof,
  leafHash,
  openFrontier,
  rootAt,
  treeRoot,
} from '../format/merkle.ts';
import { noteSigner, parseVerifierKey } from '../format/note.ts';
import { entryBundle, TILE_WIDTH, type Tile } from '../format/tile.ts';
import type { Layout, LogFiles } from '../keys.ts';
import type { Leaf } from '../store.ts';
import { appendHashes, position, readFrontier, readHash } from './hashes.ts';
import { type LogKey, lastSigned, rememberSigned } from './key.ts';
import { leafBytes, readLeaf } from './leaf.ts';

/** How far the catalog has read: leaves, and the offset of the next one. */
export interface LogCursor {
  readonly count: number;
  readonly offset: number;
}

/** A line of the leaves file. */
export interface Line {
  readonly index: number;
  readonly offset: number;
  /** Offset of the next line. */
  readonly end: number;
  readonly bytes: Uint8Array;
  /** null where the bytes are damaged: the tree keeps the hash, the leaf is lost. */
  readonly leaf: Leaf | null;
}

export interface Log {
  /** Folder name. */
  readonly name: string;
  readonly origin: string;
  readonly family: Cid | null;
  readonly vkey: string;
  /** Whether this store can append: the key is there and is the log's own. */
  writable(): boolean;
  size(): number;
  /** End of the leaves file. */
  end(): LogCursor;
  /** Where the leaves stand after an append. */
  append(leaves: readonly Leaf[]): Promise<readonly Line[]>;
  lines(from: LogCursor): Generator<Line>;
  root(size: number): Promise<Hash>;
  inclusion(index: number, size: number): Promise<readonly Hash[]>;
  consistency(from: number, to: number): Promise<readonly Hash[]>;
  hashTile(tile: Tile): Uint8Array;
  checkpoint(atLeast: number): Promise<Uint8Array>;
  close(): void;
}

export interface LogOptions {
  readonly files: Files;
  readonly layout: Layout;
  readonly name: string;
  readonly family: Cid | null;
  /** null: cannot append or sign. */
  readonly key: LogKey | null;
  readonly writable: boolean;
  /** Leaves before it were looked at before. */
  readonly from: LogCursor;
  readonly onFault: OnFault;
}

interface State extends LogOptions {
  readonly paths: LogFiles;
  readonly origin: string;
  readonly vkey: string;
  readonly leaves: number;
  readonly hashes: number;
  frontier: Frontier;
  /** End of the last durable leaf. */
  bytes: number;
  /** After a failed append nobody knows what the file holds. */
  broken: unknown;
  /** Hashes that are not in the file, by position: of a log that cannot be written. */
  readonly unwritten: Map<number, Hash>;
  /** Checkpoints are signed one after the other. */
  signing: Promise<unknown>;
  stored: { readonly bytes: Uint8Array; readonly checkpoint: Checkpoint } | null;
}

/** The files of a log without leaves. `origin` is written last: a folder without it is no log yet. */
export async function createLog(
  files: Files,
  layout: Layout,
  name: string,
  log: { origin: string; vkey: string; leaves?: Uint8Array; checkpoint?: Uint8Array },
): Promise<void> {
  const paths = layout.log(name);
  const put = (path: string, bytes: Uint8Array) => writeDurably(files, path, bytes, layout.temporary());
  await files.mkdir(paths.folder);
  await files.syncFolder(layout.logs);
  await put(paths.leaves, log.leaves ?? new Uint8Array());
  await put(paths.hashes, new Uint8Array());
  await put(paths.vkey, Buffer.from(`${log.vkey}\n`));
  if (log.checkpoint !== undefined) await put(paths.checkpoint, log.checkpoint);
  // Dying here: a folder that is no log; the next one who needs the log makes it again.
  await put(paths.origin, Buffer.from(`${log.origin}\n`));
}

/** A text of one line. */
export function readLine(files: Files, path: string): string | null {
  const bytes = readWhole(files, path);
  return bytes === null ? null : Buffer.from(bytes).toString().replace(/\n$/, '');
}

/** Opens a log and looks at what comes after `from`. Throws E_LOG_ROLLBACK, E_STORE_DAMAGED, E_IO. */
export async function openLog(options: LogOptions): Promise<Log> {
  const state = await openState(options);
  try {
    await lookAtTail(state);
    await checkAgainstCheckpoint(state);
  } catch (error) {
    closeState(state);
    throw error;
  }
  return logOf(state);
}

async function openState(options: LogOptions): Promise<State> {
  const { files, layout, name, writable } = options;
  const paths = layout.log(name);
  const origin = readLine(files, paths.origin);
  const vkey = readLine(files, paths.vkey);
  if (origin === null || vkey === null)
    fail('E_STORE_DAMAGED', { where: paths.folder, wanted: 'origin and vkey' });
  const key = parseVerifierKey(vkey);
  if (key.name !== origin) fail('E_STORE_DAMAGED', { where: paths.vkey, wanted: origin, found: key.name });
  if (writable && files.size(paths.hashes) === null)
    await writeDurably(files, paths.hashes, new Uint8Array(), layout.temporary());
  const open = (path: string) => (writable ? files.openWrite(path) : Promise.resolve(files.openRead(path)));
  const leaves = await open(paths.leaves);
  const hashes = await open(paths.hashes);
  const stored = storedCheckpoint(files, paths, vkey);
  const fresh = {
    frontier: openFrontier(),
    bytes: 0,
    broken: null,
    unwritten: new Map(),
    signing: Promise.resolve(),
  };
  return { ...options, paths, origin, vkey, leaves, hashes, stored, ...fresh };
}

function storedCheckpoint(files: Files, paths: LogFiles, vkey: string): State['stored'] {
  const bytes = readWhole(files, paths.checkpoint);
  if (bytes === null) return null;
  return { bytes, checkpoint: openCheckpoint(bytes, parseVerifierKey(vkey)).checkpoint };
}

function closeState(state: State): void {
  state.files.close(state.leaves);
  state.files.close(state.hashes);
}

function logOf(state: State): Log {
  const read: HashReader = (level, index) => mustHash(state, level, index);
  const within = (size: number) => {
    if (size > state.frontier.size())
      fail('E_NOT_FOUND', {
        where: `${state.origin} at size ${size}`,
        found: `size ${state.frontier.size()}`,
      });
  };
  return {
    name: state.name,
    origin: state.origin,
    family: state.family,
    vkey: state.vkey,
    writable: () => state.writable && ownKey(state) && state.broken === null,
    size: () => state.frontier.size(),
    end: () => ({ count: state.frontier.size(), offset: state.bytes }),
    append: (leaves) => append(state, leaves),
    lines: (from) => lines(state, from, state.bytes),
    root: async (size) => {
      within(size);
      return rootAt(size, read);
    },
    inclusion: async (index, size) => {
      within(size);
      return inclusionProof(index, size, read);
    },
    consistency: async (from, to) => {
      within(to);
      return consistencyProof(from, to, read);
    },
    hashTile: (tile) => hashTile(state, tile),
    checkpoint: async (atLeast) => {
      within(atLeast);
      const signing = state.signing.then(() => checkpoint(state, atLeast));
      state.signing = signing.catch(() => undefined);
      return signing;
    },
    close: () => closeState(state),
  };
}

/** Whether the key that we hold is the one of this log. */
const ownKey = ({ key, vkey, origin }: State): boolean =>
  key !== null &&
  Buffer.compare(parseVerifierKey(vkey).publicKey, key.publicKey) === 0 &&
  origin.includes(key.id);

function mustHash(state: State, level: number, index: number): Hash {
  const hash =
    state.unwritten.get(position(level, index)) ?? readHash(state.files, state.hashes, level, index);
  return (
    hash ?? fail('E_STORE_DAMAGED', { where: `${state.paths.hashes} ${level}/${index}`, wanted: 'a hash' })
  );
}

function hashTile(state: State, { level, index, width }: Tile): Uint8Array {
  if (level === 'entries') return fail('E_INTERNAL', { found: 'a bundle among hash tiles' });
  const first = index * TILE_WIDTH;
  const complete = Math.floor(state.frontier.size() / TILE_WIDTH ** level);
  if (first + width > complete)
    fail('E_NOT_FOUND', { where: `${state.origin} tile ${level}/${index}.p/${width}` });
  const hashes = Array.from({ length: width }, (_, i) => mustHash(state, 8 * level, first + i));
  return Buffer.concat(hashes);
}

/** The bundle of these entries, as C2SP tiles carry them. */
export const bundleOf = (entries: readonly Uint8Array[]): Uint8Array => entryBundle(entries);

const NEWLINE = 0x0a;
const READ = 1 << 20;

/** Lines from a cursor up to `until`; a last line without its newline is left out. */
function* lines(state: State, from: LogCursor, until: number): Generator<Line> {
  let index = from.count;
  let start = from.offset;
  let rest: Buffer = Buffer.alloc(0);
  for (let at = from.offset; at < until; ) {
    const piece = Buffer.allocUnsafe(Math.min(READ, until - at));
    const got = state.files.read(state.leaves, piece, at);
    if (got === 0) return;
    at += got;
    rest = Buffer.concat([rest, piece.subarray(0, got)]);
    for (let stop = rest.indexOf(NEWLINE); stop >= 0; stop = rest.indexOf(NEWLINE)) {
      const bytes = rest.subarray(0, stop);
      const end = start + stop + 1;
      yield { index, offset: start, end, bytes, leaf: readLeaf(bytes) };
      rest = rest.subarray(stop + 1);
      start = end;
      index++;
    }
  }
}

/**
 * Reads what nobody has looked at yet. A leaf with a stored hash was durable once: another hash now is damage, and the
 * tree keeps what it was signed for. Bytes behind the last stored hash that are no leaf are a torn tail.
 */
async function lookAtTail(state: State): Promise<void> {
  const { files, paths } = state;
  const size = files.size(paths.leaves) ?? 0;
  const from = usable(state, size) ?? { count: 0, offset: 0 };
  state.frontier = readFrontier(files, state.hashes, from.count) ?? openFrontier();
  state.bytes = from.offset;
  const again: Hash[] = [];
  for (const line of lines(state, from, size)) {
    const stored = readHash(files, state.hashes, 0, line.index);
    const found = leafHash(line.bytes);
    const intact = line.leaf !== null && (stored === null || Buffer.compare(stored, found) === 0);
    if (!intact && stored === null && line.index >= (state.stored?.checkpoint.size ?? 0)) break;
    if (!intact)
      state.onFault({ kind: 'damaged', where: `${state.origin} leaf ${line.index}`, found: 'other bytes' });
    again.push(stored ?? found);
    state.bytes = line.end;
  }
  if (state.writable) await appendHashes(files, state.hashes, state.frontier, again);
  else for (const hash of again) remember(state, hash);
  if (readHash(files, state.hashes, 0, state.frontier.size()) !== null)
    fail('E_LOG_ROLLBACK', {
      where: state.origin,
      wanted: `more than ${state.frontier.size()} leaves: the next one was durable`,
      found: 'its hash alone',
    });
  if (state.bytes < size) await tornTail(state, size);
}

function remember(state: State, leaf: Hash): void {
  state.frontier.append(leaf, (level, index, hash) => state.unwritten.set(position(level, index), hash));
}

/** The cursor, if the file still has a line's end there and the hashes reach as far. */
function usable(state: State, size: number): LogCursor | null {
  const { from, files } = state;
  if (from.count === 0 || from.offset > size || readFrontier(files, state.hashes, from.count) === null)
    return null;
  const byte = Buffer.alloc(1);
  files.read(state.leaves, byte, from.offset - 1);
  return byte[0] === NEWLINE ? from : null;
}

async function tornTail(state: State, size: number): Promise<void> {
  const { files, layout, name, bytes: end } = state;
  state.onFault({
    kind: 'torn',
    where: `${state.origin} leaf ${state.frontier.size()}`,
    found: `${size - end} bytes`,
  });
  if (!state.writable) return;
  const tail = Buffer.alloc(size - end);
  files.read(state.leaves, tail, end);
  const kept = layout.quarantined(`log-${name}-at-${end}-${sha256Hex(tail).slice(0, 16)}`);
  await writeDurably(files, kept, tail, layout.temporary());
  // Dying here: the tail is in both places; the next owner does this again.
  await files.truncate(state.leaves, end);
  await files.sync(state.leaves);
}

async function checkAgainstCheckpoint(state: State): Promise<void> {
  const size = state.frontier.size();
  const signed =
    state.key !== null && ownKey(state) ? lastSigned(state.files, state.key, state.origin) : null;
  for (const known of [state.stored?.checkpoint, signed]) {
    if (known === undefined || known === null) continue;
    if (known.size > size)
      fail('E_LOG_ROLLBACK', { where: state.origin, wanted: `${known.size} leaves`, found: `${size}` });
    if (known.size === 0 || (await sameRoot(state, known))) continue;
    if (!(await remadeHashes(state, known)))
      fail('E_LOG_ROLLBACK', {
        where: state.origin,
        wanted: `the root signed at size ${known.size}`,
        found: 'another',
      });
  }
}

interface Known {
  readonly size: number;
  readonly root: Hash;
}

async function sameRoot(state: State, known: Known): Promise<boolean> {
  try {
    return same({ root: await rootAt(known.size, (level, index) => mustHash(state, level, index)) }, known);
  } catch (error) {
    if (isFault(error, 'E_STORE_DAMAGED')) return false;
    throw error;
  }
}

/** Where the leaves give the signed root and the stored hashes do not, the hashes are wrong: they are made again. */
async function remadeHashes(state: State, known: Known): Promise<boolean> {
  const hashes = [...lines(state, { count: 0, offset: 0 }, state.bytes)].map(({ bytes }) => leafHash(bytes));
  if (!same({ root: treeRoot(hashes.slice(0, known.size)) }, known)) return false;
  state.onFault({
    kind: 'damaged',
    where: state.paths.hashes,
    wanted: 'the hashes of its leaves',
    found: 'others',
  });
  state.frontier = openFrontier();
  if (state.writable) await appendHashes(state.files, state.hashes, state.frontier, hashes);
  else for (const hash of hashes) remember(state, hash);
  return true;
}

async function append(state: State, leaves: readonly Leaf[]): Promise<readonly Line[]> {
  mustAppend(state);
  const first = { count: state.frontier.size(), offset: state.bytes };
  const added = linesOf(leaves, first);
  const text = added.flatMap(({ bytes }) => [bytes, Buffer.from('\n')]);
  try {
    await state.files.write(state.leaves, text, first.offset);
    // Dying here: a torn tail, or whole leaves that the next owner finds and enters.
    await state.files.sync(state.leaves);
  } catch (error) {
    state.broken = error;
    throw error;
  }
  state.bytes = added.at(-1)?.end ?? state.bytes;
  try {
    // Dying here: leaves without hashes; the next owner makes them from the leaves.
    await appendHashes(
      state.files,
      state.hashes,
      state.frontier,
      added.map(({ bytes }) => leafHash(bytes)),
    );
  } catch (error) {
    // The leaves are durable, so their records exist; only this process can no longer prove them.
    state.broken = error;
  }
  return added;
}

function linesOf(leaves: readonly Leaf[], from: LogCursor): Line[] {
  let offset = from.offset;
  return leaves.map((leaf, i) => {
    const bytes = leafBytes(leaf);
    const line = { index: from.count + i, offset, end: offset + bytes.length + 1, bytes, leaf };
    offset = line.end;
    return line;
  });
}

function mustAppend(state: State): void {
  if (!state.writable) fail('E_READ_ONLY', { where: state.origin });
  if (state.broken !== null)
    fail('E_IO', {
      where: state.origin,
      found: 'an append that failed before',
      hint: 'Open the store again',
      cause: state.broken,
    });
  if (!ownKey(state))
    fail('E_LOG_KEY', {
      where: state.origin,
      wanted: 'the key of this log',
      found: state.key === null ? 'none' : `key ${state.key.id}`,
    });
}

async function checkpoint(state: State, atLeast: number): Promise<Uint8Array> {
  if (state.stored !== null && state.stored.checkpoint.size >= atLeast) return state.stored.bytes;
  mustAppend(state);
  const key = state.key as LogKey;
  const next = { origin: state.origin, size: state.frontier.size(), root: state.frontier.root() };
  const before = lastSigned(state.files, key, state.origin);
  if (before !== null && (before.size > next.size || (before.size === next.size && !same(before, next))))
    fail('E_LOG_ROLLBACK', {
      where: state.origin,
      wanted: `the tree signed at size ${before.size}`,
      found: `another of ${next.size}`,
    });
  await rememberSigned(state.files, key, state.origin, printCheckpoint(next));
  // Dying here: the size is taken; the same tree gives the same signature again.
  const bytes = signCheckpoint(next, noteSigner(state.origin, key.seed));
  await writeDurably(state.files, state.paths.checkpoint, bytes, state.layout.temporary());
  state.stored = { bytes, checkpoint: next };
  return bytes;
}

const same = (a: { root: Hash }, b: { root: Hash }): boolean => Buffer.compare(a.root, b.root) === 0;
