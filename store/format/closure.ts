/**
 * The closure of a cid: everything its CID links lead to, through records, tree nodes and snapshots.
 * Promises: each block once, a node before what it links to, in link order; the same order for everyone.
 * Does not promise: evidence references (no closure follows them), or flat memory: the set of seen cids is held.
 */
import { type Cid, codecOf } from './cid.ts';
import { decode, isLink, type Value } from './codec.ts';
import { isFault } from './errors.ts';
import type { Reader } from './reader.ts';

/** Links of a value in the order of its canonical bytes, each as often as it stands. O(size). */
export function* linksOf(value: Value): Generator<Cid> {
  if (typeof value !== 'object' || value === null) return;
  if (isLink(value)) {
    yield value['/'];
    return;
  }
  const parts = Array.isArray(value)
    ? value
    : Object.keys(value)
        .sort()
        .map((key) => (value as Record<string, Value>)[key] as Value);
  for (const part of parts) yield* linksOf(part);
}

export interface ClosureOptions {
  /** Blocks at which the walk stops: they are in the closure, what they link to is not (an earlier release). */
  readonly stop?: (cid: Cid, value: Value) => boolean;
  /** Told of a block that is not there, has another digest or is no dag-json; without it the walk throws. */
  readonly onMissing?: (cid: Cid, error: Error) => void;
}

export interface Member {
  readonly cid: Cid;
  /** The bytes of a dag-json block; null for raw blocks, which are not read here. */
  readonly bytes: Uint8Array | null;
}

/**
 * Walks the closure of the roots. Raw blocks are asked for by `has`, never read. Throws E_NOT_FOUND and E_DIGEST unless
 * `onMissing` is given; E_CODEC for a dag-json block that is none.
 */
export async function* closure(
  reader: Reader,
  roots: readonly Cid[],
  { stop, onMissing }: ClosureOptions = {},
): AsyncGenerator<Member> {
  const seen = new Set<Cid>();
  const stack: Cid[] = [...roots].reverse();
  for (let cid = stack.pop(); cid !== undefined; cid = stack.pop()) {
    if (seen.has(cid)) continue;
    seen.add(cid);
    const member = await visit(reader, cid, onMissing);
    if (member === null) continue;
    yield member;
    const value = member.bytes === null ? null : readValue(cid, member.bytes, onMissing);
    if (value === null) continue;
    if (stop?.(cid, value) === true) continue;
    for (const link of [...linksOf(value)].reverse()) if (!seen.has(link)) stack.push(link);
  }
}

/** null for a block that is no dag-json and was reported. */
function readValue(cid: Cid, bytes: Uint8Array, onMissing: ClosureOptions['onMissing']): Value {
  try {
    return decode(bytes);
  } catch (error) {
    if (!isFault(error) || onMissing === undefined) throw error;
    onMissing(cid, error);
    return null;
  }
}

async function visit(
  reader: Reader,
  cid: Cid,
  onMissing: ClosureOptions['onMissing'],
): Promise<Member | null> {
  try {
    if (codecOf(cid) === 'dag-json') return { cid, bytes: await reader.get(cid) };
    if (await reader.has(cid)) return { cid, bytes: null };
    // Let the reader say in its own words that it is not there.
    await reader.get(cid);
    return { cid, bytes: null };
  } catch (error) {
    const known = isFault(error, 'E_NOT_FOUND') || isFault(error, 'E_DIGEST');
    if (!known || onMissing === undefined) throw error;
    onMissing(cid, error);
    return null;
  }
}
