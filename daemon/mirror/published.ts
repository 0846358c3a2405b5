/**
 * A store as strangers see it: only what is published.
 * Promises: fail-closed: a block, record or name that is not in the closure of a family log, of a release's files or of
 * a name does not exist here. Evidence references are not followed, so what a study withholds is not served, though its
 * digest is known; nor is a workspace file that a release holds back.
 * Does not promise: a view that sees a block before the record that publishes it. Memory: the published CIDs.
 */

import { type Cid, codecOf, type Digest, digestOf } from '../../store/format/cid.ts';
import { linksOf } from '../../store/format/closure.ts';
import { decode } from '../../store/format/codec.ts';
import { fail, isFault } from '../../store/format/errors.ts';
import type { Arrival, NameHead, Store } from '../../store/store.ts';
import { earlierRelease } from '../api/release.ts';
import { filesOf, heldBy } from './roots.ts';

interface State {
  readonly store: Store;
  readonly seen: Set<Cid>;
  readonly digests: Set<Digest>;
  /** What a release holds back, though trees link it. */
  readonly held: Set<Digest>;
  cursor: string | undefined;
  stale: boolean;
  /** The end of all looking so far. */
  turn: Promise<void>;
}

/** The published part of `store`, read-only. Reads every published record and tree node once. Throws what reading throws. */
export async function openPublished(store: Store): Promise<Store> {
  const state: State = {
    store,
    seen: new Set(),
    digests: new Set(),
    held: new Set(),
    cursor: undefined,
    stale: true,
    turn: Promise.resolve(),
  };
  const stop = store.onRecords(() => {
    state.stale = true;
  });
  await fresh(state);
  return viewOf(state, stop);
}

function fresh(state: State): Promise<void> {
  if (!state.stale) return state.turn;
  state.stale = false;
  state.turn = state.turn
    .then(() => look(state))
    .catch((error: unknown) => {
      state.stale = true;
      throw error;
    });
  // Whoever asks next looks again; the failure is told to those who wait for it.
  const turn = state.turn;
  state.turn = turn.catch(() => undefined);
  return turn;
}

async function look(state: State): Promise<void> {
  const { store } = state;
  const families = new Set(
    (await store.logs.list()).filter(({ family }) => family !== null).map(({ origin }) => origin),
  );
  const roots: Cid[] = [];
  for await (const { cid, log, cursor } of store.since(state.cursor)) {
    if (families.has(log)) roots.push(cid);
    // A release at which another closure stopped is walked when it is a root itself.
    state.seen.delete(cid);
    state.cursor = cursor;
  }
  for await (const { target, record } of store.names()) {
    state.seen.add(record);
    state.digests.add(digestOf(record));
    if (target !== null) roots.push(target);
  }
  const stop = earlierRelease(roots);
  for (let cid = roots.pop(); cid !== undefined; cid = roots.pop()) {
    if (state.seen.has(cid)) continue;
    const bytes = await bytesOf(store, cid);
    if (bytes === null) continue;
    state.seen.add(cid);
    state.digests.add(digestOf(cid));
    if (codecOf(cid) === 'raw') continue;
    const value = decode(bytes);
    for (const held of heldBy(value)) state.held.add(digestOf(held));
    if (!stop(cid, value)) roots.push(...linksOf(value), ...filesOf(value));
  }
}

/** null for what is not here (it may come later) or is damaged (`check` names it); nothing read for a raw block. */
async function bytesOf(store: Store, cid: Cid): Promise<Uint8Array | null> {
  try {
    if (codecOf(cid) === 'dag-json') return await store.get(cid);
    return (await store.has(cid)) ? new Uint8Array() : null;
  } catch (error) {
    if (isFault(error, 'E_NOT_FOUND') || isFault(error, 'E_DIGEST')) return null;
    throw error;
  }
}

async function isPublished(state: State, cid: Cid): Promise<boolean> {
  const digest = digestOf(cid);
  if (!state.digests.has(digest) || state.stale) await fresh(state);
  return state.digests.has(digest) && !state.held.has(digest);
}

async function mustBe(state: State, cid: Cid): Promise<Cid> {
  return (await isPublished(state, cid)) ? cid : fail('E_NOT_FOUND', { where: cid });
}

const refused = async (): Promise<never> => fail('E_READ_ONLY', { where: 'a published view' });

function viewOf(state: State, stop: () => void): Store {
  const { store } = state;
  const only = (cids: AsyncIterable<Cid>) => keep(cids, (cid) => isPublished(state, cid));
  return {
    path: store.path,
    writable: false,
    get: async (cid) => store.get(await mustBe(state, cid)),
    async *stream(cid, range) {
      yield* store.stream(await mustBe(state, cid), range);
    },
    has: async (cid) => (await isPublished(state, cid)) && (await store.has(cid)),
    size: async (cid) => store.size(await mustBe(state, cid)),
    value: async (cid) => store.value(await mustBe(state, cid)),
    put: refused,
    putStream: refused,
    putMany: refused,
    record: refused,
    setName: refused,
    announce: refused,
    byKind: (kind) => only(store.byKind(kind)),
    linkers: (cid, kind) => only(store.linkers(cid, kind)),
    evidenceOf: (reference, kind) => only(store.evidenceOf(reference, kind)),
    async derived(derivation) {
      const cid = await store.derived(derivation);
      return cid !== null && (await isPublished(state, cid)) ? cid : null;
    },
    kindOf: async (cid) => ((await isPublished(state, cid)) ? store.kindOf(cid) : null),
    leafOf: async (cid) => ((await isPublished(state, cid)) ? store.leafOf(cid) : null),
    since: (cursor) => keep<Arrival>(store.since(cursor), ({ cid }) => isPublished(state, cid)),
    onRecords: store.onRecords,
    name: async (name) => store.name(name),
    names: (prefix): AsyncIterable<NameHead> => store.names(prefix),
    logs: { ...store.logs, adopt: refused },
    close: async () => stop(),
  };
}

async function* keep<T>(items: AsyncIterable<T>, wanted: (item: T) => Promise<boolean>): AsyncGenerator<T> {
  for await (const item of items) if (await wanted(item)) yield item;
}
