/**
 * The flush record: the raw block that closes every flush of a segment and says what the flush holds.
 * Promises: from a sound record alone every block of its flush is found, whatever became of the frames between.
 * Does not promise: that those blocks are sound; their digests say so.
 *
 *   "ashlar flush v1\n"  from: u64  count: u32  count x (codec: u8, digest: 32, length: u32)  SHA-256 of all before
 */
import type { Codec, Digest } from '../format/cid.ts';
import { sha256, sha256Hex } from '../format/crypto.ts';
import { headLength, sectionHead } from '../frame.ts';

export interface FlushEntry {
  readonly codec: Codec;
  readonly digest: Digest;
  readonly length: number;
}

export interface FlushRecord {
  /** Offset in the segment at which the flush begins. */
  readonly from: number;
  readonly entries: readonly FlushEntry[];
}

export const MAGIC = Buffer.from('ashlar flush v1\n', 'latin1');
const FIXED = MAGIC.length + 8 + 4;
const ENTRY = 37;
const CHECK = 32;
const CODECS: readonly Codec[] = ['raw', 'dag-json'];
/** Keeps the record itself a small block. */
export const MAX_ENTRIES = 16_384;

/** Bytes of the record of a flush of `count` blocks. */
export const recordLength = (count: number): number => FIXED + ENTRY * count + CHECK;

/** The section (head and bytes) that closes a flush. */
export function flushSection({ from, entries }: FlushRecord): Uint8Array {
  const out = Buffer.alloc(recordLength(entries.length));
  out.set(MAGIC, 0);
  out.writeBigUInt64BE(BigInt(from), MAGIC.length);
  out.writeUInt32BE(entries.length, MAGIC.length + 8);
  let at = FIXED;
  for (const { codec, digest, length } of entries) {
    out[at] = CODECS.indexOf(codec);
    out.write(digest, at + 1, 32, 'hex');
    out.writeUInt32BE(length, at + 33);
    at += ENTRY;
  }
  out.set(sha256(out.subarray(0, at)), at);
  return Buffer.concat([sectionHead('raw', sha256Hex(out) as Digest, out.length), out]);
}

/** The record at the start of these bytes, or null. Bytes behind it are not looked at. O(record). */
export function readFlush(bytes: Uint8Array): FlushRecord | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.length < FIXED + CHECK || MAGIC.compare(view, 0, MAGIC.length) !== 0) return null;
  const from = Number(view.readBigUInt64BE(MAGIC.length));
  const count = view.readUInt32BE(MAGIC.length + 8);
  const end = FIXED + ENTRY * count;
  if (count > MAX_ENTRIES || view.length < end + CHECK || !Number.isSafeInteger(from)) return null;
  if (Buffer.compare(sha256(view.subarray(0, end)), view.subarray(end, end + CHECK)) !== 0) return null;
  const entries: FlushEntry[] = [];
  for (let at = FIXED; at < end; at += ENTRY) {
    const codec = CODECS[view[at] as number];
    if (codec === undefined) return null;
    const digest = view.toString('hex', at + 1, at + 33) as Digest;
    entries.push({ codec, digest, length: view.readUInt32BE(at + 33) });
  }
  return { from, entries };
}

export interface PlacedEntry extends FlushEntry {
  /** Offset of the block's own bytes. */
  readonly offset: number;
}

/** Where the blocks of a flush lie, and where its record's section begins. */
export function placed({ from, entries }: FlushRecord): { blocks: readonly PlacedEntry[]; end: number } {
  let at = from;
  const blocks = entries.map((entry) => {
    const offset = at + headLength(entry.codec, entry.length);
    at = offset + entry.length;
    return { ...entry, offset };
  });
  return { blocks, end: at };
}
