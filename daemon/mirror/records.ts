/**
 * Leaves in the local store log for pulled records that no pulled log holds.
 * Promises: what a record links comes before it; evidence may be absent; running it again adds nothing. Records of a
 * family whose log was not pulled stay plain blocks.
 */

import { type Cid, codecOf } from '../../store/format/cid.ts';
import { linksOf } from '../../store/format/closure.ts';
import { decode, type Value } from '../../store/format/codec.ts';
import { isFault } from '../../store/format/errors.ts';
import type { KindTable, Store } from '../../store/store.ts';

/** Calls that wait together share their fsyncs. */
const WINDOW = 256;

/** How many records got a leaf. Throws what `Store.record` throws. */
export async function recordAll(store: Store, cids: Iterable<Cid>, kinds: KindTable): Promise<number> {
  const members = new Set(cids);
  let added = 0;
  let window: Promise<boolean>[] = [];
  const settle = async () => {
    added += (await Promise.all(window)).filter(Boolean).length;
    window = [];
  };
  for await (const { cid, value } of inOrder(store, members)) {
    if (!(await isLoose(store, cid, value, kinds))) continue;
    window.push(store.record(value, { imported: true }).then((recorded) => recorded.added));
    if (window.length >= WINDOW) await settle();
  }
  await settle();
  return added;
}

interface Item {
  readonly cid: Cid;
  readonly value: Value;
}

/** The dag-json blocks of a set, each after those that it links to. */
async function* inOrder(store: Store, members: ReadonlySet<Cid>): AsyncGenerator<Item> {
  const done = new Set<Cid>();
  for (const root of members) {
    const stack: { cid: Cid; item: Item | null }[] = [{ cid: root, item: null }];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      const { cid, item } = top;
      if (item !== null) {
        yield item;
        continue;
      }
      if (done.has(cid) || !members.has(cid) || codecOf(cid) === 'raw') continue;
      done.add(cid);
      const value = decode(await store.get(cid));
      stack.push({ cid, item: { cid, value } });
      for (const link of linksOf(value)) if (!done.has(link)) stack.push({ cid: link, item: null });
    }
  }
}

/** A record of the store log that has no leaf here. */
async function isLoose(store: Store, cid: Cid, value: Value, kinds: KindTable): Promise<boolean> {
  if ((await store.kindOf(cid)) !== null) return false;
  try {
    if (kinds.facts(value).kind === 'name') return false;
    return (await kinds.family(value, cid, (linked) => store.value(linked))) === null;
  } catch (error) {
    // A tree node, a snapshot, a policy: no record. Or one whose family is not here.
    if (isFault(error, 'E_KIND') || isFault(error, 'E_NOT_FOUND')) return false;
    throw error;
  }
}
