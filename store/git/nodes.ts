/**
 * From checked Git trees to tree nodes of ours, bottom up.
 * Promises: one node for each distinct Git tree; what the re-encoding of a node does not give back is kept raw.
 * Does not promise: an order of the puts.
 */
import { type Cid, link } from '../format/cid.ts';
import { fail } from '../format/errors.ts';
import type { OddTree } from '../format/git-tree.ts';
import type { Emit } from '../format/reader.ts';
import { type Entry, fileEntry, type TreePath, treeBlock } from '../format/tree.ts';
import { openWindow } from '../window.ts';
import { MAX_LEVELS, type TreeLine, type Trees, tooDeep } from './trees.ts';

export interface Blob {
  readonly cid: Cid;
  readonly size: number;
}

/** What a tree holds, every path below it counted. `bytes` is the sum of file and link sizes. */
export interface Counts {
  readonly files: number;
  readonly links: number;
  readonly dirs: number;
  readonly submodules: number;
  readonly bytes: number;
}

export interface Node {
  readonly cid: Cid;
  readonly counts: Counts;
  readonly levels: number;
  /** This tree or one below it is odd. */
  readonly oddBelow: boolean;
}

/** Most entries a commit may have, every path counted: equal subtrees can make a small repository list for ever. */
export const MAX_ENTRIES = 20_000_000;
/** Most paths of odd trees, or of submodules. */
export const MAX_LISTED = 100_000;

/** Distinct trees, children before parents. O(trees + entries). */
export function postOrder(trees: Trees, root: string): string[] {
  const done = new Set<string>();
  const stack = [root];
  while (stack.length > 0) {
    const oid = stack[stack.length - 1] as string;
    const open = done.has(oid) ? [] : dirsIn(trees, oid).filter((below) => !done.has(below));
    if (open.length > 0) {
      stack.push(...open);
      continue;
    }
    done.add(oid);
    stack.pop();
  }
  return [...done];
}

const dirsIn = (trees: Trees, oid: string): string[] =>
  trees.linesOf(oid).flatMap((line) => (line.type === 'dir' ? [line.oid] : []));

/** Makes and emits the node of each tree in `order`. Throws E_TOO_LARGE. */
export async function emitNodes(
  trees: Trees,
  order: readonly string[],
  blobs: ReadonlyMap<string, Blob>,
  emit: Emit,
): Promise<Map<string, Node>> {
  const nodes = new Map<string, Node>();
  const window = openWindow();
  for (const oid of order) {
    const lines = trees.linesOf(oid);
    const { cid, bytes } = treeBlock(lines.map((line) => entryOf(line, nodes, blobs)));
    const odd = trees.oddRaw(oid) !== undefined;
    const below = lines.flatMap((line) => (line.type === 'dir' ? [nodeOf(nodes, line.oid)] : []));
    nodes.set(oid, {
      cid,
      oddBelow: odd || below.some((node) => node.oddBelow),
      levels: 1 + below.reduce((most, node) => Math.max(most, node.levels), 0),
      counts: countsOf(lines, below, blobs),
    });
    if (nodeOf(nodes, oid).levels > MAX_LEVELS) tooDeep();
    await window.add(bytes.length, emit(bytes, 'dag-json'));
  }
  await window.done();
  return nodes;
}

export function nodeOf(nodes: ReadonlyMap<string, Node>, oid: string): Node {
  return (
    nodes.get(oid) ?? fail('E_INTERNAL', { where: oid, wanted: 'children before parents', found: 'none' })
  );
}

function entryOf(line: TreeLine, nodes: ReadonlyMap<string, Node>, blobs: ReadonlyMap<string, Blob>): Entry {
  const { name, type, mode, oid } = line;
  if (type === 'submodule') return { name, type, mode: 0, oid };
  if (type === 'dir') return { name, type, mode, cid: link(nodeOf(nodes, oid).cid) };
  const blob = blobs.get(oid) ?? fail('E_INTERNAL', { where: oid, wanted: 'a blob read', found: 'none' });
  if (type === 'file') return fileEntry(name, blob.cid, blob.size, mode);
  return { name, type, mode: 0, cid: link(blob.cid), size: blob.size };
}

function countsOf(
  lines: readonly TreeLine[],
  below: readonly Node[],
  blobs: ReadonlyMap<string, Blob>,
): Counts {
  const total = { files: 0, links: 0, dirs: 0, submodules: 0, bytes: 0 };
  const field = { file: 'files', link: 'links', dir: 'dirs', submodule: 'submodules' } as const;
  for (const line of lines) {
    total[field[line.type]] += 1;
    total.bytes += blobs.get(line.oid)?.size ?? 0;
  }
  for (const { counts } of below)
    for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += counts[key];
  if (total.files + total.links + total.dirs + total.submodules > MAX_ENTRIES)
    fail('E_TOO_LARGE', { wanted: `at most ${MAX_ENTRIES} entries`, found: 'more' });
  return total;
}

/** Emits each odd raw tree and gives every path at which one stands, in tree order. */
export async function emitOdd(
  trees: Trees,
  nodes: ReadonlyMap<string, Node>,
  root: string,
  emit: Emit,
): Promise<OddTree[]> {
  const odd: OddTree[] = [];
  const cids = new Map<string, Cid>();
  const visit = async (oid: string, path: TreePath): Promise<void> => {
    if (!nodeOf(nodes, oid).oddBelow) return;
    const raw = trees.oddRaw(oid);
    if (raw !== undefined) {
      const cid = cids.get(oid) ?? (await emit(raw));
      cids.set(oid, cid);
      odd.push({ path, oid, cid });
      if (odd.length > MAX_LISTED) tooMany('odd trees');
    }
    for (const line of trees.linesOf(oid))
      if (line.type === 'dir') await visit(line.oid, [...path, line.name]);
  };
  await visit(root, []);
  return odd;
}

/** Every path at which a submodule stands, in tree order. */
export function submodulesBelow(
  trees: Trees,
  nodes: ReadonlyMap<string, Node>,
  root: string,
): { path: TreePath; oid: string }[] {
  const found: { path: TreePath; oid: string }[] = [];
  const visit = (oid: string, path: TreePath): void => {
    if (nodeOf(nodes, oid).counts.submodules === 0) return;
    for (const line of trees.linesOf(oid)) {
      const at = [...path, line.name];
      if (line.type === 'submodule') found.push({ path: at, oid: line.oid });
      else if (line.type === 'dir') visit(line.oid, at);
    }
    if (found.length > MAX_LISTED) tooMany('submodules');
  };
  visit(root, []);
  return found;
}

function tooMany(what: string): never {
  return fail('E_TOO_LARGE', { wanted: `at most ${MAX_LISTED} paths of ${what}`, found: 'more' });
}
