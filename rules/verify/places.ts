/** The log's records by kind, each with its leaf number. */
import type { Kind, RecordOf } from '../contracts/table.ts';
import type { Input } from '../rule.ts';
import type { Library } from './library.ts';
import type { ReplayedLog } from './log.ts';

export interface Place<K extends Kind> extends Input<RecordOf<K>> {
  /** Leaf number. */
  readonly index: number;
}

/** Those of one kind, in the order of the log. */
export function placesOf<K extends Kind>(kind: K, log: ReplayedLog, library: Library): Place<K>[] {
  return log.leaves.flatMap((leaf, index) => {
    const record = library.records.get(leaf.cid);
    return leaf.kind === kind && record?.kind === kind
      ? [{ index, cid: leaf.cid, value: record as RecordOf<K> }]
      : [];
  });
}
