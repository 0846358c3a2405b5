/**
 * Reading big blocks.
 * Promises: every MiB is checked before it is handed out. From the start of a block it is checked as the end of all that
 * was read so far, so that a full read is one pass and its last MiB leaves only when the whole has the block's digest;
 * from the middle by its own digest. Memory: two MiB.
 * Does not promise: that the first read from the middle is as quick as the later ones: it reads the whole block once.
 */

import { type Files, readWhole, writeDurably } from '../files.ts';
import type { Digest } from '../format/cid.ts';
import { hasher, sha256Hex } from '../format/crypto.ts';
import { fail, isFault } from '../format/errors.ts';
import type { Range } from '../format/reader.ts';
import { counted } from '../format/words.ts';
import { type Layout, MEBIBYTE } from '../keys.ts';
import { measure } from './big.ts';
import { type BigList, printList, readList } from './big-list.ts';

export interface BigReader {
  /** The bytes of `[start, end)`. Throws E_DIGEST, E_NOT_FOUND. */
  stream(digest: Digest, range?: Range): AsyncGenerator<Uint8Array>;
}

interface State {
  readonly files: Files;
  readonly layout: Layout;
  /** Whether a list that was made may be kept. */
  readonly writable: boolean;
  /** Lists made in this process, for a store that cannot keep them. */
  readonly made: Map<Digest, BigList>;
}

/** Lists held in memory; each is 64 bytes a MiB. */
const HELD = 64;

export function openBigReader(files: Files, layout: Layout, writable: boolean): BigReader {
  const state: State = { files, layout, writable, made: new Map() };
  return { stream: (digest, range) => stream(state, digest, range) };
}

/** The stored list; where it is missing or damaged, or lacks what is needed, one from the block itself. */
async function listOf(state: State, digest: Digest, needLeaves: boolean): Promise<BigList> {
  const { files, layout, made } = state;
  const held = made.get(digest);
  if (held !== undefined) return held;
  const bytes = readWhole(files, layout.bigLeaves(digest));
  const stored = bytes === null ? null : readList(bytes, digest);
  if (stored !== null && (!needLeaves || stored.leaves !== null)) return stored;
  const { digest: found, ...list } = await measure(files, layout.bigBlock(digest));
  if (found !== digest) bad(digest, `${counted(list.size, 'byte')} of sha256:${found}`);
  if (state.writable) await keep(state, digest, list);
  made.set(digest, list);
  const [oldest] = made.keys();
  if (made.size > HELD && oldest !== undefined) made.delete(oldest);
  return list;
}

/** The list saves work; a disk that does not take it keeps nobody from reading. */
async function keep({ files, layout }: State, digest: Digest, list: BigList): Promise<void> {
  try {
    await writeDurably(files, layout.bigLeaves(digest), printList(list), layout.temporary());
  } catch (error) {
    if (!isFault(error, 'E_IO')) throw error;
  }
}

const bad = (digest: Digest, found: string): never =>
  fail('E_DIGEST', {
    where: `sha256:${digest}`,
    wanted: `sha256:${digest}`,
    found,
    hint: '`ashlar check` names all damage',
  });

async function* stream(state: State, digest: Digest, range?: Range): AsyncGenerator<Uint8Array> {
  const { files, layout } = state;
  const first = Math.floor((range?.start ?? 0) / MEBIBYTE);
  const list = await listOf(state, digest, first > 0);
  const start = Math.min(range?.start ?? 0, list.size);
  const end = Math.min(range?.end ?? list.size, list.size);
  if (start >= end) return;
  const check = first === 0 ? beginningsOf(digest, list) : leavesOf(digest, list);
  const fd = files.openRead(layout.bigBlock(digest));
  let next = piece(files, fd, list, first);
  try {
    for (let i = first; i * MEBIBYTE < end; i++) {
      const { bytes, got } = await next;
      if (got < bytes.length) bad(digest, `an end at byte ${i * MEBIBYTE + got} of ${list.size}`);
      if ((i + 1) * MEBIBYTE < end) next = piece(files, fd, list, i + 1);
      next.catch(() => undefined);
      check(bytes, i);
      yield bytes.subarray(Math.max(start - i * MEBIBYTE, 0), Math.min(end - i * MEBIBYTE, bytes.length));
    }
  } finally {
    await next.catch(() => undefined);
    files.close(fd);
  }
}

async function piece(
  files: Files,
  fd: number,
  { size }: BigList,
  i: number,
): Promise<{ readonly bytes: Buffer; readonly got: number }> {
  const bytes = Buffer.allocUnsafeSlow(Math.min(MEBIBYTE, size - i * MEBIBYTE));
  return { bytes, got: await files.readLater(fd, bytes, i * MEBIBYTE) };
}

type Check = (bytes: Uint8Array, i: number) => void;

function beginningsOf(digest: Digest, { beginnings }: BigList): Check {
  const whole = hasher();
  return (bytes, i) => {
    whole.update(bytes);
    if (whole.soFar() !== beginnings[i]) bad(digest, `other bytes in MiB ${i}`);
  };
}

const leavesOf =
  (digest: Digest, { leaves }: BigList): Check =>
  (bytes, i) => {
    if (sha256Hex(bytes) !== leaves?.[i]) bad(digest, `other bytes in MiB ${i}`);
  };
