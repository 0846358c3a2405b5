/**
 * What an owner does with segments and big files before it serves: read what the index has not seen.
 * Promises: after it every durable block is indexed; a torn tail lies in `quarantine/`; the same function serves a
 * fresh index, an old one and none. Going over it again changes nothing.
 * Does not promise: sound blocks; reads hash them.
 */

import type { OnFault } from '../faults.ts';
import { type Files, writeDurably } from '../files.ts';
import { type Digest, isDigest } from '../format/cid.ts';
import { sha256Hex } from '../format/crypto.ts';
import { isFault } from '../format/errors.ts';
import { counted } from '../format/words.ts';
import { type Layout, segmentNumber } from '../keys.ts';
import type { PlacedEntry } from './flush.ts';
import type { PlaceRow, Places } from './places.ts';
import { afterHeader, openWindow, SEGMENT_HEADER, type Stretch, scan, type Window } from './scan.ts';
import type { OpenSegment } from './segments.ts';

export interface Recovery {
  readonly files: Files;
  readonly layout: Layout;
  readonly places: Places;
  readonly writable: boolean;
  readonly onFault: OnFault;
}

export interface Recovered {
  /** The segment to go on with, or null. */
  readonly last: OpenSegment | null;
  /** Number of the next new segment. */
  readonly next: number;
  /** Sound blocks out of torn tails, to be appended again. */
  readonly salvaged: readonly Salvaged[];
}

export interface Salvaged extends PlacedEntry {
  readonly bytes: Uint8Array;
}

/** Index rows wait in memory until written; this many at most. */
const SETTLE_EVERY = 50_000;

/** Numbers of the segments that are there, in order. */
export function segmentNumbers(files: Files, layout: Layout): readonly number[] {
  const numbers = files.list(layout.segments).map(segmentNumber);
  return numbers.filter((n): n is number => n !== null).sort((a, b) => a - b);
}

/** Digests of the big files that are there. */
export function bigDigests(files: Files, layout: Layout): readonly Digest[] {
  return files.list(layout.big).filter(isDigest);
}

export async function recover(recovery: Recovery): Promise<Recovered> {
  const { files, layout, places } = recovery;
  if (!(await places.isWhole(SEGMENT_HEADER.length))) await places.clear();
  const cursor = places.cursor();
  const salvaged: Salvaged[] = [];
  let last: OpenSegment | null = null;
  let next = 1;
  for (const number of segmentNumbers(files, layout)) {
    next = number + 1;
    if (cursor !== null && number < cursor.segment) continue;
    const from = cursor?.segment === number ? cursor.offset : 0;
    last = await recoverSegment(recovery, number, from, salvaged);
  }
  for (const digest of bigDigests(files, layout)) {
    const length = files.size(layout.bigBlock(digest)) ?? 0;
    if (places.get(digest) === undefined) places.add([{ digest, place: { type: 'big', length } }]);
  }
  await places.settle();
  return { last, next, salvaged };
}

async function recoverSegment(
  recovery: Recovery,
  number: number,
  from: number,
  salvaged: Salvaged[],
): Promise<OpenSegment | null> {
  const { files, layout, places, onFault } = recovery;
  const path = layout.segment(number);
  const size = files.size(path) ?? 0;
  const where = `segments/${number}`;
  if (from > size)
    onFault({ kind: 'cut', where, wanted: `at least ${counted(from, 'byte')}`, found: `${size}` });
  const fd = files.openRead(path);
  try {
    const window = openWindow(files, fd, size);
    const start = from > 0 && from <= size ? from : afterHeader(window);
    let end = start;
    let rows = 0;
    for (const part of scan(window, start)) {
      if (part.type === 'tail') {
        onFault({ kind: 'torn', where: `${where}@${part.from}`, found: `${part.end - part.from} bytes` });
        return await recoverTail(recovery, { window, number, part, salvaged });
      }
      if (part.type === 'damage')
        onFault({ kind: 'damaged', where: `${where}@${part.from}`, found: `${part.end - part.from} bytes` });
      end = part.end;
      places.add(rowsOf(recovery, window, number, part.blocks), {
        segment: number,
        from: part.from,
        offset: end,
      });
      rows += part.blocks.length;
      if (rows > SETTLE_EVERY) {
        rows = 0;
        await places.settle();
      }
    }
    return end < SEGMENT_HEADER.length ? null : { number, size: end };
  } finally {
    files.close(fd);
  }
}

/** Rows for these blocks. A second copy of a block counts only when it is sound. */
function rowsOf(
  { places }: Recovery,
  window: Window,
  number: number,
  blocks: readonly PlacedEntry[],
): PlaceRow[] {
  const rows: PlaceRow[] = [];
  for (const { digest, offset, length } of blocks) {
    const known = places.get(digest);
    const here = known?.type === 'segment' && known.segment === number && known.offset === offset;
    if (here || (known !== undefined && sha256Hex(window.bytes(offset, length)) !== digest)) continue;
    rows.push({ digest, place: { type: 'segment', segment: number, offset, length } });
  }
  return rows;
}

interface Tail {
  readonly window: Window;
  readonly number: number;
  readonly part: Stretch;
  readonly salvaged: Salvaged[];
}

/**
 * Moves a torn tail to quarantine. Its sound blocks are kept: a flipped bit in the very last flush record looks like a
 * torn tail, and must not cost the blocks before it.
 */
async function recoverTail(recovery: Recovery, tail: Tail): Promise<OpenSegment | null> {
  const { window, number, part, salvaged } = tail;
  if (!recovery.writable) {
    recovery.places.add(rowsOf(recovery, window, number, part.blocks));
    return null;
  }
  for (const block of part.blocks)
    salvaged.push({ ...block, bytes: Buffer.from(window.bytes(block.offset, block.length)) });
  try {
    await quarantineTail(recovery, tail);
  } catch (error) {
    // A full disk must not keep the store shut: the tail stays, and nothing is appended behind it.
    if (!isFault(error, 'E_IO')) throw error;
    return null;
  }
  recovery.places.add([], { segment: number, from: part.from, offset: part.from });
  return { number, size: part.from };
}

async function quarantineTail({ files, layout }: Recovery, { window, number, part }: Tail): Promise<void> {
  const pieces: Buffer[] = [];
  for (let at = part.from; at < part.end; at += 1 << 20)
    pieces.push(Buffer.from(window.bytes(at, Math.min(1 << 20, part.end - at))));
  const bytes = Buffer.concat(pieces);
  const name = `segment-${number}-at-${part.from}-${sha256Hex(bytes).slice(0, 16)}`;
  await writeDurably(files, layout.quarantined(name), bytes, layout.temporary());
  // Dying here: the tail is in both places; the next owner writes the same file again and goes on.
  const fd = await files.openWrite(layout.segment(number));
  try {
    await files.truncate(fd, part.from);
    await files.sync(fd);
  } finally {
    files.close(fd);
  }
}
