/**
 * Putting right what check names: bad copies to quarantine, lost blocks fetched again, caches made anew.
 * Promises: nothing is deleted; sound blocks of a damaged segment move to a new one before the old one goes to
 * quarantine; running it again finds nothing to do.
 * Does not promise: leaves or records that are gone; a log that contradicts its checkpoint stays as it is.
 */
import { basename } from 'node:path';
import { measure } from './blocks/big.ts';
import { type BigList, printList, readList } from './blocks/big-list.ts';
import { openBlocks } from './blocks/blocks.ts';
import { openPlaces } from './blocks/places.ts';
import { bigDigests, segmentNumbers } from './blocks/recover.ts';
import { afterHeader, openWindow, scan } from './blocks/scan.ts';
import { memoryIndex } from './catalog/index.ts';
import { type Files, readWhole, realFiles, writeDurably } from './files.ts';
import { parseCheckpoint } from './format/checkpoint.ts';
import { type Cid, cidFromDigest, type Digest } from './format/cid.ts';
import { sha256Hex } from './format/crypto.ts';
import { fail, isFault } from './format/errors.ts';
import { type Hash, type HashReader, leafHash, openFrontier, rootAt } from './format/merkle.ts';
import { parseNote } from './format/note.ts';
import { type Layout, type LogFiles, layoutOf } from './keys.ts';
import { count, position } from './log/hashes.ts';
import { readLeaf } from './log/leaf.ts';
import { splitLines } from './log/lines.ts';
import { readMarker } from './marker.ts';
import { tryLock } from './owner.ts';
import type { NewBlock } from './store.ts';

export interface RepairOptions {
  readonly files?: Files;
  /** Where lost blocks may be had: a mirror. What it gives is hashed like anything else. */
  readonly fetch?: (cid: Cid) => Promise<Uint8Array | null>;
}

export interface Repaired {
  /** What was done, a sentence each. */
  readonly done: readonly string[];
  /** Blocks without a sound copy that could not be had again. */
  readonly lost: readonly Digest[];
}

interface State {
  readonly files: Files;
  readonly layout: Layout;
  readonly done: string[];
  readonly bad: Set<Digest>;
}

/** Repairs the store at `path`, which nobody may have open. Throws E_STORE_BUSY, E_STORE_FORMAT, E_IO. */
export async function repairStore(path: string, options: RepairOptions = {}): Promise<Repaired> {
  const files = options.files ?? realFiles;
  const layout = layoutOf(path);
  readMarker(files, layout);
  const lock = await tryLock(files, layout);
  if (lock === null) fail('E_STORE_BUSY', { where: path, hint: 'Stop the daemon first' });
  try {
    const state: State = { files, layout, done: [], bad: new Set() };
    await repairBig(state);
    const lost = await repairSegments(state, options.fetch);
    await forgetCaches(state);
    return { done: state.done, lost };
  } finally {
    await lock.release();
  }
}

/** To quarantine under a name that says where it was. */
async function setAside(state: State, path: string, name: string): Promise<void> {
  const { files, layout } = state;
  const mark = basename(layout.temporary()).slice(0, 8);
  await files.rename(path, layout.quarantined(`${name}-${mark}`));
  await files.syncFolder(layout.quarantine);
  state.done.push(`moved ${name} to quarantine`);
}

async function repairBig(state: State): Promise<void> {
  const { files, layout } = state;
  for (const digest of bigDigests(files, layout)) {
    const found = await measure(files, layout.bigBlock(digest));
    if (found.digest !== digest) {
      state.bad.add(digest);
      await setAside(state, layout.bigBlock(digest), digest);
      continue;
    }
    const list = readWhole(files, layout.bigLeaves(digest));
    if (list !== null && isRight(readList(list, digest), found)) continue;
    await writeDurably(files, layout.bigLeaves(digest), printList(found), layout.temporary());
    state.done.push(`wrote the leaf list of ${digest}`);
  }
}

/** A list may lack the digests of single MiB; those that it has are right. */
function isRight(list: BigList | null, found: BigList): boolean {
  const wanted = list?.leaves === null ? { ...found, leaves: null } : found;
  return list !== null && Buffer.compare(printList(list), printList(wanted)) === 0;
}

/** Numbers of segments that hold damage; collects the digests that have no sound copy in them. */
function damagedSegments(state: State): readonly number[] {
  const damaged: number[] = [];
  for (const number of segmentNumbers(state.files, state.layout)) {
    let bad = false;
    eachPart(state, number, (part, sound) => {
      bad ||= part === 'damage';
      for (const { digest, ok } of sound) {
        bad ||= !ok;
        if (!ok) state.bad.add(digest);
      }
    });
    if (bad) damaged.push(number);
  }
  return damaged;
}

interface Looked {
  readonly digest: Digest;
  readonly ok: boolean;
  readonly bytes: Uint8Array;
  readonly codec: NewBlock['codec'];
}

function eachPart(
  { files, layout }: State,
  number: number,
  look: (part: 'flush' | 'damage' | 'tail', blocks: Iterable<Looked>) => void,
): void {
  const path = layout.segment(number);
  const fd = files.openRead(path);
  try {
    const window = openWindow(files, fd, files.size(path) ?? 0);
    const looked = function* (
      blocks: Iterable<{ digest: Digest; offset: number; length: number; codec: NewBlock['codec'] }>,
    ) {
      for (const { digest, offset, length, codec } of blocks) {
        const bytes = window.bytes(offset, length);
        yield { digest, codec, bytes, ok: sha256Hex(bytes) === digest };
      }
    };
    for (const part of scan(window, afterHeader(window))) look(part.type, looked(part.blocks));
  } finally {
    files.close(fd);
  }
}

async function repairSegments(state: State, fetch: RepairOptions['fetch']): Promise<readonly Digest[]> {
  const { files, layout } = state;
  const damaged = damagedSegments(state);
  const places = openPlaces(memoryIndex());
  const silent = () => undefined;
  // The same door as for any other block: a torn tail goes to quarantine here too.
  const blocks = await openBlocks({ files, layout, places, writable: true, onFault: silent, fresh: true });
  try {
    for (const number of damaged) {
      const survivors: NewBlock[] = [];
      eachPart(state, number, (_part, looked) => {
        for (const { ok, bytes, codec } of looked)
          if (ok) survivors.push({ bytes: Uint8Array.from(bytes), codec: codec ?? 'raw' });
      });
      // A copy that lies in a damaged segment only is no copy: it is written again, elsewhere.
      await places.forget(number);
      await blocks.putMany(survivors);
      // Dying here: the survivors stand twice; the next repair moves the segment away.
      await setAside(state, layout.segment(number), `segment-${number}`);
      state.done.push(`wrote ${survivors.length} sound blocks of segment ${number} again`);
    }
    const lost: Digest[] = [];
    for (const digest of state.bad) if (!(await had(blocks, digest, fetch, state))) lost.push(digest);
    return lost;
  } finally {
    await blocks.close();
  }
}

async function had(
  blocks: Awaited<ReturnType<typeof openBlocks>>,
  digest: Digest,
  fetch: RepairOptions['fetch'],
  state: State,
): Promise<boolean> {
  const cid = cidFromDigest('raw', digest);
  try {
    for await (const _ of blocks.stream(cid));
    return true;
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  const bytes = (await fetch?.(cid)) ?? null;
  if (bytes === null) return false;
  await blocks.put(bytes, { expect: cid });
  state.done.push(`fetched ${digest} again`);
  return true;
}

/** The catalog is made again by the next owner; the hashes of a log here, where its leaves are whole. */
async function forgetCaches(state: State): Promise<void> {
  const { files, layout } = state;
  if (files.list(layout.level).length > 0) await setAside(state, layout.level, 'level');
  for (const name of files.list(layout.logs)) await repairHashes(state, name);
}

async function repairHashes({ files, layout, done }: State, name: string): Promise<void> {
  const paths = layout.log(name);
  const leaves = readWhole(files, paths.leaves);
  const found = readWhole(files, paths.hashes) ?? new Uint8Array();
  if (leaves === null) return;
  const whole = leaves.subarray(0, Buffer.from(leaves).lastIndexOf(0x0a) + 1);
  const lines = splitLines(whole);
  const wanted = hashesOf(lines.map(leafHash));
  // More hashes than leaves: leaves were lost. That is for a person to see, not to paint over.
  if (found.length > wanted.bytes.length || Buffer.compare(found, wanted.bytes) === 0) return;
  if (lines.some((line) => readLeaf(line) === null) || !(await signedSo(files, paths, wanted))) return;
  await writeDurably(files, paths.hashes, wanted.bytes, layout.temporary());
  done.push(`wrote the hashes of log ${name}`);
}

interface Tree {
  readonly bytes: Uint8Array;
  readonly read: HashReader;
}

function hashesOf(leaves: readonly Hash[]): Tree {
  const hashes: Hash[] = [];
  const frontier = openFrontier();
  for (const leaf of leaves) frontier.append(leaf, (_level, _index, hash) => hashes.push(hash));
  return {
    bytes: Buffer.concat(hashes),
    read: (level, index) =>
      hashes[position(level, index)] ?? fail('E_INTERNAL', { found: 'no such subtree' }),
  };
}

/** Whether the checkpoint, if there is one, is over these leaves. */
async function signedSo(files: Files, paths: LogFiles, { bytes, read }: Tree): Promise<boolean> {
  const note = readWhole(files, paths.checkpoint);
  if (note === null) return true;
  const { size, root } = parseCheckpoint(parseNote(note).text);
  return count(size) * 32 <= bytes.length && Buffer.compare(await rootAt(size, read), root) === 0;
}
