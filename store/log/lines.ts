/**
 * The leaves file, line by line.
 * Promises: flat memory; O(bytes).
 * Does not promise: that a line is the leaf that was entered (tree.ts knows its hash).
 */
import { fail } from '../format/errors.ts';
import { type LocalLeaf, leafBytes, readLeaf } from './leaf.ts';
import type { Line, LogCursor, State } from './state.ts';

export const NEWLINE = 0x0a;
const READ = 1 << 20;

/** Lines from a cursor up to `until`; a last line without its newline is left out. */
export function* lines(
  state: Pick<State, 'files' | 'leaves'>,
  from: LogCursor,
  until: number,
): Generator<Line> {
  let index = from.count;
  let start = from.offset;
  let rest: Buffer = Buffer.alloc(0);
  for (let at = from.offset; at < until; ) {
    const piece = Buffer.allocUnsafe(Math.min(READ, until - at));
    const got = state.files.read(state.leaves, piece, at);
    if (got === 0) return;
    at += got;
    rest = rest.length === 0 ? piece.subarray(0, got) : Buffer.concat([rest, piece.subarray(0, got)]);
    let used = 0;
    for (let stop = rest.indexOf(NEWLINE); stop >= 0; stop = rest.indexOf(NEWLINE, used)) {
      const bytes = rest.subarray(used, stop);
      const end = start + bytes.length + 1;
      yield { index, offset: start, end, bytes, leaf: readLeaf(bytes) };
      used = stop + 1;
      start = end;
      index++;
    }
    rest = rest.subarray(used);
  }
}

/** The lines that these leaves will be. */
export function linesOf(leaves: readonly LocalLeaf[], from: LogCursor): Line[] {
  let offset = from.offset;
  return leaves.map((leaf, i) => {
    const bytes = leafBytes(leaf);
    const line = { index: from.count + i, offset, end: offset + bytes.length + 1, bytes, leaf };
    offset = line.end;
    return line;
  });
}

/** Lines without their LF. Throws E_CODEC where the last one is not closed. */
export function splitLines(bytes: Uint8Array): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < view.length; ) {
    const end = view.indexOf(NEWLINE, at);
    if (end < 0) fail('E_CODEC', { where: 'leaves', wanted: 'lines that end with LF', found: 'an open one' });
    found.push(view.subarray(at, end));
    at = end + 1;
  }
  return found;
}
