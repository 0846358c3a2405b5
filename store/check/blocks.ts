/**
 * Hashing every block of a store.
 * Promises: every block without a sound copy is named once, with what was found; damage, tails, stray files and wrong
 * leaf lists too. Memory: the digests of bad blocks.
 * Does not promise: knowledge of blocks that left no trace; logs and the catalog name those.
 */

import { measure, printLeaves } from '../blocks/big.ts';
import { flushSection, type PlacedEntry } from '../blocks/flush.ts';
import { bigDigests, segmentNumbers } from '../blocks/recover.ts';
import { afterHeader, type Flush, openWindow, SEGMENT_HEADER, scan, type Window } from '../blocks/scan.ts';
import type { OnFault } from '../faults.ts';
import { type Files, readWhole } from '../files.ts';
import { type Digest, isDigest } from '../format/cid.ts';
import { sha256Hex } from '../format/crypto.ts';
import { sectionHead } from '../frame.ts';
import { type Layout, segmentNumber } from '../keys.ts';

export interface BlockCount {
  readonly blocks: number;
  readonly bytes: number;
  /** Those without a sound copy. */
  readonly bad: ReadonlySet<Digest>;
}

interface Bad {
  readonly where: string;
  readonly found: string;
  readonly length: number;
}

interface State {
  readonly files: Files;
  readonly layout: Layout;
  readonly onFault: OnFault;
  readonly bad: Map<Digest, Bad>;
  blocks: number;
  bytes: number;
}

export async function checkBlocks(files: Files, layout: Layout, onFault: OnFault): Promise<BlockCount> {
  const state: State = { files, layout, onFault, bad: new Map(), blocks: 0, bytes: 0 };
  checkNames(state);
  for (const number of segmentNumbers(files, layout)) checkSegment(state, number);
  for (const digest of bigDigests(files, layout)) await checkBig(state, digest);
  if (state.bad.size > 0) forgiveCopies(state);
  for (const [digest, { where, found, length }] of state.bad)
    onFault({
      kind: 'wrong-digest',
      where: `sha256:${digest}`,
      wanted: `${length} bytes of sha256:${digest}`,
      found: `${found} in ${where}`,
    });
  return { blocks: state.blocks, bytes: state.bytes, bad: new Set(state.bad.keys()) };
}

function checkNames({ files, layout, onFault }: State): void {
  for (const name of files.list(layout.segments))
    if (segmentNumber(name) === null)
      onFault({ kind: 'extra', where: `segments/${name}`, found: 'no segment' });
  const big = new Set(files.list(layout.big));
  for (const name of big) {
    const digest = name.endsWith('.leaves') ? name.slice(0, -'.leaves'.length) : name;
    if (!isDigest(digest)) onFault({ kind: 'extra', where: `big/${name}`, found: 'no block' });
  }
}

/** Opens a segment for a look; `look` gets its window and the offset of its first section. */
function withSegment(state: State, number: number, look: (window: Window, start: number) => void): void {
  const path = state.layout.segment(number);
  const size = state.files.size(path) ?? 0;
  const fd = state.files.openRead(path);
  try {
    const window = openWindow(state.files, fd, size);
    look(window, afterHeader(window));
  } finally {
    state.files.close(fd);
  }
}

function checkSegment(state: State, number: number): void {
  withSegment(state, number, (window, start) => {
    if (!window.bytes(0, start).equals(SEGMENT_HEADER))
      state.onFault({
        kind: 'damaged',
        where: `segments/${number}@0`,
        found: 'another header than a CAR without roots',
      });
    for (const part of scan(window, start)) {
      if (part.type === 'flush') checkFrames(state, window, number, part);
      else {
        const kind = part.type === 'tail' ? 'torn' : 'damaged';
        state.onFault({
          kind,
          where: `segments/${number}@${part.from}`,
          found: `${part.end - part.from} bytes in no flush`,
        });
      }
      for (const block of part.blocks) checkSmall(state, window, number, block);
    }
  });
}

/** The blocks of a flush are found without their frames; a reader of CARs needs them. */
function checkFrames({ onFault }: State, window: Window, number: number, flush: Flush): void {
  const damaged = (at: number) =>
    onFault({
      kind: 'damaged',
      where: `segments/${number}@${at}`,
      wanted: 'the frame that the flush record tells',
      found: 'another',
    });
  for (const { codec, digest, offset, length } of flush.blocks) {
    const head = sectionHead(codec, digest, length);
    const at = offset - head.length;
    if (Buffer.compare(window.bytes(at, head.length), head) !== 0) damaged(at);
  }
  const section = flushSection({ from: flush.from, entries: flush.blocks });
  const at = flush.end - section.length;
  if (Buffer.compare(window.bytes(at, section.length), section) !== 0) damaged(at);
}

function checkSmall(state: State, window: Window, number: number, block: PlacedEntry): void {
  const { digest, offset, length } = block;
  const bytes = window.bytes(offset, length);
  const found = sha256Hex(bytes);
  if (found === digest && bytes.length === length) {
    state.blocks++;
    state.bytes += length;
    return;
  }
  state.bad.set(digest, {
    where: `segments/${number}@${offset}`,
    found: `${bytes.length} bytes of sha256:${found}`,
    length,
  });
}

async function checkBig(state: State, digest: Digest): Promise<void> {
  const { files, layout, onFault } = state;
  const found = await measure(files, layout.bigBlock(digest));
  if (found.digest !== digest) {
    const list = readWhole(files, layout.bigLeaves(digest));
    const length = list === null ? found.size : Number(Buffer.from(list).readBigUInt64BE(16));
    state.bad.set(digest, {
      where: `big/${digest}`,
      found: `${found.size} bytes of sha256:${found.digest}`,
      length,
    });
    return;
  }
  state.blocks++;
  state.bytes += found.size;
  const list = readWhole(files, layout.bigLeaves(digest));
  const wanted = printLeaves(found);
  if (list === null)
    onFault({ kind: 'missing', where: `big/${digest}.leaves`, wanted: 'a leaf list', found: 'nothing' });
  else if (Buffer.compare(list, wanted) !== 0)
    onFault({
      kind: 'damaged',
      where: `big/${digest}.leaves`,
      wanted: 'the leaf list of its block',
      found: 'another',
    });
}

/** A bad copy with a sound one beside it costs nothing: it is damage, and the block is not lost. */
function forgiveCopies(state: State): void {
  for (const number of segmentNumbers(state.files, state.layout)) {
    withSegment(state, number, (window, start) => {
      for (const part of scan(window, start)) {
        for (const block of part.blocks) {
          const bad = state.bad.get(block.digest);
          if (bad === undefined || sha256Hex(window.bytes(block.offset, block.length)) !== block.digest)
            continue;
          state.bad.delete(block.digest);
          state.onFault({
            kind: 'damaged',
            where: bad.where,
            wanted: `sha256:${block.digest}, of which another copy is sound`,
            found: bad.found,
          });
        }
      }
    });
  }
}
