/**
 * The tree of one log: stored hashes, and whether they are those of the leaves.
 * Promises: `sound` holds every leaf against its hash and every hash against those below it, once; of two that differ the
 * one that a signed root or the hashes above speak for counts; where nothing speaks, E_STORE_DAMAGED: nothing is proved
 * or signed over a guess.
 * Does not promise: anything before `sound` was asked: opening reads the end of a log only.
 */
import { damaged } from '../damage.ts';
import { fail } from '../format/errors.ts';
import { type Hash, leafHash, openFrontier } from '../format/merkle.ts';
import { TILE_WIDTH, type Tile } from '../format/tile.ts';
import { count, HASH_WIDTH, position, readHash } from './hashes.ts';
import { lines } from './lines.ts';
import type { State } from './state.ts';

/**
 * The stored hash, or null: one that was durable when the log was opened, or that this process put there. What an owner beside a reader appends
 * later belongs to leaves that the reader has not seen.
 */
export function storedHash(state: State, level: number, index: number): Hash | null {
  const at = position(level, index);
  const known = state.unwritten.get(at);
  if (known !== undefined || state.hashes === null) return known ?? null;
  if (!state.writable && (at + 1) * HASH_WIDTH > state.hashed) return null;
  return readHash(state.files, state.hashes, level, index);
}

export function mustHash(state: State, level: number, index: number): Hash {
  return (
    storedHash(state, level, index) ??
    damaged(state.paths.hashes, `a hash of level ${level} at ${index}`, 'nothing')
  );
}

/** Adds a leaf to a tree whose file cannot be written. */
export function remember(state: State, leaf: Hash): void {
  state.frontier.append(leaf, (level, index, hash) => state.unwritten.set(position(level, index), hash));
}

export async function hashTile(state: State, { level, index, width }: Tile): Promise<Uint8Array> {
  if (level === 'entries') return fail('E_INTERNAL', { found: 'a bundle among hash tiles' });
  const first = index * TILE_WIDTH;
  const complete = Math.floor(state.frontier.size() / TILE_WIDTH ** level);
  if (first + width > complete)
    fail('E_NOT_FOUND', { where: `${state.origin} tile ${level}/${index}.p/${width}` });
  await sound(state);
  return Buffer.concat(Array.from({ length: width }, (_, i) => mustHash(state, 8 * level, first + i)));
}

/** Throws E_STORE_DAMAGED. O(leaves) the first time, O(1) then. */
export function sound(state: State): Promise<void> {
  state.sound ??= look(state).catch((error: unknown) => {
    state.sound = null;
    throw error;
  });
  return state.sound;
}

/** Hashes of all complete subtrees, in the order of the file. */
interface Tree {
  readonly bytes: Buffer;
  readonly size: number;
}

async function look(state: State): Promise<void> {
  const { leaves, lost } = leafHashes(state);
  const found = treeOver(leaves);
  const kept = storedTree(state);
  if (lost.size === 0 && found.bytes.equals(kept.bytes)) return;
  const differing = [...Array(found.size).keys()].filter(
    (i) => lost.has(i) || !leafOf(found, i).equals(leafOf(kept, i)),
  );
  if (differing.length === 0) return putRight(state, found, kept);
  const asStored = treeOver(withLeavesOf(kept, leaves, differing));
  // A line that is no leaf cannot be the right one of two.
  const open = differing.filter((i) => !lost.has(i));
  if (speaksFor(state, asStored, kept, open)) {
    for (const i of differing) state.damaged.add(i);
    return putRight(state, asStored, kept);
  }
  if (lost.size === 0 && speaksFor(state, found, kept, differing)) return putRight(state, found, kept);
  const where = `${state.paths.leaves} leaf ${differing[0]}`;
  damaged(where, 'a leaf of the hash that was entered with it', 'another, and nothing says which is right');
}

/** SHA-256 of every leaf as it stands; `lost` are those that are no leaf any more. */
function leafHashes(state: State): { readonly leaves: Buffer; readonly lost: ReadonlySet<number> } {
  const size = state.frontier.size();
  const leaves = Buffer.alloc(size * HASH_WIDTH);
  const lost = new Set<number>();
  let lineCount = 0;
  for (const { index, bytes, leaf } of lines(state, { count: 0, offset: 0 }, state.bytes)) {
    if (leaf === null) lost.add(index);
    if (index < size) leaves.set(leafHash(bytes), index * HASH_WIDTH);
    lineCount++;
  }
  if (lineCount !== size) damaged(state.paths.leaves, `${size} leaves`, `${lineCount} lines`);
  return { leaves, lost };
}

function treeOver(leaves: Buffer): Tree {
  const size = leaves.length / HASH_WIDTH;
  const bytes = Buffer.alloc(count(size) * HASH_WIDTH);
  const frontier = openFrontier();
  for (let at = 0; at < leaves.length; at += HASH_WIDTH)
    frontier.append(leaves.subarray(at, at + HASH_WIDTH), (level, index, hash) =>
      bytes.set(hash, position(level, index) * HASH_WIDTH),
    );
  return { bytes, size };
}

/** The file as it stands, with what was learnt since. */
function storedTree(state: State): Tree {
  const size = state.frontier.size();
  const bytes = Buffer.alloc(count(size) * HASH_WIDTH);
  if (state.hashes !== null) state.files.read(state.hashes, bytes, 0);
  for (const [at, hash] of state.unwritten) if (at < count(size)) bytes.set(hash, at * HASH_WIDTH);
  return { bytes, size };
}

const hashAt = ({ bytes }: Tree, level: number, index: number): Buffer => {
  const at = position(level, index) * HASH_WIDTH;
  return bytes.subarray(at, at + HASH_WIDTH);
};
const leafOf = (tree: Tree, index: number): Buffer => hashAt(tree, 0, index);

function withLeavesOf(kept: Tree, leaves: Buffer, differing: readonly number[]): Buffer {
  const out = Buffer.from(leaves);
  for (const i of differing) out.set(leafOf(kept, i), i * HASH_WIDTH);
  return out;
}

/** Whether a signed root, or for each differing leaf the stored hash above it, is that of this tree. */
function speaksFor(state: State, tree: Tree, kept: Tree, differing: readonly number[]): boolean {
  const signed = state.stored?.checkpoint;
  const last = differing.at(-1) ?? -1;
  if (signed !== undefined && last < signed.size && signed.size <= tree.size)
    return Buffer.compare(rootOf(tree, signed.size), signed.root) === 0;
  return differing.every((i) => {
    const above = i >> 1;
    const complete = 2 * above + 1 < tree.size;
    return complete && hashAt(tree, 1, above).equals(hashAt(kept, 1, above));
  });
}

function rootOf(tree: Tree, size: number): Hash {
  const frontier = openFrontier();
  for (let i = 0; i < size; i++) frontier.append(leafOf(tree, i));
  return frontier.root();
}

/** The stored hashes become those of `tree`. */
async function putRight(state: State, tree: Tree, kept: Tree): Promise<void> {
  const frontier = openFrontier();
  for (let i = 0; i < tree.size; i++) frontier.append(leafOf(tree, i));
  state.frontier = frontier;
  state.unwritten.clear();
  if (tree.bytes.equals(kept.bytes)) return;
  const wanted = 'the hashes of its leaves';
  state.onFault({ kind: 'damaged', where: state.paths.hashes, wanted, found: 'others' });
  if (state.writable && state.hashes !== null) return state.files.write(state.hashes, [tree.bytes], 0);
  for (let at = 0; at < count(tree.size); at++)
    state.unwritten.set(at, tree.bytes.subarray(at * HASH_WIDTH, (at + 1) * HASH_WIDTH));
}
