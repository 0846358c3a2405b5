/**
 * `mirror pull`: family logs, their closures, records and names of another store into this one.
 * Promises: nothing is believed: logs by their signature, blocks by their hash; stopping anywhere and pulling again ends
 * at the same store; a second pull adds nothing. Pulled logs stay read-only; pulled names live under the mirror's name.
 * Does not promise: evidence that the other side withholds, or names whose closure it does not have (they are listed).
 */
import type { Cid } from '../../store/format/cid.ts';
import { fail, isFault } from '../../store/format/errors.ts';
import type { KindTable, NameHead, Store } from '../../store/store.ts';
import { type Count, type FetchOptions, fetchClosure } from './blocks.ts';
import { fetchLog } from './logs.ts';
import { recordAll } from './records.ts';
import type { Source } from './source.ts';

export interface PullOptions extends FetchOptions {
  /** One segment of a name: pulled names get `<mirror>/` in front. */
  readonly mirror: string;
  readonly kinds: KindTable;
  /** First studies; left out: every family that is there. */
  readonly families?: readonly Cid[];
  /** More roots whose closures are wanted. */
  readonly roots?: readonly Cid[];
  /** Verifier keys that a new log may have; left out: any (trust on first use). A known log keeps its key always. */
  readonly keys?: readonly string[];
}

export interface PulledFamily {
  readonly family: Cid;
  readonly origin: string;
  readonly vkey: string;
  /** Leaves. */
  readonly size: number;
}

export interface SkippedName {
  readonly name: string;
  /** Code of the fault. */
  readonly why: string;
}

export interface Pulled extends Count {
  readonly families: readonly PulledFamily[];
  /** Records that got a leaf in the store log here. */
  readonly records: number;
  /** Names that point at something here. */
  readonly names: number;
  readonly skipped: readonly SkippedName[];
}

/** Throws E_SIGNATURE, E_PROOF, E_LOG_ROLLBACK, E_NOT_FOUND, E_DIGEST, E_REMOTE, E_READ_ONLY and what `record` throws. */
export async function pullMirror(store: Store, source: Source, options: PullOptions): Promise<Pulled> {
  const { families: wanted, roots = [], kinds } = options;
  const known = new Set<Cid>();
  let count: Count = { blocks: 0, bytes: 0 };
  const fetch = async (cids: readonly Cid[]) => {
    const { blocks, bytes } = await fetchClosure(store, source, cids, { ...options, known });
    count = { blocks: count.blocks + blocks, bytes: count.bytes + bytes };
  };
  const families: PulledFamily[] = [];
  for (const log of await familiesOf(source, wanted)) {
    const { copy, cids } = await fetchLog(store, source, log, options.keys);
    await fetch(cids);
    // Dying here: blocks without leaves. The next pull asks for none of them.
    const { family, origin, vkey } = copy;
    const { size } = await store.logs.adopt(copy);
    families.push({ family, origin, vkey, size });
  }
  await fetch(roots);
  const heads: NameHead[] = [];
  for await (const head of source.names()) heads.push(head);
  const skipped = await fetchNamed(heads, fetch);
  // All logs first: a record may link to what another family's log holds.
  const records = await recordAll(store, known, kinds);
  const names = await setNames(store, options.mirror, heads, skipped);
  return { ...count, families, records, names, skipped };
}

async function familiesOf(source: Source, wanted: readonly Cid[] | undefined) {
  const there = (await source.logs.list()).flatMap((log) =>
    log.family === null ? [] : [{ ...log, family: log.family }],
  );
  if (wanted === undefined) return there;
  return wanted.map(
    (family) =>
      there.find((log) => log.family === family) ??
      fail('E_NOT_FOUND', { where: source.url, wanted: `a log of the family ${family}` }),
  );
}

/** Brings what names point at; those that the other side cannot give are set aside. */
async function fetchNamed(
  heads: readonly NameHead[],
  fetch: (cids: readonly Cid[]) => Promise<void>,
): Promise<SkippedName[]> {
  const skipped: SkippedName[] = [];
  for (const { name, target } of heads) {
    if (target === null) continue;
    try {
      await fetch([target]);
    } catch (error) {
      if (!isFault(error, 'E_NOT_FOUND')) throw error;
      skipped.push({ name, why: error.code });
    }
  }
  return skipped;
}

async function setNames(
  store: Store,
  mirror: string,
  heads: readonly NameHead[],
  skipped: SkippedName[],
): Promise<number> {
  let count = 0;
  for (const { name, target } of heads) {
    if (skipped.some((one) => one.name === name)) continue;
    const here = `${mirror}/${name}`;
    try {
      if (target === null && (await store.name(here)) === null) continue;
      await store.setName(here, target);
      if (target !== null) count++;
    } catch (error) {
      if (!isFault(error, 'E_CONTRACT')) throw error;
      skipped.push({ name, why: error.code });
    }
  }
  return count;
}
