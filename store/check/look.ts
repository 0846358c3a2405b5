/**
 * Looking at one segment or one big block, without knowing the rest of the store: work that any thread can do.
 * Promises: what is found is plain data; every block of the segment is hashed once, in the order of the file.
 * Does not promise: a verdict on a block, of which another copy may be sound (blocks.ts).
 */

import { flushSection, type PlacedEntry } from '../blocks/flush.ts';
import { afterHeader, type Flush, openWindow, SEGMENT_HEADER, scan, type Window } from '../blocks/scan.ts';
import type { Fault } from '../faults.ts';
import type { Files } from '../files.ts';
import { sha256Hex } from '../format/crypto.ts';
import { counted } from '../format/words.ts';
import { sectionHead } from '../frame.ts';
import type { Layout } from '../keys.ts';

export interface SegmentLook {
  readonly faults: readonly Fault[];
  /** Digests of the blocks one behind the other, 64 digits each: one string crosses to another thread for nothing. */
  readonly digests: string;
  readonly offsets: Float64Array;
  readonly lengths: Uint32Array;
  readonly wrong: readonly Wrong[];
  /** Where the last flush, damage or tail ends. */
  readonly end: number;
}

export interface Wrong {
  /** Which of the blocks. */
  readonly index: number;
  readonly found: string;
}

interface State {
  readonly window: Window;
  readonly number: number;
  readonly faults: Fault[];
  readonly digests: string[];
  readonly offsets: number[];
  readonly lengths: number[];
  readonly wrong: Wrong[];
}

/** Opens a segment for a look; `look` gets its window and the offset of its first section. */
export function withSegment<T>(
  files: Files,
  layout: Layout,
  number: number,
  look: (window: Window, start: number) => T,
): T {
  const path = layout.segment(number);
  const fd = files.openRead(path);
  try {
    const window = openWindow(files, fd, files.size(path) ?? 0);
    return look(window, afterHeader(window));
  } finally {
    files.close(fd);
  }
}

/** Throws E_IO, E_NOT_FOUND. O(bytes). */
export function lookAtSegment(files: Files, layout: Layout, number: number): SegmentLook {
  return withSegment(files, layout, number, (window, start) => {
    const state: State = { window, number, faults: [], digests: [], offsets: [], lengths: [], wrong: [] };
    if (!window.bytes(0, start).equals(SEGMENT_HEADER))
      name(state, 0, 'another header than a CAR without roots');
    let end = start;
    for (const part of scan(window, start)) {
      const length = part.end - part.from;
      if (part.type === 'flush') lookAtFrames(state, part);
      else
        name(
          state,
          part.from,
          `${counted(length, 'byte')} in no flush`,
          part.type === 'tail' ? 'torn' : 'damaged',
        );
      for (const block of part.blocks) lookAtBlock(state, block);
      end = part.end;
    }
    const { faults, wrong } = state;
    const columns = { offsets: Float64Array.from(state.offsets), lengths: Uint32Array.from(state.lengths) };
    return { faults, digests: state.digests.join(''), ...columns, wrong, end };
  });
}

function name({ faults, number }: State, at: number, found: string, kind: Fault['kind'] = 'damaged'): void {
  faults.push({ kind, where: `segments/${number}@${at}`, found });
}

/** The blocks of a flush are found without their frames; a reader of CARs needs them. */
function lookAtFrames(state: State, flush: Flush): void {
  const { window, faults, number } = state;
  const damaged = (at: number) =>
    faults.push({
      kind: 'damaged',
      where: `segments/${number}@${at}`,
      wanted: 'the frame that the flush record tells',
      found: 'another',
    });
  for (const { codec, digest, offset, length } of flush.framed ? [] : flush.blocks) {
    const head = sectionHead(codec, digest, length);
    const at = offset - head.length;
    if (Buffer.compare(window.bytes(at, head.length), head) !== 0) damaged(at);
  }
  const section = flushSection({ from: flush.from, entries: flush.blocks });
  const at = flush.end - section.length;
  if (Buffer.compare(window.bytes(at, section.length), section) !== 0) damaged(at);
}

function lookAtBlock(state: State, { digest, offset, length }: PlacedEntry): void {
  const bytes = state.window.bytes(offset, length);
  const found = sha256Hex(bytes);
  if (found !== digest || bytes.length !== length)
    state.wrong.push({
      index: state.digests.length,
      found: `${counted(bytes.length, 'byte')} of sha256:${found}`,
    });
  state.digests.push(digest);
  state.offsets.push(offset);
  state.lengths.push(length);
}
