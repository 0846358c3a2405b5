/**
 * Hashing every block of a store.
 * Promises: every block without a sound copy is named once, with what was found; damage, tails, stray files and wrong
 * leaf lists too. Memory: the digests of bad blocks.
 * Does not promise: knowledge of blocks that left no trace; logs and the catalog name those.
 */

import { readList } from '../blocks/big-list.ts';
import type { PlaceRow, Places } from '../blocks/places.ts';
import { bigDigests, segmentNumbers } from '../blocks/recover.ts';
import { SEGMENT_HEADER, scan } from '../blocks/scan.ts';
import type { OnFault } from '../faults.ts';
import { type Files, readWhole } from '../files.ts';
import { type Digest, isDigest } from '../format/cid.ts';
import { sha256Hex } from '../format/crypto.ts';
import { counted } from '../format/words.ts';
import { type Layout, segmentNumber } from '../keys.ts';
import { type BigLook, type Hands, openHands, threadsFor } from './hands.ts';
import { type SegmentLook, withSegment } from './look.ts';

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
  { onFault, threads }: { readonly onFault: OnFault; readonly threads?: number },
): Promise<BlockCount> {
  const state: State = { files, layout, places, onFault, bad: new Map(), blocks: 0, bytes: 0 };
  checkNames(state);
  const hands = openHands(files, layout, threads ?? threadsFor(sizeOf(state)));
  try {
    await checkSegments(state, hands);
    await checkBigs(state, hands);
  } finally {
    await hands.close();
  }
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

function sizeOf({ files, layout }: State): number {
  const paths = [
    ...segmentNumbers(files, layout).map(layout.segment),
    ...bigDigests(files, layout).map(layout.bigBlock),
  ];
  return paths.reduce((sum, path) => sum + (files.size(path) ?? 0), 0);
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

/** What each segment held, in order: of two copies of a block the first that is sound counts. */
async function checkSegments(state: State, hands: Hands): Promise<void> {
  const numbers = segmentNumbers(state.files, state.layout);
  for await (const { key: number, found } of ahead(numbers, hands.segment)) {
    enterSegment(state, number, found);
    await state.places.settle();
  }
}

/** Looks under way at once: enough for every thread to have the next one waiting. */
const AHEAD = 4;

/** The answers in the order of the keys, a few asked for ahead. */
async function* ahead<K, T>(
  keys: readonly K[],
  ask: (key: K) => Promise<T>,
): AsyncGenerator<{ key: K; found: T }> {
  const asked: Promise<T>[] = [];
  for (const [i, key] of keys.entries()) {
    for (const later of keys.slice(asked.length, i + AHEAD)) {
      const answer = ask(later);
      answer.catch(() => undefined);
      asked.push(answer);
    }
    yield { key, found: await (asked[i] as Promise<T>) };
  }
}

function enterSegment(state: State, number: number, look: SegmentLook): void {
  for (const fault of look.faults) state.onFault(fault);
  const wrong = new Map(look.wrong.map(({ index, found }) => [index, found]));
  const rows: PlaceRow[] = [];
  for (let i = 0; i < look.lengths.length; i++) {
    const digest = look.digests.slice(64 * i, 64 * i + 64) as Digest;
    const [offset, length] = [look.offsets[i] as number, look.lengths[i] as number];
    const row: PlaceRow = { digest, place: { type: 'segment', segment: number, offset, length } };
    if (enterBlock(state, row, { offset, number, found: wrong.get(i) })) rows.push(row);
  }
  state.places.add(rows, { segment: number, from: SEGMENT_HEADER.length, offset: look.end });
}

interface Copy {
  readonly number: number;
  readonly offset: number;
  /** What stands there instead; undefined: the block. */
  readonly found: string | undefined;
}

/** Whether this copy is the one that counts. As in recovery: a second copy counts only when it is sound. */
function enterBlock(state: State, { digest, place }: PlaceRow, { number, offset, found }: Copy): boolean {
  const known = state.places.get(digest) !== undefined;
  if (found !== undefined) {
    state.bad.set(digest, { where: `segments/${number}@${offset}`, found, length: place.length });
    return !known;
  }
  if (!known || state.bad.has(digest)) {
    state.blocks++;
    state.bytes += place.length;
  }
  return true;
}

async function checkBigs(state: State, hands: Hands): Promise<void> {
  const digests = bigDigests(state.files, state.layout);
  for await (const { key: digest, found } of ahead(digests, hands.big)) checkBig(state, digest, found);
}

function checkBig(state: State, digest: Digest, found: BigLook): void {
  const { files, layout, onFault } = state;
  if (found.digest !== digest) {
    const list = readWhole(files, layout.bigLeaves(digest));
    const length = (list === null ? null : readList(list, digest))?.size ?? found.size;
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
  else if (readList(list, digest)?.size !== found.size)
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
    withSegment(state.files, state.layout, number, (window, start) => {
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
