/**
 * A file or folder that is about to appear on disk.
 * Promises: what stands already, a missing parent and a folder that cannot be written are found before anything is made;
 * a folder appears whole or not at all, and nothing that stands beside it is touched.
 * Does not promise: that the place is still free later. Whoever takes it finds out then, and loses nothing.
 */
import { constants } from 'node:fs';
import { access, lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { random } from './format/crypto.ts';
import { fail } from './format/errors.ts';

/** Throws E_STORE_EXISTS, E_NOT_FOUND (no parent), E_IO. `orEmpty`: an empty folder may stand there. */
export async function checkTarget(path: string, { orEmpty = false } = {}): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there !== undefined) {
    const empty = orEmpty && there.isDirectory() && (await readdir(path)).length === 0;
    const wanted = orEmpty ? 'nothing, or an empty folder' : 'nothing';
    if (!empty) fail('E_STORE_EXISTS', { where: path, wanted, found: shapeOf(there) });
  }
  const parent = dirname(path);
  const above = await stat(parent).catch(() => undefined);
  if (above?.isDirectory() !== true) {
    const hint = above === undefined ? { hint: 'Make it first' } : {};
    const found = above === undefined ? 'nothing' : 'a file';
    fail('E_NOT_FOUND', { where: parent, wanted: `a folder to put ${path} into`, found, ...hint });
  }
  await access(parent, constants.W_OK | constants.X_OK).catch(cannotWrite(parent));
}

const shapeOf = (there: { isDirectory(): boolean; isSymbolicLink(): boolean }): string =>
  there.isDirectory() ? 'a folder' : there.isSymbolicLink() ? 'a link' : 'a file';

const cannotWrite = (where: string) => (cause: NodeJS.ErrnoException) =>
  fail('E_IO', { where, wanted: 'a folder that can be written', found: cause.code ?? cause.message, cause });

export interface FolderTarget {
  /** An empty folder of ours, beside the place. */
  readonly part: string;
  /** Puts it into its place. Throws E_STORE_EXISTS, E_IO. */
  commit(): Promise<void>;
  /** Takes it away; nothing where it is in its place already. */
  discard(): Promise<void>;
}

/** Begins a folder: nothing, or an empty folder, stands at `path`. Throws what `checkTarget` throws. */
export async function openFolderTarget(path: string): Promise<FolderTarget> {
  await checkTarget(path, { orEmpty: true });
  if (resolve(path) === process.cwd())
    fail('E_STORE_EXISTS', { where: path, wanted: 'another folder', found: 'the current one' });
  // A name that nobody else has: what stands beside the target is not ours.
  const part = `${path}.${Buffer.from(random(8)).toString('hex')}.part`;
  await mkdir(part).catch(cannotWrite(dirname(path)));
  return {
    part,
    commit: () =>
      // Dying before this leaves `<path>.<random>.part`, which no one takes for the folder.
      rename(part, path).catch((cause: NodeJS.ErrnoException) => {
        const code = TAKEN.includes(cause.code ?? '') ? 'E_STORE_EXISTS' : 'E_IO';
        fail(code, { where: path, found: cause.code ?? cause.message, cause });
      }),
    discard: () => rm(part, { recursive: true, force: true }),
  };
}

/** What a rename says where something came there meanwhile. */
const TAKEN: readonly string[] = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EISDIR'];
