/**
 * Git objects as bytes: ids, trees, commits, tags (git's Documentation: gitformat-pack, hash-function-transition).
 * Promises: pure arithmetic; a tree that we encode has the id Git gives it; nothing is decoded as text.
 * Does not promise: that an object is one Git's fsck likes; what a mode or name means is decided by the importer.
 */
import { type Hasher, hasher, sha1Hex, sha256Hex } from './crypto.ts';
import { fail } from './errors.ts';
import type { EntryType } from './tree.ts';

export type GitAlgorithm = 'sha1' | 'sha256';
export type GitType = 'blob' | 'tree' | 'commit' | 'tag';

/** One line of a raw Git tree. `mode` as the digits stand there, `name` as the bytes stand there. */
export interface GitEntry {
  readonly mode: string;
  readonly name: Uint8Array;
  readonly oid: string;
}

/** Hexadecimal digits of a full object id. */
export const OID_LENGTH: Record<GitAlgorithm, number> = { sha1: 40, sha256: 64 };

/** Whether `text` is a full lower-case object id of this algorithm (of either, when none is given). */
export function isGitOid(text: unknown, algorithm?: GitAlgorithm): text is string {
  if (typeof text !== 'string' || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)) return false;
  return algorithm === undefined || text.length === OID_LENGTH[algorithm];
}

/** The algorithm that made this full object id. Throws E_GIT_REF for anything else. */
export function gitAlgorithmOf(oid: string): GitAlgorithm {
  if (!isGitOid(oid))
    fail('E_GIT_REF', { wanted: '40 or 64 lower-case hexadecimal digits', found: JSON.stringify(oid) });
  return oid.length === OID_LENGTH.sha1 ? 'sha1' : 'sha256';
}

/** A running object id: the header is hashed already, `size` bytes of content must follow. */
export function gitHasher(algorithm: GitAlgorithm, type: GitType, size: number): Hasher {
  const running = hasher(algorithm);
  running.update(Buffer.from(`${type} ${size}\0`, 'latin1'));
  return running;
}

/** Below this, copying content behind its header is cheaper than a running hash (bytes). */
const COPY_LIMIT = 1 << 14;

/** The id of an object with this content. O(length). */
export function gitObjectId(algorithm: GitAlgorithm, type: GitType, content: Uint8Array): string {
  if (content.length < COPY_LIMIT) {
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`, 'latin1'), content]);
    return algorithm === 'sha1' ? sha1Hex(whole) : sha256Hex(whole);
  }
  const running = gitHasher(algorithm, type, content.length);
  running.update(content);
  return running.hex();
}

/** A string whose order by code unit is Git's order: name bytes, a directory as if it ended in `/` (base_name_compare). */
function sortKey({ mode, name }: GitEntry): string {
  const text = Buffer.from(name.buffer, name.byteOffset, name.byteLength).toString('latin1');
  return mode === '40000' ? `${text}/` : text;
}

/** The raw tree of these entries, in Git's order. O(n log n). */
export function encodeGitTree(entries: readonly GitEntry[]): Uint8Array {
  const keyed = entries.map((entry) => ({ key: sortKey(entry), entry }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const parts: Uint8Array[] = [];
  for (const { entry } of keyed)
    parts.push(Buffer.from(`${entry.mode} `, 'latin1'), entry.name, Buffer.from(`00${entry.oid}`, 'hex'));
  return Buffer.concat(parts);
}

/** Whether these lines of a raw tree stand as `encodeGitTree` would write them, entries read by `gitKind`. O(n). */
export function isPlainTree(lines: readonly GitEntry[]): boolean {
  let before = '';
  return lines.every((line) => {
    const { type, mode } = gitKind(line.mode);
    const key = sortKey(line);
    const plain = gitMode(type, mode) === line.mode && key > before;
    before = key;
    return plain;
  });
}

/** The lines of a raw tree as they stand. Throws E_GIT where a line is cut or has no mode. */
export function parseGitTree(raw: Uint8Array, algorithm: GitAlgorithm): GitEntry[] {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const width = OID_LENGTH[algorithm] / 2;
  const entries: GitEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = space < 0 ? -1 : bytes.indexOf(0, space + 1);
    const mode = space < 0 ? '' : bytes.toString('latin1', at, space);
    if (end < 0 || end + 1 + width > bytes.length || !/^[0-7]{1,7}$/.test(mode)) {
      fail('E_GIT', { where: `tree byte ${at}`, wanted: 'mode, space, name, NUL, object id', found: 'less' });
    }
    const oid = bytes.toString('hex', end + 1, end + 1 + width);
    entries.push({ mode, name: bytes.subarray(space + 1, end), oid });
    at = end + 1 + width;
  }
  return entries;
}

const TYPE_BITS = 0o170000;
const TYPES = new Map<number, EntryType>([
  [0o040000, 'dir'],
  [0o100000, 'file'],
  [0o120000, 'link'],
  [0o160000, 'submodule'],
]);

/** What an entry of a raw tree is to us: directories are 0755, files keep their bits, all others have mode 0. */
export interface GitKind {
  readonly type: 'file' | 'link' | 'dir' | 'submodule';
  readonly mode: number;
}

const COMMON = new Map<string, GitKind>([
  ['100644', { type: 'file', mode: 0o644 }],
  ['100755', { type: 'file', mode: 0o755 }],
  ['120000', { type: 'link', mode: 0 }],
  ['160000', { type: 'submodule', mode: 0 }],
  ['40000', { type: 'dir', mode: 0o755 }],
]);

/** Reads a mode of a raw tree. Throws E_GIT for a type Git has not, and for set-id and sticky bits. */
export function gitKind(mode: string): GitKind {
  return COMMON.get(mode) ?? rareKind(mode);
}

function rareKind(mode: string): GitKind {
  const bits = Number.parseInt(mode, 8);
  const type = TYPES.get(bits & TYPE_BITS);
  if (type === undefined || bits > 0o177777)
    fail('E_GIT', { wanted: 'a mode of a file, link, directory or submodule', found: mode });
  if (type === 'dir') return { type, mode: 0o755 };
  if (type !== 'file') return { type: type as 'link' | 'submodule', mode: 0 };
  if ((bits & 0o7000) !== 0)
    fail('E_GIT', { wanted: 'a file mode without set-id and sticky bits', found: mode });
  return { type, mode: bits & 0o777 };
}

/** The mode digits that Git writes for an entry of ours. Throws E_GIT for what no Git tree can hold. */
export function gitMode(type: EntryType, mode: number): string {
  if (type === 'dir' && mode === 0o755) return '40000';
  if (type === 'file' && mode <= 0o777) return (0o100000 | mode).toString(8);
  if (type === 'link') return '120000';
  if (type === 'submodule') return '160000';
  return fail('E_GIT', { wanted: 'an entry that a Git tree can hold', found: `${type} ${mode.toString(8)}` });
}

/** The tree id in a raw commit. Throws E_GIT. */
export function commitTree(raw: Uint8Array): string {
  return headerLine(raw, 'tree');
}

/** What a raw annotated tag points at. Throws E_GIT. */
export function tagTarget(raw: Uint8Array): { readonly oid: string; readonly type: string } {
  const oid = headerLine(raw, 'object');
  const rest = Buffer.from(raw).toString('latin1', 'object '.length + oid.length + 1);
  const type = /^type ([a-z]+)\n/.exec(rest)?.[1];
  if (type === undefined) fail('E_GIT', { where: 'tag', wanted: 'a type line', found: 'none' });
  return { oid, type };
}

function headerLine(raw: Uint8Array, key: string): string {
  const head = Buffer.from(raw.subarray(0, key.length + 66)).toString('latin1');
  const oid = new RegExp(`^${key} ([0-9a-f]{40}|[0-9a-f]{64})\\n`).exec(head)?.[1];
  if (oid === undefined) fail('E_GIT', { wanted: `a first line "${key} <object id>"`, found: 'another' });
  return oid;
}
