/** A release folder on disk as the verifier's `Publication`. Looks, and writes nothing; opens no socket. */
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListedFile, Publication } from '../../rules/verify/source.ts';
import { fail } from '../../store/format/errors.ts';

/** Throws E_NOT_FOUND where there is no such folder. */
export async function openFolder(root: string): Promise<Publication> {
  const stat = await lstat(root).catch((cause: unknown) =>
    fail('E_NOT_FOUND', { where: root, wanted: 'a release folder', cause }),
  );
  if (!stat.isDirectory())
    fail('E_NOT_FOUND', { where: root, wanted: 'a release folder', found: 'another thing' });
  return {
    list: () => listBelow(root, ''),
    read: (path) =>
      readFile(join(root, path)).catch((cause: unknown) =>
        fail('E_NOT_FOUND', { where: path, wanted: 'a readable file', cause }),
      ),
    async *stream(path) {
      // 1 MiB reads: the default chunk costs 2.5 times the hashing (reference: store, section 4a).
      yield* createReadStream(join(root, path), { highWaterMark: 1 << 20 }) as AsyncIterable<Uint8Array>;
    },
  };
}

async function listBelow(root: string, below: string): Promise<ListedFile[]> {
  const found: ListedFile[] = [];
  for (const name of (await readdir(join(root, below))).sort()) {
    const path = below === '' ? name : `${below}/${name}`;
    const stat = await lstat(join(root, path));
    if (stat.isDirectory()) found.push(...(await listBelow(root, path)));
    else {
      const type = stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'other';
      found.push({ path, size: stat.size, type, shared: stat.nlink > 1 });
    }
  }
  return found;
}
