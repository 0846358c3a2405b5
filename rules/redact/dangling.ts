/**
 * Kept symbolic links that led to something removed.
 * Promises: resolving is done on names alone, through kept links, never on a file system; at most 40 links deep.
 * Does not promise: anything on links that dangled before, or that leave the tree.
 */
import { nameBytes, type TreePath } from '../../store/format/tree.ts';

/** Links followed before a chain counts as a loop, as in Linux. */
const MAX_LINKS = 40;

/** One string per path: name bytes as Latin-1, joined by `/`, which no name holds. */
export function pathKey(path: TreePath): string {
  return path.map((name) => Buffer.from(nameBytes(name)).toString('latin1')).join('/');
}

/**
 * Whether the link at `at` reaches a path in `gone`. `links` maps the kept links to their target bytes as Latin-1;
 * `gone` holds what was removed and the directories that vanished with it. Keys are those of `pathKey`.
 */
export function reachesGone(
  at: string,
  links: ReadonlyMap<string, string>,
  gone: ReadonlySet<string>,
): boolean {
  let here = at.split('/').slice(0, -1);
  let rest = split(links.get(at) ?? '');
  if (links.get(at)?.startsWith('/')) return false;
  for (let followed = 0; rest.length > 0; ) {
    const [name = '', ...more] = rest;
    rest = more;
    if (name === '..' && here.length === 0) return false;
    here = name === '..' ? here.slice(0, -1) : [...here, name];
    const key = here.join('/');
    if (gone.has(key)) return true;
    const target = links.get(key);
    if (target === undefined) continue;
    followed++;
    if (target.startsWith('/') || followed > MAX_LINKS) return false;
    here = here.slice(0, -1);
    rest = [...split(target), ...rest];
  }
  return false;
}

const split = (target: string): string[] => target.split('/').filter((name) => name !== '' && name !== '.');
