/**
 * The Git tree id of a tree of ours, recomputed from nothing but our blocks.
 * Promises: the id is the one Git would give; a raw tree kept because its spelling is odd (zero-padded mode, wrong
 * order) is used only where it says the same as our node, so that no odd tree can hide a change.
 * Does not promise: an id for what Git cannot hold (fifo, socket, device, a directory that is not 0755): E_GIT.
 */
import type { Cid } from './cid.ts';
import { ONE_SHOT_LIMIT } from './crypto.ts';
import { fail } from './errors.ts';
import {
  encodeGitTree,
  type GitAlgorithm,
  type GitEntry,
  gitHasher,
  gitKind,
  gitMode,
  gitObjectId,
  isGitOid,
  parseGitTree,
} from './git-object.ts';
import type { Reader } from './reader.ts';
import { type Entry, type EntryType, nameBytes, parseTree, printPath, type TreePath } from './tree.ts';
import { counted } from './words.ts';

/** A raw Git tree whose re-encoding from our node differs, kept as a raw block. */
export interface OddTree {
  readonly path: TreePath;
  readonly oid: string;
  readonly cid: Cid;
}

/** An entry that redaction took out: its Git id is known, so its bytes are not needed. */
export interface RemovedEntry {
  readonly path: TreePath;
  readonly type: EntryType;
  readonly mode: number;
  readonly oid: string;
}

/** What is laid over our tree at one name. */
interface Overlay {
  readonly path: TreePath;
  readonly below: Map<string, Overlay>;
  removed?: RemovedEntry;
  odd?: OddTree;
}

interface Context {
  readonly reader: Reader;
  readonly algorithm: GitAlgorithm;
  /** cid -> Git id, for subtrees without overlay and for blobs. */
  readonly known: Map<string, string>;
}

/**
 * The Git id of the tree at `tree`. Reads every distinct block below it once.
 * Throws E_GIT, and what the reader throws.
 */
export async function gitTreeOid(
  reader: Reader,
  tree: Cid,
  oddTrees: readonly OddTree[],
  algorithm: GitAlgorithm,
): Promise<string> {
  return gitTreeOidWithRemoved(reader, tree, [], oddTrees, algorithm);
}

/**
 * The Git id that the tree had before `removed` was taken out: the source's, from redaction's output.
 * Directories that redaction left empty and dropped come back with the entries below them.
 */
export async function gitTreeOidWithRemoved(
  reader: Reader,
  tree: Cid,
  removed: readonly RemovedEntry[],
  oddTrees: readonly OddTree[],
  algorithm: GitAlgorithm,
): Promise<string> {
  const root: Overlay = { path: [], below: new Map() };
  for (const entry of removed) {
    const at = overlayAt(root, entry.path);
    if (at.removed !== undefined || at === root)
      fail('E_GIT', { where: printPath(entry.path), wanted: 'each removed path once', found: 'a second' });
    at.removed = entry;
  }
  for (const odd of oddTrees) {
    const at = overlayAt(root, odd.path);
    if (at.odd !== undefined)
      fail('E_GIT', { where: printPath(odd.path), wanted: 'each odd tree once', found: 'a second' });
    at.odd = odd;
  }
  return treeOid({ reader, algorithm, known: new Map() }, tree, root);
}

/** The Git id of a file's or link's bytes. Throws E_TREE when there are not exactly `size` of them. */
export async function gitBlobOid(
  reader: Reader,
  cid: Cid,
  size: number,
  algorithm: GitAlgorithm,
): Promise<string> {
  const running = gitHasher(algorithm, 'blob', size);
  let count = 0;
  const parts = size < ONE_SHOT_LIMIT ? [await reader.get(cid)] : reader.stream(cid);
  for await (const part of parts) {
    running.update(part);
    count += part.length;
  }
  if (count !== size) fail('E_TREE', { where: cid, wanted: counted(size, 'byte'), found: String(count) });
  return running.hex();
}

function overlayAt(root: Overlay, path: TreePath): Overlay {
  let at = root;
  path.forEach((name, i) => {
    const key = nameKey(nameBytes(name));
    let next = at.below.get(key);
    if (next === undefined) {
      next = { path: path.slice(0, i + 1), below: new Map() };
      at.below.set(key, next);
    }
    at = next;
  });
  return at;
}

const nameKey = (name: Uint8Array): string => Buffer.from(name).toString('latin1');

async function treeOid(context: Context, tree: Cid | undefined, overlay?: Overlay): Promise<string> {
  const known = tree === undefined || overlay !== undefined ? undefined : context.known.get(tree);
  if (known !== undefined) return known;
  const lines: GitEntry[] = [];
  const pending = new Map(overlay?.below);
  const entries = tree === undefined ? [] : parseTree(await context.reader.get(tree)).entries;
  for (const entry of entries) {
    const name = nameBytes(entry.name);
    const laid = pending.get(nameKey(name));
    pending.delete(nameKey(name));
    if (laid?.removed !== undefined || (laid !== undefined && entry.type !== 'dir'))
      fail('E_GIT', { where: printPath(laid.path), wanted: 'a removed path to be absent', found: 'it' });
    lines.push({ mode: modeOf(entry, laid), name, oid: await entryOid(context, entry, laid) });
  }
  for (const laid of pending.values()) lines.push(await broughtBack(context, laid));
  const oid = spelled(context, lines, overlay?.odd && (await context.reader.get(overlay.odd.cid)), overlay);
  if (tree !== undefined && overlay === undefined) context.known.set(tree, oid);
  return oid;
}

function modeOf(entry: Entry, laid: Overlay | undefined): string {
  try {
    return gitMode(entry.type, entry.mode);
  } catch (cause) {
    fail('E_GIT', {
      where: laid === undefined ? printPath([entry.name]) : printPath(laid.path),
      wanted: 'an entry as Git holds it',
      found: `${entry.type} ${entry.mode.toString(8)}`,
      cause,
    });
  }
}

async function entryOid(context: Context, entry: Entry, laid: Overlay | undefined): Promise<string> {
  if (entry.type === 'dir') return treeOid(context, entry.cid['/'], laid);
  if (entry.type === 'submodule') return fullOid(context, entry.oid);
  if (entry.type !== 'file' && entry.type !== 'link')
    fail('E_GIT', { wanted: 'an entry that a Git tree can hold', found: entry.type });
  const cid = entry.cid['/'];
  const key = `${entry.size} ${cid}`;
  const oid =
    context.known.get(key) ?? (await gitBlobOid(context.reader, cid, entry.size, context.algorithm));
  context.known.set(key, oid);
  return oid;
}

/** An entry that our tree has not: removed itself, or a directory that only held removed entries. */
async function broughtBack(context: Context, laid: Overlay): Promise<GitEntry> {
  const name = nameBytes(laid.path[laid.path.length - 1]!);
  if (laid.removed !== undefined) {
    if (laid.below.size > 0 || laid.odd !== undefined)
      fail('E_GIT', {
        where: printPath(laid.path),
        wanted: 'nothing below a removed entry',
        found: 'an entry',
      });
    const { type, mode, oid } = laid.removed;
    return { mode: gitMode(type, mode), name, oid: fullOid(context, oid) };
  }
  if (laid.below.size === 0)
    fail('E_GIT', { where: printPath(laid.path), wanted: 'a directory for an odd tree', found: 'nothing' });
  return { mode: '40000', name, oid: await treeOid(context, undefined, laid) };
}

function fullOid(context: Context, oid: string): string {
  if (isGitOid(oid, context.algorithm)) return oid;
  return fail('E_GIT', { wanted: `a full ${context.algorithm} object id`, found: oid });
}

/** The id of these lines in Git's spelling, or of the odd raw tree that says the same. */
function spelled(
  context: Context,
  lines: readonly GitEntry[],
  odd: Uint8Array | undefined,
  overlay: Overlay | undefined,
): string {
  const plain = encodeGitTree(lines);
  if (odd === undefined) return gitObjectId(context.algorithm, 'tree', plain);
  const same = parseGitTree(odd, context.algorithm).map((line) => {
    const { type, mode } = gitKind(line.mode);
    return { ...line, mode: gitMode(type, mode) };
  });
  const oid = gitObjectId(context.algorithm, 'tree', odd);
  if (Buffer.compare(encodeGitTree(same), plain) !== 0 || oid !== overlay?.odd?.oid) {
    fail('E_GIT', {
      where: printPath(overlay?.path ?? []) || '/',
      wanted: 'an odd tree that says what the node says',
      found: oid,
    });
  }
  return oid;
}
