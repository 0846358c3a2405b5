/** What persons decided about a study, in the order of its log, with the date of each leaf. */
import { link } from '../../store/format/cid.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Leaf } from '../close/entries.ts';
import type { Decided } from '../contracts/summary.ts';
import type { AnyRecord, RecordOf } from '../contracts/table.ts';
import { readAs } from '../rule.ts';
import { changedFields } from '../schedule/amend.ts';

type DecisionKind = Decided['kind'];
const KINDS: ReadonlySet<string> = new Set<DecisionKind>([
  'study',
  'amendment',
  'addendum',
  'deviation',
  'task_exclusion',
  'override',
  'close',
]);
const isDecision = (kind: string): kind is DecisionKind => KINDS.has(kind);

/** O(leaves); reads the decisions alone. */
export async function decisionsOf(leaves: readonly Leaf[], reader: Reader): Promise<Decided[]> {
  const decided: Decided[] = [];
  for (const [leaf, { kind, cid, at }] of leaves.entries()) {
    if (!isDecision(kind)) continue;
    const record = await readAs(kind, cid, reader);
    const { who, why } = record;
    decided.push({ kind, record: link(cid), leaf, at, who, why, what: await wordsOf(record, reader) });
  }
  return decided;
}

async function wordsOf(record: Extract<AnyRecord, { kind: DecisionKind }>, reader: Reader): Promise<string> {
  switch (record.kind) {
    case 'study':
      return `version ${record.version}, stage ${record.stage}`;
    case 'amendment':
      return amended(record, reader);
    case 'addendum':
      return record.text;
    case 'deviation':
      return record.what;
    case 'task_exclusion':
      return `${(await readAs('challenge', record.challenge['/'], reader)).id} leaves the study`;
    case 'override':
      return `${record.decision}, outcomes ${record.outcomesVisible ? 'visible' : 'not visible'}`;
    case 'close':
      return `covers ${record.size} leaves`;
  }
}

/** The fields in which the two versions differ, by name. */
async function amended({ before, after }: RecordOf<'amendment'>, reader: Reader): Promise<string> {
  const old = await readAs('study', before['/'], reader);
  const changed = changedFields(old, await readAs('study', after['/'], reader));
  return changed.length === 0 ? 'changes no field' : `changes ${changed.join(', ')}`;
}
