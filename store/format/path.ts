/**
 * Portable paths: what authors write. Relative, POSIX, one spelling.
 * Promises: no leading `/`, drive, backslash, `.`, `..`, NUL or empty segment, and well-formed Unicode.
 * Does not promise: that a file system can hold it, or that two paths differ after case folding or normalisation.
 */
import { fail } from './errors.ts';
import { printPath, type TreePath } from './tree.ts';

declare const portableBrand: unique symbol;

/** A relative POSIX path in its one spelling. The root itself has none. */
export type PortablePath = string & { readonly [portableBrand]: true };

/** Reads a portable path. Throws E_PATH with the reason. */
export function parsePortable(text: string): PortablePath {
  const fault = faultOf(text);
  if (fault !== undefined) {
    fail('E_PATH', {
      wanted: 'a relative path in POSIX spelling',
      found: `${fault} in ${JSON.stringify(text)}`,
    });
  }
  return text as PortablePath;
}

export function isPortable(text: unknown): text is PortablePath {
  return typeof text === 'string' && faultOf(text) === undefined;
}

function faultOf(text: string): string | undefined {
  if (!text.isWellFormed()) return 'a lone surrogate';
  if (text.includes('\0')) return 'a NUL';
  if (text.includes('\\')) return 'a backslash';
  if (text.startsWith('/')) return 'a leading slash';
  if (/^[A-Za-z]:/.test(text)) return 'a drive';
  const segments = text.split('/');
  if (segments.includes('')) return 'an empty segment';
  return segments.find((segment) => segment === '.' || segment === '..');
}

/** The paths one after another. At least one. */
export function join(first: PortablePath, ...more: readonly PortablePath[]): PortablePath {
  return [first, ...more].join('/') as PortablePath;
}

/** Whether `child` is `parent` or lies below it: what an allowed path covers. */
export function under(parent: PortablePath, child: PortablePath): boolean {
  return child === parent || child.startsWith(`${parent}/`);
}

/** The names from the root down. */
export function treePathOf(path: PortablePath): readonly string[] {
  return path.split('/');
}

/** A found path as an author would write it; undefined where that cannot be done (such a name, or the root). */
export function portableOf(path: TreePath): PortablePath | undefined {
  if (!path.every((name) => typeof name === 'string' && !name.includes('/'))) return undefined;
  const text = printPath(path);
  return isPortable(text) ? text : undefined;
}
