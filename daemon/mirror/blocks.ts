/**
 * The blocks of a closure, from a source into a store: those that are not here, level by level.
 * Promises: every block is hashed before it is kept; only what was asked for is taken; what came stays, so a pull that
 * was killed goes on where it was; a local copy that is damaged is fetched again. Requests: the depth of the closure.
 * Memory: the set of CIDs.
 */
import { readCar, type Section } from '../../store/car.ts';
import { type Cid, codecOf } from '../../store/format/cid.ts';
import { linksOf } from '../../store/format/closure.ts';
import { decode, type Value } from '../../store/format/codec.ts';
import { fail, isFault } from '../../store/format/errors.ts';
import type { NewBlock, Store } from '../../store/store.ts';
import { earlierRelease } from '../api/release.ts';
import { filesOf, heldBy } from './roots.ts';
import type { Source } from './source.ts';

export interface FetchOptions {
  /** Blocks of one request (1,000 unless said). */
  readonly batch?: number;
  /** Longest block that is taken (bytes; 64 GiB unless said). */
  readonly blockBytes?: number;
  /** Told after each request. */
  readonly onBlocks?: (count: Count) => void;
}

export interface Count {
  /** Blocks that came, and their bytes. */
  readonly blocks: number;
  readonly bytes: number;
}

const BATCH = 1000;
const BLOCK_BYTES = 64 * 2 ** 30;
/** Times that a request is made again when the answer was cut. */
const TRIES = 3;
const SMALL = 1 << 20;

/**
 * Brings the closure of `roots` here; `known` are CIDs that were walked before, and grows. Throws E_NOT_FOUND (the source
 * lacks a block), E_DIGEST, E_CODEC, E_CAR, E_REMOTE, E_TOO_LARGE.
 */
export async function fetchClosure(
  store: Store,
  source: Source,
  roots: readonly Cid[],
  options: FetchOptions & { readonly known?: Set<Cid> } = {},
): Promise<Count> {
  const seen = options.known ?? new Set<Cid>();
  const stop = earlierRelease(roots);
  let total: Count = { blocks: 0, bytes: 0 };
  // A release at which another closure stopped is walked when it is a root itself.
  for (const root of roots) seen.delete(root);
  let level = fresh(roots, seen);
  while (level.length > 0) {
    total = sum(total, await bring(store, source, level, options));
    const next: Cid[] = [];
    for (const cid of level) {
      if (codecOf(cid) === 'raw') continue;
      const value = await valueAt(store, source, cid, options);
      // Nobody gives these out: a tree below that links one is complete without it.
      for (const held of heldBy(value)) seen.add(held);
      if (!stop(cid, value)) next.push(...linksOf(value), ...filesOf(value));
    }
    level = fresh(next, seen);
  }
  return total;
}

function fresh(cids: readonly Cid[], seen: Set<Cid>): Cid[] {
  const found: Cid[] = [];
  for (const cid of cids) {
    if (seen.has(cid)) continue;
    seen.add(cid);
    found.push(cid);
  }
  return found;
}

const sum = (a: Count, b: Count): Count => ({ blocks: a.blocks + b.blocks, bytes: a.bytes + b.bytes });

/** The value; a damaged copy of ours is replaced first. */
async function valueAt(store: Store, source: Source, cid: Cid, options: FetchOptions): Promise<Value> {
  try {
    return decode(await store.get(cid));
  } catch (error) {
    if (!isFault(error, 'E_DIGEST')) throw error;
    await request(store, source, [cid], options);
    return decode(await store.get(cid));
  }
}

async function bring(
  store: Store,
  source: Source,
  cids: readonly Cid[],
  options: FetchOptions,
): Promise<Count> {
  const { batch = BATCH, onBlocks } = options;
  let total: Count = { blocks: 0, bytes: 0 };
  const missing: Cid[] = [];
  for (const cid of cids) if (!(await store.has(cid))) missing.push(cid);
  for (let at = 0; at < missing.length; at += batch) {
    total = sum(total, await insist(store, source, missing.slice(at, at + batch), options));
    onBlocks?.(total);
  }
  return total;
}

async function insist(
  store: Store,
  source: Source,
  cids: readonly Cid[],
  options: FetchOptions,
): Promise<Count> {
  let total: Count = { blocks: 0, bytes: 0 };
  let wanted = cids;
  for (let tries = 1; ; tries++) {
    try {
      return sum(total, await request(store, source, wanted, options));
    } catch (error) {
      const cut = isFault(error, 'E_REMOTE') || isFault(error, 'E_CAR');
      if (!cut || tries === TRIES) throw error;
      const left: Cid[] = [];
      for (const cid of wanted) if (!(await store.has(cid))) left.push(cid);
      total = sum(total, { blocks: wanted.length - left.length, bytes: 0 });
      wanted = left;
      if (left.length === 0) return total;
    }
  }
}

async function request(
  store: Store,
  source: Source,
  cids: readonly Cid[],
  options: FetchOptions,
): Promise<Count> {
  const { blockBytes = BLOCK_BYTES } = options;
  const wanted = new Set(cids);
  const car = await readCar(await source.blocks(cids));
  let bytes = 0;
  let batch: NewBlock[] = [];
  let held = 0;
  const flush = async () => {
    // Dying here: some blocks of the batch are kept; the next pull asks for the others.
    await store.putMany(batch);
    batch = [];
    held = 0;
  };
  for await (const section of car.sections) {
    const { cid, length } = section;
    if (!wanted.delete(cid))
      fail('E_REMOTE', { where: source.url, wanted: 'what was asked for', found: cid });
    if (length > blockBytes)
      fail('E_TOO_LARGE', { where: cid, wanted: `at most ${blockBytes} bytes`, found: String(length) });
    bytes += length;
    if (length >= SMALL) await store.putStream(section.bytes, { expect: cid });
    else {
      batch.push({ bytes: await whole(section), expect: cid });
      held += length;
      if (held >= 8 * SMALL) await flush();
    }
  }
  await flush();
  const [first] = wanted;
  if (first !== undefined)
    fail('E_REMOTE', { where: source.url, wanted: first, found: 'an answer without it' });
  return { blocks: cids.length, bytes };
}

async function whole({ bytes }: Section): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of bytes) all.push(piece);
  return Buffer.concat(all);
}
