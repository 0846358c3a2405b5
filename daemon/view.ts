/** A store as the rules see it: records by kind, by link and by derivation. */

import type { RecordReader } from '../rules/blocks.ts';
import { type AnyRecord, parseRecord } from '../rules/contracts/table.ts';
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

/** Records that many bindings share (study, challenge, fixture), and the latest ones: about 4 MB. */
const REMEMBERED = 1024;

/** A View and a Reader over one store that keep the records read last as they were parsed. */
export function rememberingView(store: Store): { readonly view: View; readonly reader: RecordReader } {
  const plain = viewOf(store);
  const kept = new Map<Cid, AnyRecord>();
  const record = async (cid: Cid): Promise<AnyRecord> => {
    const found = kept.get(cid) ?? (await plain.record(cid));
    // The one read last stands last, so that the first is the one to forget.
    kept.delete(cid);
    kept.set(cid, found);
    for (const oldest of kept.keys()) {
      if (kept.size <= REMEMBERED) break;
      kept.delete(oldest);
    }
    return found;
  };
  const { get, has, stream } = store;
  return { view: { ...plain, record }, reader: { get, has, stream, parsed: record } };
}
