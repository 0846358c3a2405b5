/**
 * Merkle tree arithmetic of RFC 6962 section 2 (SHA-256): roots, the append frontier, inclusion and consistency.
 * Promises: proofs are computed in O(log size) reads from the hashes of complete subtrees; every check refuses
 * hashes that are not 32 bytes, indexes and sizes that are not safe integers, and an empty first tree.
 * Does not promise: storage, signatures, or trees of 2^53 leaves and more.
 */
import { sha256 } from './crypto.ts';
import { fail } from './errors.ts';

/** 32 bytes. */
export type Hash = Uint8Array;

/**
 * The hash of a complete subtree: level 0 is leaf hashes, `(level, index)` covers the leaves
 * `[index * 2^level, (index + 1) * 2^level)`.
 */
export type HashReader = (level: number, index: number) => Hash | Promise<Hash>;

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

/** Hash of an entry's bytes (RFC 6962 section 2.1). O(length). */
export function leafHash(entry: Uint8Array): Hash {
  return sha256(Buffer.concat([LEAF, entry]));
}

/** Hash of two subtrees. */
export function nodeHash(left: Hash, right: Hash): Hash {
  return sha256(Buffer.concat([NODE, left, right]));
}

/** Root of the tree without leaves: the hash of no bytes. */
export function emptyRoot(): Hash {
  return sha256(new Uint8Array());
}

/** Root over these leaf hashes. Throws E_PROOF when one is not 32 bytes. O(leaves). */
export function treeRoot(leafHashes: Iterable<Hash>): Hash {
  const frontier = openFrontier();
  for (const hash of leafHashes) frontier.append(hash);
  return frontier.root();
}

/** What a frontier needs to go on: plain data, the peaks in lower-case hexadecimal, from the largest subtree on. */
export interface FrontierState {
  readonly size: number;
  readonly peaks: readonly string[];
}

/** The right edge of a growing tree: one hash per set bit of its size. */
export interface Frontier {
  /** Adds one leaf hash; O(1) amortised. `complete` is told of every subtree this leaf completes, leaf first. */
  append(leaf: Hash, complete?: (level: number, index: number, hash: Hash) => void): void;
  /** O(log size). */
  root(): Hash;
  size(): number;
  state(): FrontierState;
}

/** A frontier, empty or going on from `state`. Throws E_PROOF for a state that no tree has. */
export function openFrontier(state: FrontierState = { size: 0, peaks: [] }): Frontier {
  const peaks = readPeaks(state);
  let size = state.size;
  return {
    append(leaf, complete) {
      let hash = must32(leaf, 'leaf hash');
      let index = size;
      let level = 0;
      complete?.(level, index, hash);
      for (; index % 2 === 1; level++) {
        hash = nodeHash(peaks.pop() as Hash, hash);
        index = (index - 1) / 2;
        complete?.(level + 1, index, hash);
      }
      peaks.push(hash);
      size++;
    },
    root: () =>
      peaks.length === 0 ? emptyRoot() : peaks.reduceRight((right, left) => nodeHash(left, right)),
    size: () => size,
    state: () => ({ size, peaks: peaks.map((peak) => Buffer.from(peak).toString('hex')) }),
  };
}

function readPeaks({ size, peaks }: FrontierState): Hash[] {
  mustCount(size, 'frontier size');
  const wanted = subtrees(0, size).length;
  if (peaks.length !== wanted) {
    fail('E_PROOF', { where: 'frontier', wanted: `${wanted} peaks`, found: String(peaks.length) });
  }
  return peaks.map((peak) => {
    if (!/^[0-9a-f]{64}$/.test(peak)) fail('E_PROOF', { where: 'frontier', wanted: '64 hexadecimal digits' });
    return Buffer.from(peak, 'hex');
  });
}

/** A complete subtree by place, as a `HashReader` is asked for it. */
export interface Subtree {
  readonly level: number;
  readonly index: number;
}

/**
 * The complete subtrees that cover the leaves `[start, end)`, left to right, largest first.
 * `start` is a multiple of the first one's width, as it is for every range an RFC 6962 proof asks for.
 */
export function subtrees(start: number, end: number): readonly Subtree[] {
  const found: Subtree[] = [];
  for (let at = start; at < end; ) {
    let level = 0;
    let width = 1;
    for (; width * 2 <= end - at; level++) width *= 2;
    found.push({ level, index: at / width });
    at += width;
  }
  return found;
}

/** Root of the first `size` leaves. Reads O(log size) hashes. */
export async function rootAt(size: number, read: HashReader): Promise<Hash> {
  mustCount(size, 'size');
  return size === 0 ? emptyRoot() : rangeHash({ start: 0, end: size }, read);
}

/** Audit path of leaf `index` in the tree of `size` leaves, leaf's sibling first (RFC 6962 section 2.1.1). Throws E_PROOF. */
export async function inclusionProof(index: number, size: number, read: HashReader): Promise<Hash[]> {
  mustCount(index, 'index');
  mustCount(size, 'size');
  if (index >= size) fail('E_PROOF', { where: 'index', wanted: `below ${size}`, found: String(index) });
  return readRanges(pathRanges(index, size), read);
}

/** Proof that the tree of `size1` leaves is a prefix of that of `size2` (RFC 6962 section 2.1.2). Throws E_PROOF. */
export async function consistencyProof(size1: number, size2: number, read: HashReader): Promise<Hash[]> {
  mustSizes(size1, size2);
  return readRanges(consistencyRanges(size1, size2), read);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

// The siblings met on the way from the root down to the leaf, turned round.
function pathRanges(index: number, size: number): Range[] {
  const ranges: Range[] = [];
  for (let start = 0, end = size; end - start > 1; ) {
    const middle = start + largestBelow(end - start);
    if (index < middle) {
      ranges.push({ start: middle, end });
      end = middle;
    } else {
      ranges.push({ start, end: middle });
      start = middle;
    }
  }
  return ranges.reverse();
}

function consistencyRanges(size1: number, size2: number): Range[] {
  const ranges: Range[] = [];
  let start = 0;
  let end = size2;
  while (end !== size1) {
    const middle = start + largestBelow(end - start);
    if (size1 <= middle) {
      ranges.push({ start: middle, end });
      end = middle;
    } else {
      ranges.push({ start, end: middle });
      start = middle;
    }
  }
  // Where the old tree is a complete subtree of the new one, its root is known and not repeated.
  if (start > 0) ranges.push({ start, end });
  return ranges.reverse();
}

/** The largest power of two below `count` (which is at least 2). */
function largestBelow(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}

async function readRanges(ranges: readonly Range[], read: HashReader): Promise<Hash[]> {
  const hashes: Hash[] = [];
  for (const range of ranges) hashes.push(await rangeHash(range, read));
  return hashes;
}

async function rangeHash({ start, end }: Range, read: HashReader): Promise<Hash> {
  const parts: Hash[] = [];
  for (const { level, index } of subtrees(start, end)) {
    parts.push(must32(await read(level, index), `subtree ${level}/${index}`));
  }
  return parts.reduceRight((right, left) => nodeHash(left, right));
}

export interface InclusionClaim {
  readonly index: number;
  readonly size: number;
  readonly leaf: Hash;
  readonly root: Hash;
  readonly proof: readonly Hash[];
}

/** Throws E_PROOF unless leaf hash `leaf` stands at `index` in the tree (RFC 9162 section 2.1.3.2). O(log size). */
export function verifyInclusion({ index, size, leaf, root, proof }: InclusionClaim): void {
  mustCount(index, 'index');
  mustCount(size, 'size');
  must32(root, 'root');
  let hash = must32(leaf, 'leaf hash');
  if (index >= size) fail('E_PROOF', { where: 'index', wanted: `below ${size}`, found: String(index) });
  const path = walkUp(index, size - 1);
  for (const sibling of proof) {
    const side = path.next();
    must32(sibling, 'proof hash');
    hash = side === 'left' ? nodeHash(sibling, hash) : nodeHash(hash, sibling);
  }
  if (!path.done()) fail('E_PROOF', { where: 'inclusion proof', wanted: 'more hashes', found: 'its end' });
  mustEqual(hash, root, 'root by inclusion');
}

export interface ConsistencyClaim {
  readonly size1: number;
  readonly root1: Hash;
  readonly size2: number;
  readonly root2: Hash;
  readonly proof: readonly Hash[];
}

/** Throws E_PROOF unless tree 1 is a prefix of tree 2 (RFC 9162 section 2.1.4.2). Tree 1 must not be empty. O(log size2). */
export function verifyConsistency({ size1, root1, size2, root2, proof }: ConsistencyClaim): void {
  mustSizes(size1, size2);
  must32(root1, 'root 1');
  must32(root2, 'root 2');
  for (const hash of proof) must32(hash, 'proof hash');
  if (size1 === size2) verifySame(root1, root2, proof);
  else verifyPrefix({ size1, root1, size2, root2, proof });
}

function verifySame(root1: Hash, root2: Hash, proof: readonly Hash[]): void {
  if (proof.length > 0) fail('E_PROOF', { where: 'consistency proof', wanted: 'no hash for equal sizes' });
  mustEqual(root1, root2, 'root of equal sizes');
}

function verifyPrefix({ size1, root1, size2, root2, proof }: ConsistencyClaim): void {
  // Start at the highest complete subtree on the right edge of tree 1; it is tree 1 itself if size1 is a power of two.
  let fn = size1 - 1;
  let sn = size2 - 1;
  for (; fn % 2 === 1; fn = (fn - 1) / 2) sn = Math.floor(sn / 2);
  const [seed, ...rest] = fn === 0 ? [root1, ...proof] : proof;
  if (seed === undefined) fail('E_PROOF', { where: 'consistency proof', wanted: 'hashes', found: 'none' });
  let [hash1, hash2] = [seed, seed];
  const path = walkUp(fn, sn);
  for (const hash of rest) {
    if (path.next() === 'left') {
      hash1 = nodeHash(hash, hash1);
      hash2 = nodeHash(hash, hash2);
    } else hash2 = nodeHash(hash2, hash);
  }
  if (!path.done()) fail('E_PROOF', { where: 'consistency proof', wanted: 'more hashes', found: 'its end' });
  mustEqual(hash1, root1, 'root 1 by consistency');
  mustEqual(hash2, root2, 'root 2 by consistency');
}

// RFC 9162's fn and sn: on which side the next sibling stands, from a node up to the root.
function walkUp(from: number, last: number): { next(): 'left' | 'right'; done(): boolean } {
  let fn = from;
  let sn = last;
  const up = () => {
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  };
  return {
    next() {
      if (sn === 0) fail('E_PROOF', { where: 'proof', wanted: 'no more hashes', found: 'one too many' });
      const side = fn % 2 === 1 || fn === sn ? 'left' : 'right';
      if (side === 'left') while (fn % 2 === 0 && fn !== 0) up();
      up();
      return side;
    },
    done: () => sn === 0,
  };
}

function must32(hash: Hash, where: string): Hash {
  if (hash.length !== 32) fail('E_PROOF', { where, wanted: '32 bytes', found: String(hash.length) });
  return hash;
}

function mustCount(value: number, where: string): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    fail('E_PROOF', { where, wanted: 'an integer from 0 to 2^53-1', found: String(value) });
  }
}

function mustSizes(size1: number, size2: number): void {
  mustCount(size1, 'size 1');
  mustCount(size2, 'size 2');
  if (size1 === 0 || size1 > size2) {
    fail('E_PROOF', { where: 'sizes', wanted: '1 <= size 1 <= size 2', found: `${size1}, ${size2}` });
  }
}

function mustEqual(found: Hash, wanted: Hash, where: string): void {
  if (Buffer.compare(found, wanted) === 0) return;
  const hex = (hash: Hash) => Buffer.from(hash).toString('hex');
  fail('E_PROOF', { where, wanted: hex(wanted), found: hex(found) });
}
