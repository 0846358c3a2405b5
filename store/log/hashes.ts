/**
 * The hashes of all complete subtrees of a log in one file, in the order in which they become complete (the layout of
 * Go's sumdb/tlog, "stored hashes"): a leaf, then every subtree it closes.
 * Promises: any hash is one read; an append writes only new bytes at the end.
 * Does not promise: durability. The file is a cache of the leaves and is made again from them.
 */
import type { Files } from '../files.ts';
import { type Frontier, type Hash, openFrontier, subtrees } from '../format/merkle.ts';

export const HASH_WIDTH = 32;

/** Number of hashes that stand before the one of subtree `(level, index)`. */
export function position(level: number, index: number): number {
  let leaf = index;
  for (let i = 0; i < level; i++) leaf = 2 * leaf + 1;
  return level + count(leaf);
}

/** Number of hashes of a log of `size` leaves: size + size/2 + size/4 … */
export function count(size: number): number {
  let total = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) total += rest;
  return total;
}

/** The stored hash, or null where the file ends before it or holds zeros (a page that never reached the disk). */
export function readHash(files: Files, fd: number, level: number, index: number): Hash | null {
  const hash = Buffer.allocUnsafeSlow(HASH_WIDTH);
  const got = files.read(fd, hash, position(level, index) * HASH_WIDTH);
  return got < HASH_WIDTH || hash.every((byte) => byte === 0) ? null : hash;
}

/** The right edge of the first `size` leaves, or null where the file does not hold it. O(log size). */
export function readFrontier(files: Files, fd: number, size: number): Frontier | null {
  const peaks: string[] = [];
  for (const { level, index } of subtrees(0, size)) {
    const hash = readHash(files, fd, level, index);
    if (hash === null) return null;
    peaks.push(Buffer.from(hash).toString('hex'));
  }
  return openFrontier({ size, peaks });
}

/** Adds leaf hashes to the frontier and writes every subtree they complete. */
export async function appendHashes(
  files: Files,
  fd: number,
  frontier: Frontier,
  leaves: readonly Hash[],
): Promise<void> {
  const at = count(frontier.size()) * HASH_WIDTH;
  const fresh: Hash[] = [];
  for (const leaf of leaves) frontier.append(leaf, (_level, _index, hash) => fresh.push(hash));
  await files.write(fd, [Buffer.concat(fresh)], at);
}
