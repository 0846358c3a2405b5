/**
 * One log: leaves, one a line; the hashes of its tree; its last signed checkpoint.
 * Promises: `append` resolves when the leaves are durable; only durable leaves are signed, each size with one root; what is
 * proved or handed out as an entry is of a tree that was looked at as a whole. A log that is shorter than a checkpoint of
 * its own, or contradicts it, does not open (E_LOG_ROLLBACK).
 * Does not promise: that a leaf's record is there, or that a leaf stands only once (records.ts).
 */
import { damaged } from '../damage.ts';
import type { Cid } from '../format/cid.ts';
import { fail } from '../format/errors.ts';
import {
  consistencyProof,
  type Hash,
  type HashReader,
  inclusionProof,
  leafHash,
  rootAt,
} from '../format/merkle.ts';
import type { Tile } from '../format/tile.ts';
import { appendHashes } from './hashes.ts';
import type { LocalLeaf } from './leaf.ts';
import { lines, linesOf } from './lines.ts';
import { checkAgainstCheckpoint, checkpoint, mustAppend, ownKey } from './sign.ts';
import { closeState, type Line, type LogCursor, type LogOptions, openState, type State } from './state.ts';
import { lookAtTail } from './tail.ts';
import { hashTile, mustHash, remember, sound, storedHash } from './tree.ts';

export type { Line, LogCursor } from './state.ts';

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
  append(leaves: readonly LocalLeaf[]): Promise<readonly Line[]>;
  /** Lines as they stand: for whoever finds each record by its digest. */
  lines(from: LogCursor): Generator<Line>;
  /** Whether a line is what was entered. Two hashes. */
  holds(line: Line): boolean;
  /** Lines that are what was entered. Throws E_STORE_DAMAGED at the first that is not. */
  entries(from: LogCursor): AsyncGenerator<Line>;
  /** Looks at leaves and hashes as a whole. Throws E_STORE_DAMAGED. O(leaves) the first time. */
  sound(): Promise<void>;
  root(size: number): Promise<Hash>;
  inclusion(index: number, size: number): Promise<readonly Hash[]>;
  consistency(from: number, to: number): Promise<readonly Hash[]>;
  hashTile(tile: Tile): Promise<Uint8Array>;
  checkpoint(atLeast: number): Promise<Uint8Array>;
  close(): void;
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

function logOf(state: State): Log {
  const { name, origin, family, vkey } = state;
  return {
    name,
    origin,
    family,
    vkey,
    writable: () => state.writable && ownKey(state) && state.broken === null,
    size: () => state.frontier.size(),
    end: () => ({ count: state.frontier.size(), offset: state.bytes }),
    append: (leaves) => append(state, leaves),
    lines: (from) => lines(state, from, state.bytes),
    holds: (line) => holds(state, line),
    entries: (from) => entries(state, from),
    sound: () => sound(state),
    ...proofsOf(state),
    hashTile: (tile) => hashTile(state, tile),
    checkpoint: async (atLeast) => {
      mustReach(state, atLeast);
      const signing = state.signing.then(() => checkpoint(state, atLeast));
      state.signing = signing.catch(() => undefined);
      return signing;
    },
    close: () => closeState(state),
  };
}

function mustReach({ origin, frontier }: State, size: number): void {
  if (size > frontier.size())
    fail('E_NOT_FOUND', { where: `${origin} at size ${size}`, found: `size ${frontier.size()}` });
}

function proofsOf(state: State): Pick<Log, 'root' | 'inclusion' | 'consistency'> {
  const read: HashReader = (level, index) => mustHash(state, level, index);
  const over = async <T>(size: number, prove: () => Promise<T>): Promise<T> => {
    mustReach(state, size);
    await sound(state);
    return prove();
  };
  return {
    root: (size) => over(size, () => rootAt(size, read)),
    inclusion: (index, size) => over(size, () => inclusionProof(index, size, read)),
    consistency: (from, to) => over(to, () => consistencyProof(from, to, read)),
  };
}

function holds(state: State, { index, bytes, leaf }: Line): boolean {
  const stored = storedHash(state, 0, index);
  return leaf !== null && stored !== null && Buffer.compare(stored, leafHash(bytes)) === 0;
}

async function* entries(state: State, from: LogCursor): AsyncGenerator<Line> {
  await sound(state);
  for (const line of lines(state, from, state.bytes)) {
    if (state.damaged.has(line.index))
      damaged(`${state.paths.leaves} leaf ${line.index}`, 'the leaf that was entered', 'other bytes');
    yield line;
  }
}

async function append(state: State, leaves: readonly LocalLeaf[]): Promise<readonly Line[]> {
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
  const hashes = added.map(({ bytes }) => leafHash(bytes));
  try {
    // Dying here: leaves without hashes; the next owner makes them from the leaves.
    if (state.hashes !== null) await appendHashes(state.files, state.hashes, state.frontier, hashes);
    else for (const hash of hashes) remember(state, hash);
  } catch (error) {
    // The leaves are durable, so their records exist; only this process can no longer prove them.
    state.broken = error;
  }
  return added;
}
