/**
 * The closure of a set of roots: every block that CID links reach, and nothing that an evidence reference names.
 * Promises: each block once, in the order of its CID; an earlier release is itself in the closure and is not followed.
 */
import { type Cid, codecOf } from '../store/format/cid.ts';
import { decode, isLink, type Value } from '../store/format/codec.ts';
import type { Reader } from '../store/format/reader.ts';

/** Every link inside a value, in order of appearance. */
export function linksIn(value: Value): Cid[] {
  if (typeof value !== 'object' || value === null) return [];
  if (isLink(value)) return [value['/']];
  return Object.values(value).flatMap((part) => linksIn(part as Value));
}

/** The blocks reached from `roots`. Throws what the reader throws: an absent block is E_NOT_FOUND. O(closure). */
export async function closureOf(roots: readonly Cid[], reader: Reader): Promise<Cid[]> {
  const seen = new Set<Cid>(roots);
  const open = [...seen];
  for (let cid = open.pop(); cid !== undefined; cid = open.pop()) {
    if (codecOf(cid) === 'raw') continue;
    const value = decode(await reader.get(cid));
    if (isRelease(value)) continue;
    for (const next of linksIn(value)) {
      if (!seen.has(next)) open.push(next);
      seen.add(next);
    }
  }
  return [...seen].sort();
}

const isRelease = (value: Value): boolean =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'release';
