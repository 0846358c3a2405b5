/**
 * Tree nodes: one directory each, entries sorted by name bytes (DESIGN section 2, Tree node).
 * Promises: one byte string per directory; `parseTree` refuses what `treeNode` would not make.
 * Does not promise: times, owners, inode numbers or hard links; a hard link is a file of equal content.
 */
import { type Cid, isCid, type Link, link } from './cid.ts';
import { type Bytes, decode, encodeBlock, fromBytes, isBytes, isLink, toBytes, type Value } from './codec.ts';
import { fail } from './errors.ts';
import type { Reader } from './reader.ts';

/** A string, or bytes where the name is not valid UTF-8. */
export type Name = string | Bytes;

export type Entry =
  | {
      readonly name: Name;
      readonly type: 'file';
      readonly mode: number;
      readonly cid: Link;
      readonly size: number;
    }
  | {
      readonly name: Name;
      readonly type: 'link';
      readonly mode: 0;
      readonly cid: Link;
      readonly size: number;
    }
  | { readonly name: Name; readonly type: 'dir'; readonly mode: number; readonly cid: Link }
  | { readonly name: Name; readonly type: 'submodule'; readonly mode: 0; readonly oid: string }
  | { readonly name: Name; readonly type: 'device'; readonly mode: 0; readonly rdev: string }
  | { readonly name: Name; readonly type: 'fifo' | 'socket'; readonly mode: 0 };
export type EntryType = Entry['type'];

export interface TreeNode {
  readonly entries: readonly Entry[];
}

/** A materialised folder: the root's mode stands here, its content in the tree. */
export interface Snapshot {
  readonly mode: number;
  readonly tree: Link;
}

/** A found path: names from the root down, never joined. */
export type TreePath = readonly Name[];

/** The bytes of a name as the file system or Git holds them. */
export function nameBytes(name: Name): Uint8Array {
  return typeof name === 'string' ? Buffer.from(name, 'utf8') : fromBytes(name);
}

/** The name of these bytes: a string where they are valid UTF-8, else bytes. Throws E_TREE for an impossible name. */
export function nameFromBytes(bytes: Uint8Array): Name {
  if (!possible(bytes))
    fail('E_TREE', { wanted: 'a directory entry name', found: Buffer.from(bytes).toString('hex') });
  try {
    return UTF8.decode(bytes);
  } catch {
    return toBytes(bytes);
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function possible(bytes: Uint8Array): boolean {
  if (bytes.length === 0 || bytes.includes(0) || bytes.includes(0x2f)) return false;
  const dots = bytes.every((byte) => byte === 0x2e);
  return !(dots && bytes.length <= 2);
}

/** Order of names: by their bytes. */
export function compareNames(a: Name, b: Name): number {
  // By code unit is by byte unless a surrogate stands before U+E000 and above.
  if (typeof a === 'string' && typeof b === 'string' && !SURROGATE.test(a) && !SURROGATE.test(b))
    return a < b ? -1 : a > b ? 1 : 0;
  return Buffer.compare(nameBytes(a), nameBytes(b));
}

const SURROGATE = /[\ud800-\udfff]/;

/** A printable path: segments joined by `/`, undecodable names in `%XX` of every byte. For people, not for identity. */
export function printPath(path: TreePath): string {
  const segment = (name: Name) =>
    typeof name === 'string'
      ? name
      : Array.from(fromBytes(name), (b) => `%${b.toString(16).padStart(2, '0')}`).join('');
  return path.map(segment).join('/');
}

/** Sorts and checks entries; throws E_TREE on an impossible entry or two equal names. */
export function treeNode(entries: readonly Entry[]): TreeNode {
  const sorted = [...entries].sort((a, b) => compareNames(a.name, b.name));
  return checked({ entries: sorted });
}

/** The block of a directory. */
export function treeBlock(entries: readonly Entry[]): { cid: Cid; bytes: Uint8Array } {
  return encodeBlock(treeNode(entries) as unknown as Value);
}

export function snapshotBlock(snapshot: Snapshot): { cid: Cid; bytes: Uint8Array } {
  return encodeBlock(snapshot as unknown as Value);
}

/** Reads the block of a directory. Throws E_CODEC, E_TREE. */
export function parseTree(bytes: Uint8Array): TreeNode {
  const value = decode(bytes) as Record<string, unknown> | null;
  if (!isMap(value, ['entries']) || !Array.isArray(value.entries)) {
    fail('E_TREE', { wanted: '{"entries": […]}', found: 'another shape' });
  }
  return checked(value as unknown as TreeNode);
}

/** Reads the block of a snapshot. Throws E_CODEC, E_TREE. */
export function parseSnapshot(bytes: Uint8Array): Snapshot {
  const value = decode(bytes) as Record<string, unknown> | null;
  if (!isMap(value, ['mode', 'tree']) || !isMode(value.mode) || !isLink(value.tree)) {
    fail('E_TREE', { wanted: '{"mode": 0-4095, "tree": link}', found: 'another shape' });
  }
  return value as unknown as Snapshot;
}

/** Whether this CID could name a snapshot or tree node is the reader's affair; this one is a file of these bytes. */
export function fileEntry(name: Name, cid: Cid, size: number, mode = 0o644): Entry {
  return { name, type: 'file', mode, cid: link(cid), size };
}

/** Every entry below `root`, parents before children, in name order. Throws what the reader and `parseTree` throw. */
export async function* walkTree(
  reader: Reader,
  root: Cid,
  at: TreePath = [],
): AsyncGenerator<{ path: TreePath; entry: Entry }> {
  for (const entry of parseTree(await reader.get(root)).entries) {
    const path = [...at, entry.name];
    yield { path, entry };
    if (entry.type === 'dir') yield* walkTree(reader, entry.cid['/'], path);
  }
}

function checked(node: TreeNode): TreeNode {
  let before: Name | undefined;
  for (const entry of node.entries) {
    checkEntry(entry);
    if (before !== undefined && compareNames(before, entry.name) >= 0) {
      fail('E_TREE', { wanted: 'names in byte order, each once', found: printPath([before, entry.name]) });
    }
    before = entry.name;
  }
  return node;
}

const FIELDS: Record<EntryType, readonly string[]> = {
  file: ['cid', 'mode', 'name', 'size', 'type'],
  link: ['cid', 'mode', 'name', 'size', 'type'],
  dir: ['cid', 'mode', 'name', 'type'],
  submodule: ['mode', 'name', 'oid', 'type'],
  device: ['mode', 'name', 'rdev', 'type'],
  fifo: ['mode', 'name', 'type'],
  socket: ['mode', 'name', 'type'],
};

function checkEntry(entry: Entry): void {
  const fields = Object.hasOwn(FIELDS, entry.type) ? FIELDS[entry.type] : undefined;
  const where = JSON.stringify(entry.name);
  if (fields === undefined || !isMap(entry, fields)) {
    fail('E_TREE', {
      where,
      wanted: 'an entry of a known type with its fields',
      found: Object.keys(entry).join(),
    });
  }
  checkName(entry.name, where);
  const fixed = entry.type !== 'file' && entry.type !== 'dir';
  if (!isMode(entry.mode) || (fixed && entry.mode !== 0)) {
    fail('E_TREE', { where, wanted: fixed ? 'mode 0' : 'mode 0-4095', found: String(entry.mode) });
  }
  if ('cid' in entry && !(isLink(entry.cid) && isCid(entry.cid['/'])))
    fail('E_TREE', { where, wanted: 'a link' });
  if ('size' in entry && !(Number.isSafeInteger(entry.size) && entry.size >= 0))
    fail('E_TREE', { where, wanted: 'a size' });
  if (entry.type === 'submodule' && !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(entry.oid)) {
    fail('E_TREE', { where, wanted: 'a Git object id', found: String(entry.oid) });
  }
  if (entry.type === 'device' && !/^[bc]:\d+:\d+$/.test(entry.rdev))
    fail('E_TREE', { where, wanted: 'b|c:major:minor' });
}

/** Printable ASCII without a slash: most names. */
const ORDINARY = /^[ -.0-~]+$/;

function checkName(name: unknown, where: string): void {
  if (typeof name === 'string' && ORDINARY.test(name) && name !== '.' && name !== '..') return;
  if (typeof name === 'string' && name.isWellFormed() && possible(Buffer.from(name))) return;
  if (isBytes(name)) {
    const bytes = fromBytes(name);
    if (possible(bytes) && typeof nameFromBytes(bytes) !== 'string') return;
  }
  fail('E_TREE', { where, wanted: 'an entry name in its one spelling' });
}

function isMap(value: unknown, fields: readonly string[]): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  return keys.length === fields.length && fields.every((field) => Object.hasOwn(value, field));
}

const isMode = (mode: unknown): boolean =>
  Number.isInteger(mode) && (mode as number) >= 0 && (mode as number) <= 0o7777;
