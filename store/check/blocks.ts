/**
 * Hashing every block of a store.
 * Promises: every block without a sound copy is named once, with what was found; damage, tails, stray files and wrong
 * leaf lists too. Memory: the digests of bad blocks.
 * Does not promise: knowledge of blocks that left no trace; logs and the catalog name those.
 */

import { digestFile, readLeaves } from '../blocks/big.ts';
import { flushSection, type PlacedEntry } from '../blocks/flush.ts';
import type { PlaceRow, Places } from '../blocks/places.ts';
import { bigDigests, segmentNumbers } from '../blocks/recover.ts';
import { afterHeader, type Flush, openWindow, SEGMENT_HEADER, scan, type Window } from '../blocks/scan.ts';
import type { OnFault } from '../faults.ts';
import { type Files, readWhole } from '../files.ts';
import { type Digest, isDigest } from '../format/cid.ts';
import { sha256Hex } from '../format/crypto.ts';
import { counted } from '../format/words.ts';
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
  readonly places: Places;
  readonly onFault: OnFault;
  readonly bad: Map<Digest, Bad>;
  blocks: number;
  bytes: number;
}

/** `places` is told of every block that is found, so that nobody has to read the segments twice. */
export async function checkBlocks(
  files: Files,
  layout: Layout,
  places: Places,
  onFault: OnFault,
): Promise<BlockCount> {
  const state: State = { files, layout, places, onFault, bad: new Map(), blocks: 0, bytes: 0 };
  checkNames(state);
  for (const number of segmentNumbers(files, layout)) {
    checkSegment(state, number);
    await places.settle();
  }
  for (const digest of bigDigests(files, layout)) await checkBig(state, digest);
  if (state.bad.size > 0) forgiveCopies(state);
  for (const [digest, { where, found, length }] of state.bad)
    onFault({
      kind: 'wrong-digest',
      where: `sha256:${digest}`,
      wanted: `${counted(length, 'byte')} of sha256:${digest}`,
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
  const { places } = state;
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
      const rows: PlaceRow[] = [];
      for (const block of part.blocks) checkSmall(state, window, number, { block, rows });
      places.add(rows, { segment: number, from: part.from, offset: part.end });
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
  for (const { codec, digest, offset, length } of flush.framed ? [] : flush.blocks) {
    const head = sectionHead(codec, digest, length);
    const at = offset - head.length;
    if (Buffer.compare(window.bytes(at, head.length), head) !== 0) damaged(at);
  }
  const section = flushSection({ from: flush.from, entries: flush.blocks });
  const at = flush.end - section.length;
  if (Buffer.compare(window.bytes(at, section.length), section) !== 0) damaged(at);
}

interface Small {
  readonly block: PlacedEntry;
  /** Where the block goes when this copy is the one that counts. */
  readonly rows: PlaceRow[];
}

function checkSmall(state: State, window: Window, number: number, { block, rows }: Small): void {
  const { digest, offset, length } = block;
  const bytes = window.bytes(offset, length);
  const found = sha256Hex(bytes);
  const sound = found === digest && bytes.length === length;
  const known = state.places.get(digest);
  // As in recovery: a second copy counts only when it is sound.
  if (known === undefined || sound)
    rows.push({ digest, place: { type: 'segment', segment: number, offset, length } });
  if (sound) {
    const again = known !== undefined && !state.bad.has(digest);
    state.blocks += again ? 0 : 1;
    state.bytes += again ? 0 : length;
    return;
  }
  state.bad.set(digest, {
    where: `segments/${number}@${offset}`,
    found: `${counted(bytes.length, 'byte')} of sha256:${found}`,
    length,
  });
}

async function checkBig(state: State, digest: Digest): Promise<void> {
  const { files, layout, onFault } = state;
  const found = await digestFile(files, layout.bigBlock(digest));
  if (found.digest !== digest) {
    const list = readWhole(files, layout.bigLeaves(digest));
    const length = list === null ? found.size : Number(Buffer.from(list).readBigUInt64BE(16));
    state.bad.set(digest, {
      where: `big/${digest}`,
      found: `${counted(found.size, 'byte')} of sha256:${found.digest}`,
      length,
    });
    return;
  }
  state.blocks++;
  state.bytes += found.size;
  const list = readWhole(files, layout.bigLeaves(digest));
  if (list === null)
    onFault({ kind: 'missing', where: `big/${digest}.leaves`, wanted: 'a leaf list', found: 'nothing' });
  else if (readLeaves(list)?.size !== found.size)
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
