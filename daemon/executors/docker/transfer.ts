/**
 * Trees into containers and back, as tar streams.
 * Promises: what comes back is what stands in the volume, byte for byte, hard links as files of equal content, sockets
 * from a listing beside the archive; two equal paths, an entry without its folder, or an archive and a listing that
 * disagree are E_EXECUTOR.
 * Does not promise: devices on the way in.
 */
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { type Cid, link } from '../../../store/format/cid.ts';
import { fail } from '../../../store/format/errors.ts';
import type { Emit, Reader } from '../../../store/format/reader.ts';
import { type Entry, nameBytes, nameFromBytes, parseTree, treeBlock } from '../../../store/format/tree.ts';
import { type Emitter, openEmitter } from '../emitter.ts';
import { readTar, type TarEntry, type TarInput } from '../tar.ts';

export interface Ownership {
  readonly uid: number;
  readonly gid: number;
}

const SLASH = Buffer.from('/');
const below = (path: Uint8Array, name: Uint8Array): Buffer => Buffer.concat([path, SLASH, name]);

/** The folder `path` (no slash in front) with this mode, and all that the tree holds. */
export async function* tarOfTree(
  reader: Reader,
  root: { mode: number; tree: Cid },
  path: Uint8Array,
  owner: Ownership,
): AsyncGenerator<TarInput> {
  yield { path, type: 'dir', mode: root.mode, ...owner };
  for (const entry of parseTree(await reader.get(root.tree)).entries) {
    const at = below(path, nameBytes(entry.name));
    if (entry.type === 'dir') {
      yield* tarOfTree(reader, { mode: entry.mode, tree: entry.cid['/'] }, at, owner);
    } else if (entry.type === 'submodule') {
      // What Git checks out for a submodule that nobody asked for: an empty folder.
      yield { path: at, type: 'dir', mode: 0o755, ...owner };
    } else if (entry.type === 'file') {
      const body = reader.stream(entry.cid['/']);
      yield { path: at, type: 'file', mode: entry.mode, size: entry.size, body, ...owner };
    } else if (entry.type === 'link') {
      yield { path: at, type: 'link', mode: 0o777, target: await reader.get(entry.cid['/']), ...owner };
    } else {
      fail('E_TREE', {
        where: at.toString(),
        wanted: 'a file, link or folder to start from',
        found: entry.type,
      });
    }
  }
}

/** The same of a folder of this host: files, links and folders, sorted by name. */
export async function* tarOfFolder(
  folder: Uint8Array,
  path: Uint8Array,
  owner: Ownership,
): AsyncGenerator<TarInput> {
  yield { path, type: 'dir', mode: 0o755, ...owner };
  const names = await readdir(Buffer.from(folder), { encoding: 'buffer' });
  for (const name of names.sort(Buffer.compare)) {
    const [from, at] = [below(folder, name), below(path, name)];
    const found = await lstat(from);
    const mode = found.mode & 0o7777;
    if (found.isDirectory()) yield* tarOfFolder(from, at, owner);
    if (found.isFile())
      yield { path: at, type: 'file', mode, size: found.size, body: createReadStream(from), ...owner };
    if (found.isSymbolicLink()) {
      yield {
        path: at,
        type: 'link',
        mode: 0o777,
        target: await readlink(from, { encoding: 'buffer' }),
        ...owner,
      };
    }
  }
}

/** What the lister saw below one folder: special files by path (hexadecimal), and how many entries there are. */
export interface Listing {
  readonly count: number;
  readonly sockets: readonly string[];
}

interface Node {
  entry: Entry | undefined;
  readonly mode: number;
  readonly children: Map<string, Node>;
}

/** The tree in an archive of one folder; the listing is asked for once the archive is read. O(bytes); memory O(entries). */
export async function treeOfTar(
  archive: AsyncIterable<Uint8Array>,
  listing: () => Promise<Listing>,
  emit: Emit,
): Promise<{ mode: number; tree: Cid }> {
  const emitter = openEmitter(emit);
  let root: Node | undefined;
  let count = 0;
  for await (const tar of readTar(archive)) {
    const names = splitPath(tar.path).slice(1);
    const last = names.at(-1);
    if (last === undefined) {
      root = folder(tar);
      continue;
    }
    count += 1;
    const parent = findFolder(root, names.slice(0, -1), tar.path);
    if (parent.children.has(key(last))) damaged(tar.path, 'two entries of one path');
    parent.children.set(key(last), await readNode(tar, last, root as Node, emitter));
  }
  if (root === undefined) damaged(new Uint8Array(), 'an archive without its folder');
  const { sockets, count: listed } = await listing();
  for (const path of sockets) {
    count += 1;
    addSocket(root, splitPath(Buffer.from(path, 'hex')));
  }
  if (count !== listed) damaged(new Uint8Array(), `${count} entries read, ${listed} listed`);
  const tree = await emitFolder(root, emitter);
  await emitter.done();
  return { mode: root.mode, tree };
}

const key = (name: Uint8Array): string => Buffer.from(name).toString('hex');
const folder = (tar: TarEntry): Node => ({ entry: undefined, mode: tar.mode, children: new Map() });
const leaf = (entry: Entry): Node => ({ entry, mode: 0, children: new Map() });

async function readNode(tar: TarEntry, name: Uint8Array, root: Node, emitter: Emitter): Promise<Node> {
  const named = { name: nameFromBytes(name) };
  if (tar.type === 'dir') return folder(tar);
  if (tar.type === 'file') {
    const cid = link(await emitter.file(tar.body, tar.size));
    return leaf({ ...named, type: 'file', mode: tar.mode, cid, size: tar.size });
  }
  if (tar.type === 'hard') {
    const first = find(root, splitPath(tar.target).slice(1), tar.target).entry;
    return first === undefined
      ? damaged(tar.target, 'a hard link to a folder')
      : leaf({ ...first, ...named });
  }
  if (tar.type === 'link') {
    const cid = link(await emitter.put(tar.target));
    return leaf({ ...named, type: 'link', mode: 0, cid, size: tar.target.length });
  }
  if (tar.type === 'fifo') return leaf({ ...named, type: 'fifo', mode: 0 });
  const rdev = `${tar.type === 'block' ? 'b' : 'c'}:${tar.major}:${tar.minor}`;
  return leaf({ ...named, type: 'device', mode: 0, rdev });
}

function addSocket(root: Node, names: readonly Uint8Array[]): void {
  const name = names.at(-1) as Uint8Array;
  const parent = findFolder(root, names.slice(0, -1), name);
  if (parent.children.has(key(name))) damaged(name, 'a socket where the archive has something else');
  parent.children.set(key(name), leaf({ name: nameFromBytes(name), type: 'socket', mode: 0 }));
}

function find(root: Node | undefined, names: readonly Uint8Array[], path: Uint8Array): Node {
  let at = root;
  for (const name of names) at = at?.children.get(key(name));
  return at ?? damaged(path, 'a way to nothing');
}

function findFolder(root: Node | undefined, names: readonly Uint8Array[], path: Uint8Array): Node {
  const found = find(root, names, path);
  return found.entry === undefined ? found : damaged(path, 'an entry whose folder is none');
}

async function emitFolder(node: Node, emitter: Emitter): Promise<Cid> {
  const entries: Entry[] = [];
  for (const [hex, child] of node.children) {
    const name = nameFromBytes(Buffer.from(hex, 'hex'));
    const { mode } = child;
    entries.push(child.entry ?? { name, type: 'dir', mode, cid: link(await emitFolder(child, emitter)) });
  }
  return emitter.put(treeBlock(entries).bytes, 'dag-json');
}

/** Names between slashes; `.` and empty ones say nothing, `..` is refused. */
function splitPath(path: Uint8Array): Uint8Array[] {
  const names: Uint8Array[] = [];
  for (let at = 0; at <= path.length; ) {
    const slash = path.indexOf(0x2f, at);
    const name = path.subarray(at, slash < 0 ? path.length : slash);
    at += name.length + 1;
    const text = Buffer.from(name).toString('latin1');
    if (text === '..') damaged(path, 'a way out of the archive');
    if (text !== '' && text !== '.') names.push(name);
  }
  return names;
}

function damaged(path: Uint8Array, found: string): never {
  const where = `archive of the sandbox: ${JSON.stringify(Buffer.from(path).toString('latin1'))}`;
  return fail('E_EXECUTOR', { where, wanted: 'each entry once, in its folder', found });
}
