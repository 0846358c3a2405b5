/** A publication held in memory, and the golden one read into it: a copy costs nothing and no row touches the fixture. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ListedFile, Publication } from '../../rules/verify/source.ts';
import { fail } from '../../store/format/errors.ts';

export type Files = Map<string, Uint8Array>;

/** This checkout's root, from the compiled tests as from their sources. */
const root = fileURLToPath(import.meta.url).split(`${sep}dist${sep}`)[0] as string;
const base = root.endsWith('.ts') || root.endsWith('.js') ? join(dirname(root), '..', '..') : root;

/** The folder of the golden release of rule versions 1. */
export const GOLDEN = join(base, 'test', 'releases', 'v1');

/** Every file below a folder. */
export function readFiles(folder: string): Files {
  const files: Files = new Map();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const at = join(folder, name);
    if (statSync(at).isFile()) files.set(name.split(sep).join('/'), readFileSync(at));
  }
  return files;
}

/** Files as the verifier sees them. Every read is counted. */
export function inMemory(files: Files): Publication & { readonly reads: ReadonlyMap<string, number> } {
  const reads = new Map<string, number>();
  const read = async (path: string): Promise<Uint8Array> => {
    reads.set(path, (reads.get(path) ?? 0) + 1);
    return files.get(path) ?? fail('E_NOT_FOUND', { where: path, wanted: 'a file', found: 'none' });
  };
  return {
    reads,
    read,
    list: async () =>
      [...files].map(
        ([path, bytes]): ListedFile => ({ path, size: bytes.length, type: 'file', shared: false }),
      ),
    async *stream(path) {
      yield await read(path);
    },
  };
}

/** The file with one bit of its middle byte turned; an empty one gets a byte. */
export function flipped(bytes: Uint8Array): Uint8Array {
  const copy = bytes.length === 0 ? new Uint8Array(1) : Uint8Array.from(bytes);
  const at = copy.length >> 1;
  copy[at] = (copy[at] as number) ^ 1;
  return copy;
}
