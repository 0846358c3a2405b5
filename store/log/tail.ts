/**
 * The end of a log when it is opened: what nobody has looked at yet.
 * Promises: a leaf with a stored hash was durable once: another hash now is damage, and the tree keeps what it was signed
 * for; bytes behind the last stored hash that are no leaf are a torn tail and go to quarantine; a leaf that is gone is
 * E_LOG_ROLLBACK.
 * Does not promise: leaves before the cursor; tree.ts looks at all of them when something is to be proved.
 */
import { damaged } from '../damage.ts';
import { writeDurably } from '../files.ts';
import { sha256Hex } from '../format/crypto.ts';
import { fail } from '../format/errors.ts';
import { type Frontier, type Hash, leafHash, openFrontier } from '../format/merkle.ts';
import { appendHashes, readFrontier } from './hashes.ts';
import { lines, NEWLINE } from './lines.ts';
import type { Line, LogCursor, State } from './state.ts';
import { remember, storedHash } from './tree.ts';

/** Throws E_LOG_ROLLBACK, E_STORE_DAMAGED. O(leaves behind the cursor). */
export async function lookAtTail(state: State): Promise<void> {
  const { files, paths } = state;
  const size = files.size(paths.leaves) ?? 0;
  const from = usable(state, size) ?? { count: 0, offset: 0 };
  const { held, missing, end } = readTail(state, from, size);
  if (missing.length > 0 && state.hashes !== null)
    state.onFault({
      kind: 'torn',
      where: paths.hashes,
      found: `no hash of the last ${missing.length} leaves`,
    });
  state.frontier = frontierAt(state, held);
  state.bytes = end;
  if (state.writable && state.hashes !== null)
    await appendHashes(files, state.hashes, state.frontier, missing);
  else for (const hash of missing) remember(state, hash);
  if (storedHash(state, 0, state.frontier.size()) !== null)
    fail('E_LOG_ROLLBACK', {
      where: paths.leaves,
      wanted: `more than ${state.frontier.size()} leaves: the next one was durable`,
      found: 'its hash alone',
    });
  if (state.bytes < size) await tornTail(state, size);
}

interface Tail {
  /** Leaves whose hash is in the file. */
  readonly held: number;
  /** Hashes of the leaves behind them. */
  readonly missing: readonly Hash[];
  /** Where the next leaf begins. */
  readonly end: number;
}

function readTail(state: State, from: LogCursor, size: number): Tail {
  const missing: Hash[] = [];
  let held = from.count;
  let end = from.offset;
  let harmed = false;
  for (const line of lines(state, from, size)) {
    const stored = storedHash(state, 0, line.index);
    const found = leafHash(line.bytes);
    const intact = line.leaf !== null && (stored === null || Buffer.compare(stored, found) === 0);
    if (!intact && stored === null && line.index >= (state.stored?.checkpoint.size ?? 0)) break;
    // A newline more or less makes other lines of all that follow: the last one is then no new leaf.
    if (harmed && stored === null) damaged(state.paths.leaves, 'as many leaves as hashes', 'more');
    if (!intact) nameDamage(state, line);
    harmed ||= !intact;
    if (stored === null || missing.length > 0) missing.push(stored ?? found);
    else held++;
    end = line.end;
  }
  return { held, missing, end };
}

function nameDamage({ onFault, origin }: State, { index }: Line): void {
  onFault({ kind: 'damaged', where: `${origin} leaf ${index}`, found: 'other bytes' });
}

/** The right edge of the first `size` leaves; from their hashes where a hash above them is missing. */
function frontierAt(state: State, size: number): Frontier {
  const stored = state.hashes === null ? null : readFrontier(state.files, state.hashes, size);
  if (stored !== null) return stored;
  const frontier = openFrontier();
  for (let i = 0; i < size; i++) frontier.append(storedHash(state, 0, i) as Hash);
  return frontier;
}

/** The cursor, if the file still has a line's end there and the hashes reach as far. */
function usable(state: State, size: number): LogCursor | null {
  const { from, files, hashes } = state;
  if (from.count === 0 || from.offset > size || hashes === null) return null;
  if (readFrontier(files, hashes, from.count) === null) return null;
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
