/**
 * A folder that a program used, as a tree. `folderToTree` of the store is for folders that we may read.
 * Promises: names are bytes; no link is followed; an entry that its owner may not read is read all the same, with the
 * mode that the program gave it: no program can make its own run unreadable.
 * Does not promise: a consistent picture while processes still write; every one is dead before.
 */
import { createReadStream } from 'node:fs';
import { chmod, lstat, readdir, readlink } from 'node:fs/promises';
import { type Cid, link } from '../../store/format/cid.ts';
import type { Emit } from '../../store/format/reader.ts';
import { type Entry, nameFromBytes, treeBlock } from '../../store/format/tree.ts';
import { type Emitter, openEmitter } from './emitter.ts';

const SLASH = Buffer.from('/');
const READABLE = { file: 0o400, dir: 0o700 } as const;

/** The tree of a folder. O(bytes). Throws what the file system and `emit` throw. */
export async function usedFolder(path: string, emit: Emit): Promise<Cid> {
  const emitter = openEmitter(emit);
  const cid = await readFolder(Buffer.from(path), emitter);
  await emitter.done();
  return cid;
}

async function readFolder(path: Buffer, emitter: Emitter): Promise<Cid> {
  const mode = (await lstat(path)).mode & 0o7777;
  return readable(path, mode, READABLE.dir, async () => {
    const entries: Entry[] = [];
    for (const name of await readdir(path, { encoding: 'buffer' })) {
      entries.push(await readEntry(Buffer.concat([path, SLASH, name]), name, emitter));
    }
    return emitter.put(treeBlock(entries).bytes, 'dag-json');
  });
}

async function readEntry(path: Buffer, bytes: Buffer, emitter: Emitter): Promise<Entry> {
  const name = nameFromBytes(bytes);
  const found = await lstat(path);
  const mode = found.mode & 0o7777;
  if (found.isDirectory()) return { name, type: 'dir', mode, cid: link(await readFolder(path, emitter)) };
  if (found.isFile()) {
    const read = () => emitter.file(createReadStream(path), found.size);
    return {
      name,
      type: 'file',
      mode,
      cid: link(await readable(path, mode, READABLE.file, read)),
      size: found.size,
    };
  }
  if (found.isSymbolicLink()) {
    const target = await readlink(path, { encoding: 'buffer' });
    return { name, type: 'link', mode: 0, cid: link(await emitter.put(target)), size: target.length };
  }
  if (found.isFIFO()) return { name, type: 'fifo', mode: 0 };
  if (found.isSocket()) return { name, type: 'socket', mode: 0 };
  return { name, type: 'device', mode: 0, rdev: deviceText(found.isBlockDevice(), found.rdev) };
}

/** Device number as the Linux encoding of dev_t splits it (sysmacros). */
function deviceText(block: boolean, rdev: number): string {
  const number = BigInt(rdev);
  const major = ((number >> 8n) & 0xfffn) | ((number >> 32n) & ~0xfffn);
  const minor = (number & 0xffn) | ((number >> 12n) & ~0xffn);
  return `${block ? 'b' : 'c'}:${major}:${minor}`;
}

/** Reads with the bits that reading takes, then gives the entry its own mode back. */
async function readable<T>(path: Buffer, mode: number, bits: number, read: () => Promise<T>): Promise<T> {
  if ((mode & bits) === bits) return read();
  await chmod(path, mode | bits);
  try {
    return await read();
  } finally {
    await chmod(path, mode);
  }
}
