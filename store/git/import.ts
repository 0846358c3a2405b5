/**
 * A Git commit as a tree of ours, from Git objects and nothing else: no checkout, no filter, no attribute.
 * Promises: the same commit gives the same cids on every machine and through either back end; the Git tree id can be
 * recomputed from what is emitted (format/git-tree.ts); each distinct object is read and emitted once. Trees are all
 * read and checked first, so a hostile or broken tree leaves nothing; tree nodes are emitted only when every blob is.
 * Does not promise: content of submodules and of LFS pointers: they stay what they are, and are named.
 */
import type { Cid } from '../format/cid.ts';
import { fail } from '../format/errors.ts';
import { commitTree, tagTarget } from '../format/git-object.ts';
import type { OddTree } from '../format/git-tree.ts';
import type { Emit } from '../format/reader.ts';
import { printPath, type TreePath } from '../format/tree.ts';
import { openWindow } from '../window.ts';
import { collidingNames } from './collisions.ts';
import { type LfsPointer, lfsPointer } from './lfs.ts';
import { type Blob, type Counts, emitNodes, emitOdd, nodeOf, postOrder, submodulesBelow } from './nodes.ts';
import { fullOid, type GitReader, readWhole } from './reader.ts';
import { located, readTrees, type Trees } from './trees.ts';

export interface Imported {
  /** The id asked for: the commit, or an annotated tag that leads to it. */
  readonly given: string;
  readonly commit: string;
  /** The raw commit object, as a raw block. */
  readonly commitRaw: Cid;
  readonly tree: Cid;
  readonly treeOid: string;
  /** Raw Git trees whose re-encoding differs, by path. */
  readonly oddTrees: readonly OddTree[];
  readonly counts: Counts;
  /** Files, links and submodules: the lines of `git ls-tree -r`. */
  readonly entries: number;
  readonly submodules: readonly { readonly path: TreePath; readonly oid: string }[];
  /** Groups of names that some file systems cannot hold side by side; once for each distinct directory. */
  readonly collisions: readonly (readonly TreePath[])[];
  /** Git LFS pointers; once for each distinct blob. */
  readonly lfs: readonly (LfsPointer & { readonly path: TreePath })[];
}

/** Longest chain of annotated tags that is followed. */
const MAX_TAGS = 16;

/**
 * Imports the commit with this full id (or the one an annotated tag of this full id leads to).
 * Throws E_GIT_REF, E_GIT (absent or malformed object, with its path), E_PATH (unsafe name), E_DIGEST, E_TOO_LARGE.
 */
export async function importCommit(reader: GitReader, commitId: string, emit: Emit): Promise<Imported> {
  const given = fullOid(commitId, reader.algorithm);
  const { commit, raw } = await peeled(reader, given);
  const treeOid = commitTree(raw);
  fullOid(treeOid, reader.algorithm);
  const trees = await readTrees(reader, treeOid);
  const order = postOrder(trees, treeOid);
  const { blobs, lfs } = await emitBlobs(reader, trees, emit);
  const nodes = await emitNodes(trees, order, blobs, emit);
  const commitRaw = await emit(raw);
  const { cid: tree, counts } = nodeOf(nodes, treeOid);
  return {
    given,
    commit,
    commitRaw,
    tree,
    treeOid,
    oddTrees: await emitOdd(trees, nodes, treeOid, emit),
    counts,
    entries: counts.files + counts.links + counts.submodules,
    submodules: submodulesBelow(trees, nodes, treeOid),
    collisions: order.flatMap((oid) => collisionsIn(trees, oid)),
    lfs,
  };
}

/** Follows annotated tags to a commit. */
async function peeled(reader: GitReader, given: string): Promise<{ commit: string; raw: Uint8Array }> {
  let oid = given;
  for (let hops = 0; hops <= MAX_TAGS; hops++) {
    const { type, body } = await readWhole(reader, oid);
    if (type === 'commit') return { commit: oid, raw: body };
    if (type !== 'tag') fail('E_GIT_REF', { where: given, wanted: 'a commit', found: `a ${type}` });
    oid = fullOid(tagTarget(body).oid, reader.algorithm);
  }
  return fail('E_GIT_REF', {
    where: given,
    wanted: `a commit behind at most ${MAX_TAGS} tags`,
    found: 'more',
  });
}

/** Every distinct blob once, many puts side by side. */
async function emitBlobs(
  reader: GitReader,
  trees: Trees,
  emit: Emit,
): Promise<{ blobs: Map<string, Blob>; lfs: Imported['lfs'] }> {
  const window = openWindow();
  const blobs = new Map<string, Blob>();
  const lfs: (LfsPointer & { path: TreePath })[] = [];
  await located(reader, trees.blobs, trees.pathOf, ({ oid, type, size, body }) => {
    if (type !== 'blob')
      fail('E_GIT', { where: printPath(trees.pathOf(oid)), wanted: 'a blob', found: type });
    const pointer = body instanceof Uint8Array ? lfsPointer(body) : undefined;
    if (pointer !== undefined) lfs.push({ ...pointer, path: trees.pathOf(oid) });
    const put = emit(body);
    const note = (cid: Cid) => void blobs.set(oid, { cid, size });
    // A stream is read from the one conversation with Git: the next object comes after it.
    return body instanceof Uint8Array ? window.add(size, put, note) : put.then(note);
  });
  await window.done();
  return { blobs, lfs };
}

function collisionsIn(trees: Trees, oid: string): TreePath[][] {
  const groups = collidingNames(trees.linesOf(oid).map((line) => line.name));
  if (groups.length === 0) return [];
  const at = trees.pathOf(oid);
  return groups.map((names) => names.map((name) => [...at, name]));
}
