/**
 * The list beside a big block: what each of its MiB is checked by.
 * Promises: a list that does not read is null; one that reads ends with the block's own digest.
 * Does not promise: to be there; it is made again from the block.
 *
 *   "ashlar leaves v2"  size: u64  count: u64  SHA-256 of the first MiB, of the first two MiB ...
 *   count x SHA-256 of each MiB alone  SHA-256 of all before
 *
 * The digests of beginnings cost nothing beside the block's own, and a read from the start is checked by them in one pass.
 * Those of each MiB alone cost a second pass: they are made when the middle of a block is first asked for.
 */
import type { Digest } from '../format/cid.ts';
import { sha256Hex } from '../format/crypto.ts';
import { MEBIBYTE } from '../keys.ts';

const MAGIC = Buffer.from('ashlar leaves v2', 'latin1');
const HEAD = MAGIC.length + 16;
const WIDTH = 32;

export interface BigList {
  readonly size: number;
  /** Hexadecimal SHA-256 of the first MiB, of the first two, and so on; the last is the block's digest. */
  readonly beginnings: readonly string[];
  /** Hexadecimal SHA-256 of each MiB; the last may be shorter. null: not made yet. */
  readonly leaves: readonly string[] | null;
}

export function printList({ size, beginnings, leaves }: BigList): Uint8Array {
  const head = Buffer.alloc(HEAD);
  head.set(MAGIC, 0);
  head.writeBigUInt64BE(BigInt(size), MAGIC.length);
  head.writeBigUInt64BE(BigInt(leaves?.length ?? 0), MAGIC.length + 8);
  const body = Buffer.concat([head, Buffer.from([...beginnings, ...(leaves ?? [])].join(''), 'hex')]);
  return Buffer.concat([body, Buffer.from(sha256Hex(body), 'hex')]);
}

/** The list of this block in these bytes, or null where they are damaged or another's. */
export function readList(bytes: Uint8Array, digest: Digest): BigList | null {
  const view = Buffer.from(bytes);
  const end = view.length - WIDTH;
  if (end < HEAD || !view.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  if (sha256Hex(view.subarray(0, end)) !== view.toString('hex', end)) return null;
  const size = Number(view.readBigUInt64BE(MAGIC.length));
  const count = Math.ceil(size / MEBIBYTE);
  const leafCount = Number(view.readBigUInt64BE(MAGIC.length + 8));
  if (leafCount !== 0 && leafCount !== count) return null;
  if (end - HEAD !== WIDTH * (count + leafCount)) return null;
  const hashes = (from: number, number: number) =>
    Array.from({ length: number }, (_, i) => view.toString('hex', from + i * WIDTH, from + (i + 1) * WIDTH));
  const beginnings = hashes(HEAD, count);
  if (beginnings.at(-1) !== digest) return null;
  return { size, beginnings, leaves: leafCount === 0 ? null : hashes(HEAD + count * WIDTH, count) };
}
