/**
 * Files of the workspace, never by a link.
 * Promises: every part of a path is opened below its held parent where the system can do that; only regular files are read
 * or written; a way out is refused.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeSync,
} from 'node:fs';

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Opening below a held descriptor, where the system has it: then no part of the way can be swapped. */
const HELD = existsSync('/proc/self/fd');

interface Place {
  readonly fd: number;
  readonly path: string;
}

const child = ({ fd, path }: Place, name: string): string =>
  HELD ? `/proc/self/fd/${fd}/${name}` : `${path}/${name}`;

/** The names of a path below the workspace. Throws for any way out of it. */
export function segments(root: string, path: unknown): string[] {
  if (typeof path !== 'string' || path.includes('\0')) throw new Error('path: a path is needed');
  const inside = path === root || path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  if (inside.startsWith('/')) throw new Error(`${path}: outside the workspace`);
  const names = inside.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) throw new Error(`${path}: outside the workspace`);
  return names;
}

/** Hands the folder of `names` to `use`, and closes it. Refuses a link anywhere on the way. */
function inFolder<T>(root: string, names: readonly string[], make: boolean, use: (place: Place) => T): T {
  let place: Place = { fd: openSync(root, DIRECTORY), path: root };
  try {
    for (const name of names) {
      const at = child(place, name);
      if (make) makeFolder(at);
      const next = { fd: openSync(at, DIRECTORY), path: `${place.path}/${name}` };
      closeSync(place.fd);
      place = next;
    }
    return use(place);
  } finally {
    closeSync(place.fd);
  }
}

function makeFolder(at: string): void {
  try {
    mkdirSync(at, 0o755);
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
  }
}

/** Opens a regular file and hands its descriptor to `use`. O_NONBLOCK: a fifo must not stop us. */
function withFile<T>(root: string, path: unknown, write: boolean, use: (fd: number) => T): T {
  const names = segments(root, path);
  const name = names.pop();
  if (name === undefined) throw new Error('path: a file is needed');
  const { O_RDONLY, O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const flags = (write ? O_WRONLY | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK;
  return inFolder(root, names, write, (place) => {
    const fd = openSync(child(place, name), flags, 0o644);
    try {
      if (!fstatSync(fd).isFile()) throw new Error(`${path}: not a regular file`);
      return use(fd);
    } finally {
      closeSync(fd);
    }
  });
}

/** Throws for what is no UTF-8. */
export function readText(root: string, path: unknown): string {
  const bytes = withFile(root, path, false, (fd) => readFileSync(fd));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`${path}: not a text file`);
  }
}

/** Makes the folders on the way. */
export function writeText(root: string, path: unknown, text: string): void {
  withFile(root, path, true, (fd) => {
    ftruncateSync(fd, 0);
    writeAll(fd, Buffer.from(text, 'utf8'));
  });
}

export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** The code of a fault of the file system; empty for any other. */
export const codeOf = (cause: unknown): string => String((cause as { code?: unknown }).code ?? '');

/** Links and special files are not listed: no tool would open them. */
export function list(root: string, path: unknown): string {
  return inFolder(root, segments(root, path), false, (place) => {
    const entries = readdirSync(HELD ? `/proc/self/fd/${place.fd}` : place.path, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() || entry.isDirectory());
    const shown = names.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    return shown.sort().join('\n');
  });
}
