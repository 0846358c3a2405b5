/**
 * Checkpoints of one log.
 * Promises: only durable leaves of a sound tree are signed, each size with one root; a log that is shorter than a
 * checkpoint of its own, or contradicts it, is E_LOG_ROLLBACK.
 * Does not promise: a checkpoint where the key is not here (E_LOG_KEY).
 */
import { writeDurably } from '../files.ts';
import { printCheckpoint, signCheckpoint } from '../format/checkpoint.ts';
import { fail, isFault } from '../format/errors.ts';
import { type Hash, leafHash, openFrontier, rootAt, treeRoot } from '../format/merkle.ts';
import { noteSigner, parseVerifierKey } from '../format/note.ts';
import { appendHashes } from './hashes.ts';
import { type LogKey, lastSigned, rememberSigned } from './key.ts';
import { lines } from './lines.ts';
import type { State } from './state.ts';
import { mustHash, remember, sound } from './tree.ts';

/** Whether the key that we hold is the one of this log. */
export const ownKey = ({ key, vkey, origin }: State): boolean =>
  key !== null &&
  Buffer.compare(parseVerifierKey(vkey).publicKey, key.publicKey) === 0 &&
  origin.includes(key.id);

/** Throws E_READ_ONLY, E_IO after a failed append, E_LOG_KEY. */
export function mustAppend(state: State): void {
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

/** A signed checkpoint over at least so many leaves. Throws E_LOG_ROLLBACK, E_STORE_DAMAGED, what `mustAppend` throws. */
export async function checkpoint(state: State, atLeast: number): Promise<Uint8Array> {
  if (state.stored !== null && state.stored.checkpoint.size >= atLeast) return state.stored.bytes;
  mustAppend(state);
  await sound(state);
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

/** Throws E_LOG_ROLLBACK. O(log leaves) where all is well. */
export async function checkAgainstCheckpoint(state: State): Promise<void> {
  const size = state.frontier.size();
  const signed =
    state.key !== null && ownKey(state) ? lastSigned(state.files, state.key, state.origin) : null;
  for (const known of [state.stored?.checkpoint, signed]) {
    if (known === undefined || known === null) continue;
    if (known.size > size)
      fail('E_LOG_ROLLBACK', { where: state.paths.leaves, wanted: `${known.size} leaves`, found: `${size}` });
    if (known.size === 0 || (await sameRoot(state, known))) continue;
    if (!(await remadeHashes(state, known)))
      fail('E_LOG_ROLLBACK', {
        where: state.paths.leaves,
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
  state.unwritten.clear();
  if (state.writable && state.hashes !== null)
    await appendHashes(state.files, state.hashes, state.frontier, hashes);
  else for (const hash of hashes) remember(state, hash);
  return true;
}

const same = (a: { root: Hash }, b: { root: Hash }): boolean => Buffer.compare(a.root, b.root) === 0;
