/**
 * A tree of ours as a folder.
 * Promises: every entry is created anew and nothing is followed or overwritten; modes are set explicitly, bottom up,
 * whatever the umask; files are copies, never hard links; on any fault what was written is taken away again.
 * Does not promise: fifos, sockets and devices (E_TREE: they have no content to give back), owners, times. A
 * submodule becomes an empty folder, and is reported.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  write as writeLater,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { type Cid, codecOf } from '../format/cid.ts';
import { decode } from '../format/codec.ts';
import { ONE_SHOT_LIMIT } from '../format/crypto.ts';
import { fail } from '../format/errors.ts';
import type { Reader } from '../format/reader.ts';
import {
  type Entry,
  nameBytes,
  nameFromBytes,
  parseSnapshot,
  parseTree,
  type TreePath,
} from '../format/tree.ts';
import { counted } from '../format/words.ts';
import { below, type Place, rootPlace, shown, writeFault } from './paths.ts';

export interface FolderOptions {
  /** Mode of the root where `cid` is a tree; a snapshot brings its own. 0755 unless said. */
  readonly mode?: number;
}

export interface Materialised {
  readonly files: number;
  readonly links: number;
  readonly dirs: number;
  readonly bytes: number;
  /** Submodules stand as empty folders: their content is nowhere here. */
  readonly submodules: readonly { readonly path: TreePath; readonly oid: string }[];
}

interface Pass {
  readonly reader: Reader;
  readonly total: { files: number; links: number; dirs: number; bytes: number };
  readonly submodules: { readonly path: TreePath; readonly oid: string }[];
}

/** Longest link target that a system takes (PATH_MAX). */
const TARGET_LIMIT = 4096;

/**
 * Writes the snapshot or tree at `target`, which must not exist or be an empty folder.
 * Throws E_STORE_EXISTS (something is there), E_PATH (the target cannot hold an entry), E_TREE, E_IO, and what the
 * reader throws.
 */
export async function treeToFolder(
  reader: Reader,
  cid: Cid,
  target: string,
  options: FolderOptions = {},
): Promise<Materialised> {
  const root = await rootOf(reader, cid, options.mode ?? 0o755);
  const place = rootPlace(target);
  const made = claim(target, place);
  const pass: Pass = { reader, total: { files: 0, links: 0, dirs: 0, bytes: 0 }, submodules: [] };
  try {
    await fill(pass, root.tree, place);
    setMode(place, root.mode);
  } catch (cause) {
    clear(place, made);
    throw cause;
  }
  return { ...pass.total, submodules: pass.submodules };
}

async function rootOf(reader: Reader, cid: Cid, mode: number): Promise<{ tree: Cid; mode: number }> {
  if (codecOf(cid) !== 'dag-json')
    fail('E_TREE', { where: cid, wanted: 'a snapshot or tree', found: 'a file' });
  const bytes = await reader.get(cid);
  const value = decode(bytes);
  const isSnapshot = typeof value === 'object' && value !== null && 'tree' in value;
  if (!isSnapshot) return { tree: cid, mode };
  const snapshot = parseSnapshot(bytes);
  return { tree: snapshot.tree['/'], mode: snapshot.mode };
}

/** Makes the target, or takes an empty folder as it is. True where it was made here. */
function claim(target: string, place: Place): boolean {
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there === undefined) {
    attempt(place, () => mkdirSync(place.path, 0o700));
    return true;
  }
  if (!there.isDirectory() || readdirSync(target).length > 0)
    fail('E_STORE_EXISTS', { where: target, wanted: 'no entry or an empty folder', found: 'something else' });
  attempt(place, () => chmodSync(place.path, 0o700));
  return false;
}

/** Takes away what was written. Dying before: a partial folder stands, and the next run refuses to write into it. */
function clear(place: Place, made: boolean): void {
  chmodSync(place.path, 0o700);
  for (const bytes of readdirSync(place.path, { encoding: 'buffer' })) {
    const at = below(place, nameFromBytes(bytes));
    if (lstatSync(at.path).isDirectory()) clear(at, true);
    else unlinkSync(at.path);
  }
  if (made) rmdirSync(place.path);
}

async function fill(pass: Pass, tree: Cid, place: Place): Promise<void> {
  const { entries } = parseTree(await pass.reader.get(tree));
  for (const entry of entries) await write(pass, entry, below(place, entry.name));
  const names = attempt(place, () => readdirSync(place.path, { encoding: 'buffer' }));
  // A file system that folds names has let two become one, or has spelled one anew.
  const wanted = new Set(entries.map((entry) => Buffer.from(nameBytes(entry.name)).toString('latin1')));
  const strange = names.find((name) => !wanted.has(name.toString('latin1')));
  if (strange !== undefined || names.length !== entries.length)
    fail('E_PATH', {
      where: shown(place),
      wanted: `${counted(entries.length, 'name')} as they are`,
      found: strange === undefined ? String(names.length) : `0x${strange.toString('hex')}`,
    });
}

async function write(pass: Pass, entry: Entry, place: Place): Promise<void> {
  if (entry.type === 'dir') {
    attempt(place, () => mkdirSync(place.path, 0o700));
    pass.total.dirs += 1;
    await fill(pass, entry.cid['/'], place);
    setMode(place, entry.mode);
  } else if (entry.type === 'file') await writeFile(pass, entry, place);
  else if (entry.type === 'link') await writeLink(pass, entry, place);
  else if (entry.type === 'submodule') {
    attempt(place, () => mkdirSync(place.path, 0o755));
    setMode(place, 0o755);
    pass.submodules.push({ path: place.names, oid: entry.oid });
  } else
    fail('E_TREE', {
      where: shown(place),
      wanted: 'a file, link, directory or submodule',
      found: `a ${entry.type}`,
      hint: 'Special files can be recorded but not written out',
    });
}

async function writeLink(pass: Pass, entry: Extract<Entry, { type: 'link' }>, place: Place): Promise<void> {
  if (entry.size > TARGET_LIMIT)
    fail('E_PATH', {
      where: shown(place),
      wanted: `a target of at most ${TARGET_LIMIT} bytes`,
      found: 'more',
    });
  const target = await pass.reader.get(entry.cid['/']);
  sized(place, entry.size, target.length);
  if (target.length === 0 || target.includes(0))
    fail('E_PATH', {
      where: shown(place),
      wanted: 'a target a link can have',
      found: 'an empty one or a NUL',
    });
  attempt(place, () => symlinkSync(Buffer.from(target), place.path));
  pass.total.links += 1;
  pass.total.bytes += target.length;
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

async function writeFile(pass: Pass, entry: Extract<Entry, { type: 'file' }>, place: Place): Promise<void> {
  const { cid, size, mode } = entry;
  const whole = size < ONE_SHOT_LIMIT ? await pass.reader.get(cid['/']) : undefined;
  const fd = attempt(place, () => openSync(place.path, NEW_FILE, 0o600));
  try {
    let count = 0;
    for await (const part of whole === undefined ? pass.reader.stream(cid['/']) : [whole]) {
      count += part.length;
      if (whole === undefined) await writeLarge(fd, part);
      else writeSmall(fd, part);
    }
    sized(place, size, count);
    // After the last byte: a write takes the set-id bits away.
    fchmodSync(fd, mode);
    held(place, mode, fstatSync(fd).mode);
  } catch (cause) {
    writeFault(cause, place);
  } finally {
    closeSync(fd);
  }
  pass.total.files += 1;
  pass.total.bytes += size;
}

function writeSmall(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

const writePiece = promisify(writeLater);

async function writeLarge(fd: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; )
    at += (await writePiece(fd, bytes, at, bytes.length - at, null)).bytesWritten;
}

function sized(place: Place, wanted: number, found: number): void {
  if (wanted !== found)
    fail('E_TREE', { where: shown(place), wanted: `${wanted} bytes`, found: String(found) });
}

function setMode(place: Place, mode: number): void {
  attempt(place, () => chmodSync(place.path, mode));
  held(place, mode, attempt(place, () => lstatSync(place.path)).mode);
}

function held(place: Place, mode: number, found: number): void {
  if ((found & 0o7777) !== mode)
    fail('E_PATH', {
      where: shown(place),
      wanted: `a target that can hold mode ${mode.toString(8)}`,
      found: (found & 0o7777).toString(8),
    });
}

function attempt<T>(place: Place, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    return writeFault(cause, place);
  }
}
