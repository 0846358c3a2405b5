/**
 * Paths as bytes, and what the file system says turned into our faults.
 * Promises: a name is never decoded on its way to the system.
 * Does not promise: paths of Windows.
 */
import { type ErrorCode, fail, isFault } from '../format/errors.ts';
import { type Name, nameBytes, printPath, type TreePath } from '../format/tree.ts';

/** A place below a root: the system's path beside the names that lead there. */
export interface Place {
  readonly path: Buffer;
  readonly names: TreePath;
}

const SLASH = Buffer.from('/');

export const rootPlace = (path: string): Place => ({ path: Buffer.from(path), names: [] });

export function below(place: Place, name: Name): Place {
  return { path: Buffer.concat([place.path, SLASH, nameBytes(name)]), names: [...place.names, name] };
}

/** A place for people: relative to the root. */
export const shown = (place: Place): string => printPath(place.names) || '.';

/** Codes of the system that say "this name or target cannot stand here", not "this disk is ill". */
const CANNOT_HOLD: readonly string[] = [
  'EEXIST',
  'ENAMETOOLONG',
  'EILSEQ',
  'EINVAL',
  'ERR_INVALID_ARG_VALUE',
];
const GONE: readonly string[] = ['ENOENT', 'ENOTDIR', 'ELOOP'];

/** A failed write: E_PATH where the target cannot hold the entry, else E_IO. */
export function writeFault(cause: unknown, place: Place): never {
  return systemFault(cause, place, CANNOT_HOLD, 'E_PATH', 'a target that can hold this entry');
}

/** A failed read: E_CHANGED where what was listed is not there any more, else E_IO. */
export function readFault(cause: unknown, place: Place): never {
  return systemFault(cause, place, GONE, 'E_CHANGED', 'the entry that was listed');
}

function systemFault(
  cause: unknown,
  place: Place,
  codes: readonly string[],
  code: ErrorCode,
  wanted: string,
): never {
  if (isFault(cause)) throw cause;
  const found = (cause as NodeJS.ErrnoException | undefined)?.code ?? String(cause);
  if (codes.includes(found)) fail(code, { where: shown(place), wanted, found, cause });
  return fail('E_IO', { where: shown(place), found, cause });
}
