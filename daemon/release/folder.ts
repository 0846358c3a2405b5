/** A release folder on disk as the verifier's `Publication`. Looks, and writes nothing; opens no socket. */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListedFile, Publication } from '../../rules/verify/source.ts';
import { fail } from '../../store/format/errors.ts';
import { nameFromBytes, printPath } from '../../store/format/tree.ts';

const CHUNK = 1 << 20;

/** Throws E_NOT_FOUND where there is no such folder. */
export async function openFolder(root: string): Promise<Publication> {
  const stat = await lstat(root).catch((cause: unknown) =>
    fail('E_NOT_FOUND', { where: root, wanted: 'a release folder', cause }),
  );
  if (!stat.isDirectory())
    fail('E_NOT_FOUND', { where: root, wanted: 'a release folder', found: 'another thing' });
  return {
    list: () => listBelow(root, ''),
    read: async (path) => read(join(root, path), path),
    async *stream(path) {
      yield* chunks(join(root, path));
    },
  };
}

/** At once, in this thread: a release is thousands of small files, and a hand-over costs more than the read. */
function read(at: string, path: string): Uint8Array {
  try {
    return readFileSync(at);
  } catch (cause) {
    return fail('E_NOT_FOUND', { where: path, wanted: 'a readable file', cause });
  }
}

/** 1 MiB reads: smaller ones cost more than the hashing. */
function* chunks(at: string): Generator<Uint8Array> {
  const fd = openSync(at, 'r');
  try {
    const wanted = Math.min(CHUNK, fstatSync(fd).size + 1);
    for (;;) {
      const buffer = Buffer.allocUnsafe(wanted);
      const length = readSync(fd, buffer, 0, wanted, null);
      if (length === 0) return;
      yield buffer.subarray(0, length);
    }
  } finally {
    closeSync(fd);
  }
}

/** A name is bytes: one that is no UTF-8 has no path in a manifest, and is listed as what it is. */
async function listBelow(root: string, below: string): Promise<ListedFile[]> {
  const found: ListedFile[] = [];
  for (const bytes of (await readdir(join(root, below), { encoding: 'buffer' })).sort(Buffer.compare)) {
    const name = nameFromBytes(bytes);
    const path = below === '' ? printPath([name]) : `${below}/${printPath([name])}`;
    const stat = await lstat(Buffer.concat([Buffer.from(`${join(root, below)}/`), bytes]));
    if (typeof name !== 'string') found.push({ path, size: stat.size, type: 'misnamed', shared: false });
    else if (stat.isDirectory()) {
      const inside = await listBelow(root, path);
      if (inside.length === 0) found.push({ path, size: 0, type: 'empty', shared: false });
      else found.push(...inside);
    } else {
      const type = stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'other';
      found.push({ path, size: stat.size, type, shared: stat.nlink > 1 });
    }
  }
  return found;
}
