/** One tree laid over another, block by block: how a solution becomes a workspace without a sandbox. */
import { type Cid, link } from '../store/format/cid.ts';
import type { Emit, Reader } from '../store/format/reader.ts';
import { compareNames, type Entry, parseTree, treeBlock } from '../store/format/tree.ts';

/**
 * The tree `base` with `over` laid over it and the portable paths of `deleted` taken away. A folder over a folder is
 * merged; anything else replaces what stands there. Empty folders that a deletion leaves stay. O(changed directories).
 */
export async function overlay(
  io: { readonly reader: Reader; readonly emit: Emit },
  base: Cid,
  over: Cid | undefined,
  deleted: readonly string[] = [],
): Promise<Cid> {
  const merged = over === undefined ? base : await merge(io, base, over);
  let tree = merged;
  for (const path of deleted) tree = await without(io, tree, path.split('/'));
  return tree;
}

type Io = Parameters<typeof overlay>[0];

async function entriesOf(io: Io, tree: Cid): Promise<readonly Entry[]> {
  return parseTree(await io.reader.get(tree)).entries;
}

async function write(io: Io, entries: readonly Entry[]): Promise<Cid> {
  return io.emit(treeBlock(entries).bytes, 'dag-json');
}

async function merge(io: Io, base: Cid, over: Cid): Promise<Cid> {
  const below = await entriesOf(io, base);
  const above = await entriesOf(io, over);
  const kept = below.filter((entry) => !above.some((each) => compareNames(each.name, entry.name) === 0));
  const laid: Entry[] = [];
  for (const entry of above) {
    const under = below.find((each) => compareNames(each.name, entry.name) === 0);
    const both = entry.type === 'dir' && under?.type === 'dir';
    laid.push(both ? { ...under, cid: link(await merge(io, under.cid['/'], entry.cid['/'])) } : entry);
  }
  return write(io, [...kept, ...laid]);
}

async function without(io: Io, tree: Cid, [name, ...rest]: readonly string[]): Promise<Cid> {
  const entries = await entriesOf(io, tree);
  const changed: Entry[] = [];
  for (const entry of entries) {
    if (entry.name !== name) changed.push(entry);
    else if (rest.length > 0 && entry.type === 'dir') {
      changed.push({ ...entry, cid: link(await without(io, entry.cid['/'], rest)) });
    }
  }
  return write(io, changed);
}
