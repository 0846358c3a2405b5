/** What persons decided about a study, in the order of its log, with the date of each leaf. */
import { type Cid, link } from '../../store/format/cid.ts';
import { encode, type Value } from '../../store/format/codec.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Leaf } from '../close/entries.ts';
import type { Study } from '../contracts/study.ts';
import type { Decided } from '../contracts/summary.ts';
import type { AnyRecord, RecordOf } from '../contracts/table.ts';
import { readAs } from '../rule.ts';

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

const HOUSEKEEPING: ReadonlySet<string> = new Set(['version', 'previous', 'family', 'who', 'why']);

/** The fields in which the two versions differ, by name. */
async function amended({ before, after }: RecordOf<'amendment'>, reader: Reader): Promise<string> {
  const [old, new_] = [await readStudy(before['/'], reader), await readStudy(after['/'], reader)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(new_)])].sort();
  const changed = names.filter((name) => !HOUSEKEEPING.has(name) && !same(old[name], new_[name]));
  return changed.length === 0 ? 'changes no field' : `changes ${changed.join(', ')}`;
}

async function readStudy(cid: Cid, reader: Reader): Promise<Readonly<Record<string, Value>>> {
  return (await readAs('study', cid, reader)) as Study as unknown as Record<string, Value>;
}

const same = (a: Value | undefined, b: Value | undefined): boolean =>
  a !== undefined && b !== undefined ? Buffer.compare(encode(a), encode(b)) === 0 : a === b;
