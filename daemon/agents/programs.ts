/**
 * An adapter's programs as a tree, to be shown read-only beside the workspace.
 * Promises: exactly the files of the adapter under their plain names, so nothing of this installation is visible.
 * Does not promise: that the node which runs them is there.
 */
import { readFile } from 'node:fs/promises';
import type { Cid } from '../../store/format/cid.ts';
import type { Emit } from '../../store/format/reader.ts';
import { type Entry, fileEntry, treeBlock } from '../../store/format/tree.ts';
import type { Adapter } from './adapter.ts';

/** Emits the files and their tree node; gives the tree's CID. */
export async function packPrograms({ programs }: Adapter, emit: Emit): Promise<Cid> {
  const entries: Entry[] = [];
  for (const { name, source } of programs) {
    const bytes = await readFile(source);
    entries.push(fileEntry(name, await emit(bytes), bytes.length));
  }
  return emit(treeBlock(entries).bytes, 'dag-json');
}
