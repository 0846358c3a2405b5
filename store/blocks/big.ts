/**
 * Blocks of 1 MiB and more: a file named by digest, and beside it the SHA-256 of each of its MiB.
 * Promises: a file gets its name only when its bytes are durable and have that digest; every MiB is checked before it
 * is handed out; a full read also checks the whole before the last MiB leaves.
 * Does not promise: that the leaf list is there; without a sound one it is made again in memory by a full read.
 */

import { type Files, readWhole, writeDurably } from '../files.ts';
import type { Digest } from '../format/cid.ts';
import { hasher, sha256Hex } from '../format/crypto.ts';
import { fail } from '../format/errors.ts';
import type { Range } from '../format/reader.ts';
import { counted } from '../format/words.ts';
import { type Layout, MEBIBYTE } from '../keys.ts';

const MAGIC = Buffer.from('ashlar leaves v1', 'latin1');
const HEAD = MAGIC.length + 8;

/** The leaf hashes of a block. */
export interface Leaves {
  readonly size: number;
  /** Hexadecimal SHA-256 of each MiB; the last may be shorter. */
  readonly hashes: readonly string[];
}

/** `"ashlar leaves v1"  size: u64  SHA-256 of each MiB  SHA-256 of all before` */
export function printLeaves({ size, hashes }: Leaves): Uint8Array {
  const head = Buffer.alloc(HEAD);
  head.set(MAGIC, 0);
  head.writeBigUInt64BE(BigInt(size), MAGIC.length);
  const body = Buffer.concat([head, Buffer.from(hashes.join(''), 'hex')]);
  return Buffer.concat([body, Buffer.from(sha256Hex(body), 'hex')]);
}

/** The list in these bytes, or null where they are damaged. */
export function readLeaves(bytes: Uint8Array): Leaves | null {
  const view = Buffer.from(bytes);
  const end = view.length - 32;
  if (end < HEAD || !view.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  if (sha256Hex(view.subarray(0, end)) !== view.toString('hex', end)) return null;
  const size = Number(view.readBigUInt64BE(MAGIC.length));
  if (end - HEAD !== 32 * Math.ceil(size / MEBIBYTE)) return null;
  const hashes: string[] = [];
  for (let at = HEAD; at < end; at += 32) hashes.push(view.toString('hex', at, at + 32));
  return { size, hashes };
}

/** A block on its way in: hashed while written, in pieces of a MiB. */
export interface BigWriter {
  /** Exactly a MiB, except for the last piece. */
  write(piece: Uint8Array): Promise<void>;
  digest(): Digest;
  size(): number;
  /** Puts the file and its list in place. */
  commit(): Promise<void>;
  /** Removes what was written. */
  discard(): Promise<void>;
}

export async function createBig(files: Files, layout: Layout): Promise<BigWriter> {
  const path = layout.temporary();
  const fd = await files.create(path);
  const whole = hasher();
  const hashes: string[] = [];
  let size = 0;
  let digest: Digest | null = null;
  let open = true;
  const close = () => {
    if (open) files.close(fd);
    open = false;
  };
  const name = (): Digest => {
    digest ??= whole.hex() as Digest;
    return digest;
  };
  return {
    async write(piece) {
      const writing = files.write(fd, [piece], size);
      writing.catch(() => undefined);
      whole.update(piece);
      hashes.push(sha256Hex(piece));
      size += piece.length;
      await writing;
    },
    digest: name,
    size: () => size,
    async commit() {
      await files.sync(fd);
      close();
      await writeDurably(files, layout.bigLeaves(name()), printLeaves({ size, hashes }), layout.temporary());
      // Dying here: a list without its block, which a later put of the block writes again.
      await files.rename(path, layout.bigBlock(name()));
      await files.syncFolder(layout.big);
    },
    async discard() {
      close();
      await files.remove(path);
    },
  };
}

/** Size and digest of a file. O(size), one pass. */
export async function digestFile(
  files: Files,
  path: string,
): Promise<{ readonly size: number; readonly digest: Digest }> {
  const fd = files.openRead(path);
  const buffer = Buffer.allocUnsafe(MEBIBYTE);
  const whole = hasher();
  let size = 0;
  try {
    for (let got = MEBIBYTE; got === MEBIBYTE; size += got) {
      got = await files.readLater(fd, buffer, size);
      whole.update(buffer.subarray(0, got));
    }
  } finally {
    files.close(fd);
  }
  return { size, digest: whole.hex() as Digest };
}

/** What a full read of the file finds, leaf hashes too. O(size). */
export async function measure(files: Files, path: string): Promise<Leaves & { readonly digest: Digest }> {
  const fd = files.openRead(path);
  const buffer = Buffer.allocUnsafe(MEBIBYTE);
  const whole = hasher();
  const hashes: string[] = [];
  let size = 0;
  try {
    for (let got = MEBIBYTE; got === MEBIBYTE; size += got) {
      got = await files.readLater(fd, buffer, size);
      if (got === 0) break;
      const piece = buffer.subarray(0, got);
      whole.update(piece);
      hashes.push(sha256Hex(piece));
    }
  } finally {
    files.close(fd);
  }
  return { size, hashes, digest: whole.hex() as Digest };
}

/** The stored list; where it is missing or damaged, a new one from the block itself. Throws E_DIGEST. */
async function leavesOf(files: Files, layout: Layout, digest: Digest): Promise<Leaves> {
  const bytes = readWhole(files, layout.bigLeaves(digest));
  const stored = bytes === null ? null : readLeaves(bytes);
  if (stored !== null) return stored;
  const found = await measure(files, layout.bigBlock(digest));
  return found.digest === digest
    ? found
    : bad(digest, `${counted(found.size, 'byte')} of sha256:${found.digest}`);
}

const bad = (digest: Digest, found: string): never =>
  fail('E_DIGEST', {
    where: `sha256:${digest}`,
    wanted: `sha256:${digest}`,
    found,
    hint: '`ashlar check` names all damage',
  });

/**
 * The bytes of `[start, end)`, MiB by MiB, each checked before it is handed out. Throws E_DIGEST, E_NOT_FOUND.
 * Memory: two MiB.
 */
export async function* streamBig(
  files: Files,
  layout: Layout,
  digest: Digest,
  range?: Range,
): AsyncGenerator<Uint8Array> {
  const leaves = await leavesOf(files, layout, digest);
  const start = Math.min(range?.start ?? 0, leaves.size);
  const end = Math.min(range?.end ?? leaves.size, leaves.size);
  const whole = start === 0 && end === leaves.size ? hasher() : null;
  const fd = files.openRead(layout.bigBlock(digest));
  try {
    for (let i = Math.floor(start / MEBIBYTE); i * MEBIBYTE < end; i++) {
      const at = i * MEBIBYTE;
      const piece = await leaf(files, fd, leaves, i, digest);
      whole?.update(piece);
      if (whole !== null && at + piece.length === leaves.size) mustBe(digest, whole.hex());
      const out = piece.subarray(Math.max(start - at, 0), Math.min(end - at, piece.length));
      if (out.length > 0) yield out;
    }
  } finally {
    files.close(fd);
  }
}

async function leaf(
  files: Files,
  fd: number,
  leaves: Leaves,
  i: number,
  digest: Digest,
): Promise<Uint8Array> {
  const wanted = Math.min(MEBIBYTE, leaves.size - i * MEBIBYTE);
  const piece = Buffer.allocUnsafeSlow(wanted);
  const got = await files.readLater(fd, piece, i * MEBIBYTE);
  if (got < wanted) bad(digest, `an end at byte ${i * MEBIBYTE + got} of ${leaves.size}`);
  if (sha256Hex(piece) !== leaves.hashes[i]) bad(digest, `other bytes in MiB ${i}`);
  return piece;
}

function mustBe(digest: Digest, found: string): void {
  if (found !== digest) bad(digest, `sha256:${found}`);
}
