/**
 * Blocks of 1 MiB and more: a file named by digest, and beside it a list by which each MiB is checked.
 * Promises: a file gets its name only when its bytes are durable and have that digest; one pass over the bytes.
 * Does not promise: reading (big-read.ts).
 */

import { type Files, writeDurably } from '../files.ts';
import type { Digest } from '../format/cid.ts';
import { hasher, sha256Hex } from '../format/crypto.ts';
import { type Layout, MEBIBYTE } from '../keys.ts';
import { type BigList, printList } from './big-list.ts';

/** A block on its way in: hashed while written, in pieces of a MiB. */
export interface BigWriter {
  /** Exactly a MiB, except for the last piece; it may be used again once this resolves. */
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
  const beginnings: string[] = [];
  let size = 0;
  let open = true;
  const close = () => {
    if (open) files.close(fd);
    open = false;
  };
  const digest = () => beginnings.at(-1) as Digest;
  return {
    async write(piece) {
      // The system writes while we hash.
      const writing = files.write(fd, [piece], size);
      writing.catch(() => undefined);
      whole.update(piece);
      beginnings.push(whole.soFar());
      size += piece.length;
      await writing;
    },
    digest,
    size: () => size,
    async commit() {
      await files.sync(fd);
      close();
      const list = printList({ size, beginnings, leaves: null });
      await writeDurably(files, layout.bigLeaves(digest()), list, layout.temporary());
      // Dying here: a list without its block, which a later put of the block writes again.
      await files.rename(path, layout.bigBlock(digest()));
      await files.syncFolder(layout.big);
    },
    async discard() {
      close();
      await files.remove(path);
    },
  };
}

/** A file piece by piece, the next being read while the last is looked at. The pieces share two buffers. */
export async function* filePieces(files: Files, path: string): AsyncGenerator<Uint8Array> {
  const fd = files.openRead(path);
  const buffers = [Buffer.allocUnsafeSlow(MEBIBYTE), Buffer.allocUnsafeSlow(MEBIBYTE)] as const;
  const read = (i: number) => files.readLater(fd, buffers[i % 2] as Buffer, i * MEBIBYTE);
  let next = read(0);
  try {
    for (let i = 0; ; i++) {
      const got = await next;
      if (got === 0) return;
      const last = got < MEBIBYTE;
      next = last ? Promise.resolve(0) : read(i + 1);
      next.catch(() => undefined);
      yield (buffers[i % 2] as Buffer).subarray(0, got);
      if (last) return;
    }
  } finally {
    await next.catch(() => undefined);
    files.close(fd);
  }
}

/** Size and digest of a file. O(size), one pass. */
export async function digestFile(
  files: Files,
  path: string,
): Promise<{ readonly size: number; readonly digest: Digest }> {
  const whole = hasher();
  let size = 0;
  for await (const piece of filePieces(files, path)) {
    whole.update(piece);
    size += piece.length;
  }
  return { size, digest: whole.hex() as Digest };
}

/** What a full read of the file finds: its list with the digest of each MiB alone. O(size), two passes. */
export async function measure(files: Files, path: string): Promise<BigList & { readonly digest: Digest }> {
  const whole = hasher();
  const beginnings: string[] = [];
  const leaves: string[] = [];
  let size = 0;
  for await (const piece of filePieces(files, path)) {
    whole.update(piece);
    beginnings.push(whole.soFar());
    leaves.push(sha256Hex(piece));
    size += piece.length;
  }
  return { size, beginnings, leaves, digest: whole.hex() as Digest };
}
