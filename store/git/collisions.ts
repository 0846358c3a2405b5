/**
 * Names that some file systems cannot hold side by side: equal but for case or Unicode normalisation.
 * Promises: finds them; nothing stored is folded. For people: no record holds the answer, since the folding is that
 * of the JavaScript engine.
 * Does not promise: the exact folding of any one file system.
 */
import { compareNames, type Name } from '../format/tree.ts';

/** Groups of two or more names that fold to one, in byte order. O(n log n). */
export function collidingNames(names: readonly Name[]): Name[][] {
  const groups = new Map<string, Name[]>();
  for (const name of names) {
    if (typeof name !== 'string') continue;
    const key = folded(name);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [name]);
    else group.push(name);
  }
  const found = [...groups.values()].filter((group) => group.length > 1);
  return found.map((group) => group.sort(compareNames));
}

const PRINTABLE = /^[\x20-\x7e]*$/;

function folded(name: string): string {
  if (PRINTABLE.test(name)) return name.toLowerCase();
  return name.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC');
}
