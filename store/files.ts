/**
 * The file system as the store uses it: few calls, each of which a test can make fail.
 * Promises: `write` writes all or throws; `sync` and `syncFolder` return once the bytes or names are durable; every
 * failure is E_IO with the path and the system's code.
 * Does not promise: atomic writes. Durability is `writeDurably`, or what a caller builds from these calls.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  promises,
  readdirSync,
  read as readLater,
  readSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writev,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { fail, isFault } from './format/errors.ts';

const datasyncLater = promisify(fdatasync);

/** Reading is synchronous where it is small and hot: an awaited hop costs more than a 4 KB read (measured). */
export interface Files {
  /** Throws E_NOT_FOUND when there is no such file. */
  openRead(path: string): number;
  /** Reads from `position` until `into` is full or the file ends; returns the count. */
  read(fd: number, into: Uint8Array, position: number): number;
  /** The same without blocking the process: for reads of a megabyte. */
  readLater(fd: number, into: Uint8Array, position: number): Promise<number>;
  /** Bytes of a file, or null when there is none. */
  size(path: string): number | null;
  /** Age of the content in milliseconds since the epoch, or null. */
  changedAt(path: string): number | null;
  /** Names in a folder, sorted by code unit; none when there is no folder. */
  list(path: string): readonly string[];
  close(fd: number): void;
  mkdir(path: string): Promise<void>;
  /** A new file for writing; refuses an existing one. */
  create(path: string, mode?: number): Promise<number>;
  /** An existing file for writing. */
  openWrite(path: string): Promise<number>;
  write(fd: number, chunks: readonly Uint8Array[], position: number): Promise<void>;
  sync(fd: number): Promise<void>;
  truncate(fd: number, size: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** A file, or a folder with all that is in it; none is fine. */
  remove(path: string): Promise<void>;
  syncFolder(path: string): Promise<void>;
}

const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** E_IO with the system's own code. */
export function ioFault(cause: unknown, where: string): never {
  if (isFault(cause)) throw cause;
  const found = (cause as NodeJS.ErrnoException).code ?? String(cause);
  const hint = FULL.has(found) ? 'Free some space and run it again; nothing is half-written' : undefined;
  return fail('E_IO', { where, found, cause, ...(hint === undefined ? {} : { hint }) });
}

function attempt<T>(where: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    return ioFault(cause, where);
  }
}

async function attemptLater<T>(where: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    return ioFault(cause, where);
  }
}

/** null where the system says that there is nothing of that name. */
function orNull<T>(where: string, call: () => T): T | null {
  try {
    return call();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : ioFault(cause, where);
  }
}

function readAll(fd: number, into: Uint8Array, position: number): number {
  let got = 0;
  while (got < into.length) {
    const n = readSync(fd, into, got, into.length - got, position + got);
    if (n === 0) break;
    got += n;
  }
  return got;
}

async function readAllLater(fd: number, into: Uint8Array, position: number): Promise<number> {
  let got = 0;
  while (got < into.length) {
    const n = await new Promise<number>((resolve, reject) =>
      readLater(fd, into, got, into.length - got, position + got, (error, count) =>
        error === null ? resolve(count) : reject(error),
      ),
    );
    if (n === 0) break;
    got += n;
  }
  return got;
}

/** More buffers than this in one call are refused by the system (IOV_MAX). */
const VECTOR = 512;

async function writeAll(fd: number, chunks: readonly Uint8Array[], position: number): Promise<void> {
  let at = position;
  let rest = chunks.filter((chunk) => chunk.length > 0);
  while (rest.length > 0) {
    const batch = rest.slice(0, VECTOR);
    const written = await new Promise<number>((resolve, reject) =>
      writev(fd, batch, at, (error, count) => (error === null ? resolve(count) : reject(error))),
    );
    at += written;
    rest = after(rest, written);
  }
}

function after(chunks: readonly Uint8Array[], written: number): Uint8Array[] {
  let left = written;
  let i = 0;
  for (; i < chunks.length && left >= (chunks[i] as Uint8Array).length; i++)
    left -= (chunks[i] as Uint8Array).length;
  const rest = chunks.slice(i);
  if (left > 0) rest[0] = (rest[0] as Uint8Array).subarray(left);
  return rest;
}

/**
 * Makes a folder and those above it. Not the runtime's own way (`recursive`): that one tries for ever where the system
 * says ENOENT below a folder that is there, as in /proc.
 */
function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, mode);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const above = dirname(path);
    if (code === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
    if (code !== 'ENOENT' || above === path) throw cause;
    makeFolder(above, mode);
    mkdirOnce(path, mode);
  }
}

/** A folder, made with those above it where it is not there. At once; throws E_IO, also where something else stands there. */
export const ensureFolder = (path: string, mode?: number): void =>
  attempt(path, () => makeFolder(resolve(path), mode));

/** Somebody else may have made it meanwhile. */
function mkdirOnce(path: string, mode: number): void {
  try {
    mkdirSync(path, mode);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  }
}

function syncFolder(path: string): void {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function removeAny(path: string): void {
  if (lstatSync(path).isDirectory()) rmSync(path, { recursive: true });
  else unlinkSync(path);
}

/** Paths of open descriptors: a fault names a file, not a number. */
const names = new Map<number, string>();
const nameOf = (fd: number): string => names.get(fd) ?? `descriptor ${fd}`;

function named(path: string, fd: number): number {
  names.set(fd, path);
  return fd;
}

function closeNamed(fd: number): void {
  const path = nameOf(fd);
  names.delete(fd);
  attempt(path, () => closeSync(fd));
}

/** The real file system. */
export const realFiles: Files = {
  openRead: (path) =>
    orNull(path, () => named(path, openSync(path, constants.O_RDONLY))) ??
    fail('E_NOT_FOUND', { where: path }),
  read: (fd, into, position) => attempt(nameOf(fd), () => readAll(fd, into, position)),
  readLater: (fd, into, position) => attemptLater(nameOf(fd), () => readAllLater(fd, into, position)),
  size: (path) => orNull(path, () => statSync(path).size),
  changedAt: (path) => orNull(path, () => statSync(path).mtimeMs),
  list: (path) => (orNull(path, () => readdirSync(path)) ?? []).sort(),
  close: closeNamed,
  mkdir: async (path) => ensureFolder(path),
  create: async (path, mode = 0o644) => attempt(path, () => named(path, openSync(path, 'wx+', mode))),
  openWrite: async (path) => attempt(path, () => named(path, openSync(path, 'r+'))),
  write: (fd, chunks, position) => attemptLater(nameOf(fd), () => writeAll(fd, chunks, position)),
  sync: (fd) => attemptLater(nameOf(fd), () => datasyncLater(fd)),
  truncate: async (fd, size) => attempt(nameOf(fd), () => ftruncateSync(fd, size)),
  rename: async (from, to) => attempt(to, () => renameSync(from, to)),
  remove: async (path) => void orNull(path, () => removeAny(path)),
  syncFolder: async (path) => attempt(path, () => syncFolder(path)),
};

/** Bytes of a whole file, or null when there is none. For small files. */
export function readWhole(files: Files, path: string): Uint8Array | null {
  if (files.size(path) === null) return null;
  const fd = files.openRead(path);
  try {
    const bytes = Buffer.alloc(sizeOf(fd));
    return bytes.subarray(0, files.read(fd, bytes, 0));
  } finally {
    files.close(fd);
  }
}

const sizeOf = (fd: number): number => attempt(nameOf(fd), () => fstatSync(fd).size);

/** Puts a file in place at once: fsync, rename, fsync of the folder. `temporary` lies in the same file system. */
export async function writeDurably(
  files: Files,
  path: string,
  bytes: Uint8Array,
  temporary: string,
  mode?: number,
): Promise<void> {
  const fd = await files.create(temporary, mode);
  try {
    await files.write(fd, [bytes], 0);
    await files.sync(fd);
    // Dying here: a temporary file that the next owner removes.
    await files.rename(temporary, path);
    await files.syncFolder(dirname(path));
  } catch (error) {
    await files.remove(temporary).catch(() => undefined);
    throw error;
  } finally {
    files.close(fd);
  }
}

/** Whether the folder takes new files: false on a read-only mount or without the right to write. */
export async function canWrite(path: string): Promise<boolean> {
  try {
    await promises.access(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
