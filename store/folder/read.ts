/**
 * A folder as a tree of ours.
 * Promises: nothing is followed (the root neither); names and link targets are bytes; modes are the low 12 bits; an
 * entry that changes while it is read is E_CHANGED, so what is returned did stand there; memory does not grow with
 * file sizes or with the number of directories.
 * Does not promise: one instant for the whole folder. No times, owners, extended attributes; a hard link is a file.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  read as readLater,
  readlinkSync,
  readSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { type Cid, type Codec, cidOf, link } from '../format/cid.ts';
import { ONE_SHOT_LIMIT } from '../format/crypto.ts';
import { fail } from '../format/errors.ts';
import type { Emit } from '../format/reader.ts';
import { type Entry, fileEntry, type Name, nameFromBytes, snapshotBlock, treeBlock } from '../format/tree.ts';
import { counted } from '../format/words.ts';
import { openWindow, type Window } from '../window.ts';
import { below, type Place, readFault, rootPlace, shown } from './paths.ts';

export interface FolderTree {
  /** The snapshot block: root mode and tree. */
  readonly snapshot: Cid;
  readonly mode: number;
  readonly tree: Cid;
}

interface Pass {
  readonly emit: Emit;
  readonly window: Window;
}

/** Puts of small blocks that may be under way at once; each is under 1 MiB. */
const UNDER_WAY = { count: 256, bytes: 16 << 20 };

/** Emits files, links, nodes and the snapshot. Throws E_PATH (not a folder), E_CHANGED, E_IO, what `emit` throws. */
export async function folderToTree(path: string, emit: Emit): Promise<FolderTree> {
  const place = rootPlace(path);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
    fail('E_NOT_FOUND', { where: path, wanted: 'a folder' });
  const stat = statOf(place);
  if (!stat.isDirectory())
    fail('E_PATH', { where: path, wanted: 'a folder', found: stat.isSymbolicLink() ? 'a link' : 'a file' });
  const window = openWindow(UNDER_WAY.count, UNDER_WAY.bytes);
  const mode = modeOf(stat);
  const tree = await directory({ emit, window }, place, stat);
  await window.done();
  const block = snapshotBlock({ mode, tree: link(tree) });
  return { snapshot: await emit(block.bytes, 'dag-json'), mode, tree };
}

async function directory(pass: Pass, place: Place, before: BigIntStats): Promise<Cid> {
  const names = namesIn(place);
  const entries: Entry[] = [];
  for (const name of names) entries.push(await entry(pass, below(place, nameFromBytes(name))));
  unchanged(place, before, statOf(place));
  const { bytes } = treeBlock(entries);
  return put(pass, bytes, 'dag-json');
}

/**
 * Hands a small block out without waiting for it: a store flushes many together. Its cid is ours to compute, so that
 * the node above can be made meanwhile.
 */
async function put(pass: Pass, bytes: Uint8Array, codec: Codec = 'raw'): Promise<Cid> {
  const cid = cidOf(codec, bytes);
  await pass.window.add(bytes.length, pass.emit(bytes, codec));
  return cid;
}

function namesIn(place: Place): Buffer[] {
  try {
    return readdirSync(place.path, { encoding: 'buffer' }).sort(Buffer.compare);
  } catch (cause) {
    return readFault(cause, place);
  }
}

async function entry(pass: Pass, place: Place): Promise<Entry> {
  const name = place.names[place.names.length - 1] as Name;
  const stat = statOf(place);
  if (stat.isDirectory())
    return { name, type: 'dir', mode: modeOf(stat), cid: link(await directory(pass, place, stat)) };
  if (stat.isFile()) return file(pass, place, name, stat);
  if (!stat.isSymbolicLink()) return special(place, name, stat);
  const target = targetOf(place);
  unchanged(place, stat, statOf(place));
  return { name, type: 'link', mode: 0, cid: link(await put(pass, target)), size: target.length };
}

function special(place: Place, name: Name, stat: BigIntStats): Entry {
  if (stat.isFIFO()) return { name, type: 'fifo', mode: 0 };
  if (stat.isSocket()) return { name, type: 'socket', mode: 0 };
  if (!stat.isBlockDevice() && !stat.isCharacterDevice())
    fail('E_PATH', { where: shown(place), wanted: 'a known file type', found: String(stat.mode) });
  return { name, type: 'device', mode: 0, rdev: deviceNumber(stat) };
}

/** `b|c:major:minor`, as Linux packs them (gnu_dev_major and gnu_dev_minor of sys/sysmacros.h). */
export function deviceNumber(stat: BigIntStats): string {
  const { rdev } = stat;
  const major = ((rdev >> 8n) & 0xfffn) | ((rdev >> 32n) & 0xfffff000n);
  const minor = (rdev & 0xffn) | ((rdev >> 12n) & 0xffffff00n);
  return `${stat.isBlockDevice() ? 'b' : 'c'}:${major}:${minor}`;
}

const modeOf = (stat: BigIntStats): number => Number(stat.mode & 0o7777n);

function statOf(place: Place): BigIntStats {
  try {
    return lstatSync(place.path, { bigint: true });
  } catch (cause) {
    return readFault(cause, place);
  }
}

function targetOf(place: Place): Uint8Array {
  try {
    return readlinkSync(place.path, { encoding: 'buffer' });
  } catch (cause) {
    return readFault(cause, place);
  }
}

const COMPARED = ['dev', 'ino', 'mode', 'size', 'mtimeNs', 'ctimeNs'] as const;

/** Throws E_CHANGED unless both say the same of one entry. */
function unchanged(place: Place, before: BigIntStats, after: BigIntStats): void {
  const field = COMPARED.find((key) => before[key] !== after[key]);
  if (field === undefined) return;
  fail('E_CHANGED', {
    where: shown(place),
    wanted: `${field} ${before[field]}`,
    found: String(after[field]),
    hint: 'Stop what writes there and run it again',
  });
}

async function file(pass: Pass, place: Place, name: Name, stat: BigIntStats): Promise<Entry> {
  const size = Number(stat.size);
  const small = size < ONE_SHOT_LIMIT;
  const cid = small ? await put(pass, wholeFile(place, stat)) : await pass.emit(pieces(place, stat));
  return fileEntry(name, cid, size, modeOf(stat));
}

function wholeFile(place: Place, stat: BigIntStats): Uint8Array {
  const fd = openFile(place);
  try {
    unchanged(place, stat, fstatSync(fd, { bigint: true }));
    const bytes = Buffer.allocUnsafe(Number(stat.size));
    let count = 0;
    for (let n = -1; n !== 0 && count < bytes.length; count += n) n = readSync(fd, bytes, { offset: count });
    unchanged(place, stat, fstatSync(fd, { bigint: true }));
    if (count !== bytes.length) short(place, bytes.length, count);
    return bytes;
  } catch (cause) {
    return readFault(cause, place);
  } finally {
    closeSync(fd);
  }
}

const readPiece = promisify(readLater);

/** A large file in pieces of 1 MiB; the last one comes only after the file was found unchanged. */
async function* pieces(place: Place, stat: BigIntStats): AsyncGenerator<Uint8Array, void, void> {
  const fd = openFile(place);
  try {
    unchanged(place, stat, fstatSync(fd, { bigint: true }));
    const size = Number(stat.size);
    for (let at = 0; at < size; ) {
      const bytes = Buffer.allocUnsafe(Math.min(ONE_SHOT_LIMIT, size - at));
      const { bytesRead } = await readPiece(fd, bytes, 0, bytes.length, at);
      if (bytesRead === 0) short(place, size, at);
      at += bytesRead;
      if (at === size) unchanged(place, stat, fstatSync(fd, { bigint: true }));
      yield bytes.subarray(0, bytesRead);
    }
  } catch (cause) {
    readFault(cause, place);
  } finally {
    closeSync(fd);
  }
}

function short(place: Place, size: number, found: number): never {
  return fail('E_CHANGED', { where: shown(place), wanted: counted(size, 'byte'), found: String(found) });
}

function openFile(place: Place): number {
  try {
    // O_NONBLOCK: a FIFO put in the file's place must not make us wait for a writer.
    return openSync(place.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    return readFault(cause, place);
  }
}
