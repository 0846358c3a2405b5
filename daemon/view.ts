/** A store as the rules see it: records by kind, by link and by derivation. */

import { parseRecord } from '../rules/contracts/table.ts';
import type { View } from '../rules/rule.ts';
import type { Cid, Digest } from '../store/format/cid.ts';
import type { Store } from '../store/store.ts';

async function collect(cids: AsyncIterable<Cid>): Promise<Cid[]> {
  const all: Cid[] = [];
  for await (const cid of cids) all.push(cid);
  return all;
}

/** Every answer is read anew: a view holds nothing. */
export function viewOf(store: Store): View {
  return {
    record: async (cid) => parseRecord(await store.value(cid)),
    bytes: (cid) => store.get(cid),
    byKind: (kind) => collect(store.byKind(kind)),
    linkers: (cid, kind) => collect(store.linkers(cid, kind)),
    derived: async (key) => (await store.derived(key as Digest)) ?? undefined,
  };
}
