/**
 * A folder that a program used, as a tree, and a tree as a folder that a program will use.
 * Promises: names are bytes; no link is followed; an entry that its owner may not read is read all the same, with the
 * mode that the program gave it. One file at a time in memory is at most one chunk.
 * Does not promise: a consistent picture while processes still write; every one is dead before.
 */
import { createReadStream } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, readlink, symlink } from 'node:fs/promises';
import { type Cid, link } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Emit, Reader } from '../../store/format/reader.ts';
import { type Entry, nameBytes, nameFromBytes, parseTree, treeBlock } from '../../store/format/tree.ts';

const SLASH = Buffer.from('/');
const READABLE = { file: 0o400, dir: 0o700 } as const;

/** The tree of a folder. O(bytes). Throws what the file system and `emit` throw. */
export async function readFolder(folder: string | Buffer, emit: Emit): Promise<Cid> {
  const path = Buffer.from(folder);
  const mode = (await lstat(path)).mode & 0o7777;
  return readable(path, mode, READABLE.dir, async () => {
    const entries: Entry[] = [];
    for (const name of await readdir(path, { encoding: 'buffer' })) {
      entries.push(await readEntry(Buffer.concat([path, SLASH, name]), name, emit));
    }
    return emit(treeBlock(entries).bytes, 'dag-json');
  });
}

async function readEntry(path: Buffer, bytes: Buffer, emit: Emit): Promise<Entry> {
  const name = nameFromBytes(bytes);
  const found = await lstat(path);
  const mode = found.mode & 0o7777;
  if (found.isDirectory()) return { name, type: 'dir', mode, cid: link(await readFolder(path, emit)) };
  if (found.isFile()) {
    const cid = await readable(path, mode, READABLE.file, () => emit(createReadStream(path)));
    return { name, type: 'file', mode, cid: link(cid), size: found.size };
  }
  if (found.isSymbolicLink()) {
    const target = await readlink(path, { encoding: 'buffer' });
    return { name, type: 'link', mode: 0, cid: link(await emit(target)), size: target.length };
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

/** Fills an existing empty folder. Throws what the reader throws, E_TREE for what no folder of ours can hold. */
export async function writeFolder(reader: Reader, tree: Cid, path: string | Buffer): Promise<void> {
  for (const entry of parseTree(await reader.get(tree)).entries) {
    await writeEntry(reader, entry, Buffer.concat([Buffer.from(path), SLASH, nameBytes(entry.name)]));
  }
}

async function writeEntry(reader: Reader, entry: Entry, path: Buffer): Promise<void> {
  if (entry.type === 'dir') {
    await mkdir(path, { mode: 0o700 });
    await writeFolder(reader, entry.cid['/'], path);
    await chmod(path, entry.mode);
  } else if (entry.type === 'file') {
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of reader.stream(entry.cid['/'])) await file.writeFile(chunk);
      await file.chmod(entry.mode);
    } finally {
      await file.close();
    }
  } else if (entry.type === 'link') {
    await symlink(Buffer.from(await reader.get(entry.cid['/'])), path);
  } else if (entry.type === 'submodule') {
    // What Git checks out for a submodule that nobody asked for: an empty folder.
    await mkdir(path, { mode: 0o755 });
    await chmod(path, 0o755);
  } else {
    fail('E_TREE', {
      where: path.toString(),
      wanted: 'a file, link or folder to start from',
      found: entry.type,
    });
  }
}
