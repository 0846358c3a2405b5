/**
 * Entering leaves into the catalog: at start-up those it has not seen, later every new one.
 * Promises: a rebuilt catalog has the rows of the old one; replaying writes no block and no leaf.
 * Does not promise: the old order of arrival between two logs (within a log it is leaf order): leaves are merged by time.
 */

import type { Catalog, Entry, Standing } from './catalog/catalog.ts';
import type { OnFault } from './faults.ts';
import type { Cid } from './format/cid.ts';
import { decode, type Value } from './format/codec.ts';
import { fail, isFault } from './format/errors.ts';
import type { Reader } from './format/reader.ts';
import { isPulled } from './keys.ts';
import type { Line, Log, LogCursor } from './log/log.ts';
import { isNameValue, nameFacts, parseName } from './names.ts';
import type { KindTable, RecordFacts } from './store.ts';

/** What a record is to the store: facts by the kind table, or the store's own for names. Throws E_CONTRACT, E_KIND. */
export function factsOf(kinds: KindTable, value: Value): RecordFacts {
  return isNameValue(value) ? nameFacts(parseName(value)) : kinds.facts(value);
}

/** The entry of a leaf whose record has this value; null where its block cannot be read. */
export function entryOf(
  line: Line,
  standing: Standing,
  known: { readonly facts: RecordFacts | null; readonly value: Value | null; readonly again: boolean },
): Entry {
  const { value, facts, again } = known;
  const name = value !== null && isNameValue(value) ? parseName(value) : null;
  return {
    standing,
    offset: line.offset,
    cursor: { count: line.index + 1, offset: line.end },
    facts,
    name: name === null ? null : { name: name.name, target: name.target },
    again,
  };
}

export interface Replay {
  readonly catalog: Catalog;
  readonly blocks: Reader;
  readonly kinds: KindTable;
  readonly onFault: OnFault;
  /** Told what each record that is read says of itself. */
  readonly onFacts?: OnFacts;
}

export type OnFacts = (line: Line, log: Log, facts: RecordFacts) => void;

/** Rows per catalog batch. */
const BATCH = 1000;

/** Enters every leaf behind the catalog's cursors. O(new leaves). */
export async function replay(replay: Replay, logs: readonly Log[]): Promise<void> {
  let entries: Entry[] = [];
  const batch = new Set<Cid>();
  for (const { log, line } of merged(logs, replay.catalog)) {
    entries.push(await read(replay, log, line, batch));
    if (line.leaf !== null) batch.add(line.leaf.cid);
    if (entries.length < BATCH) continue;
    await replay.catalog.enter(entries);
    entries = [];
    batch.clear();
  }
  if (entries.length > 0) await replay.catalog.enter(entries);
}

interface Head {
  readonly log: Log;
  readonly line: Line;
}

/** New leaves of all logs, oldest first; the store log first among equals. */
function* merged(logs: readonly Log[], catalog: Catalog): Generator<Head> {
  const queues = logs.map((log) => ({ log, lines: log.lines(start(log, catalog.seen(log.name))) }));
  const heads = new Map<Log, { head: Head; lines: Generator<Line> }>();
  const advance = (log: Log, lines: Generator<Line>) => {
    const next = lines.next();
    if (next.done === true) heads.delete(log);
    else heads.set(log, { head: { log, line: next.value }, lines });
  };
  for (const { log, lines } of queues) advance(log, lines);
  while (heads.size > 0) {
    const first = [...heads.values()].reduce((a, b) => (isBefore(b.head, a.head) ? b : a));
    yield first.head;
    advance(first.head.log, first.lines);
  }
}

const start = (log: Log, seen: LogCursor): LogCursor => (seen.count > log.size() ? log.end() : seen);

function isBefore(a: Head, b: Head): boolean {
  // A damaged leaf has no time: it goes first, so that it holds nobody up.
  const [left, right] = [a.line.leaf?.at ?? '', b.line.leaf?.at ?? ''];
  if (left !== right) return left < right;
  if ((a.log.family === null) !== (b.log.family === null)) return a.log.family === null;
  return a.log.name < b.log.name;
}

async function read(
  { catalog, blocks, kinds, onFault, onFacts }: Replay,
  log: Log,
  line: Line,
  batch: ReadonlySet<Cid>,
): Promise<Entry> {
  const { leaf, index } = line;
  if (leaf === null) return lost(log, line);
  const { kind, cid, at } = leaf;
  const standing = { kind, cid, at, log: log.name, index };
  if (batch.has(leaf.cid) || catalog.standing(leaf.cid) !== null)
    return entryOf(line, standing, { facts: null, value: null, again: true });
  try {
    const value = decode(await blocks.get(leaf.cid));
    const facts = factsOf(kinds, value);
    if (facts.kind !== leaf.kind) fail('E_KIND', { where: leaf.cid, wanted: leaf.kind, found: facts.kind });
    onFacts?.(line, log, facts);
    return entryOf(line, standing, { facts: firstOnly(catalog, log, facts), value, again: false });
  } catch (error) {
    if (!isFault(error)) throw error;
    onFault({
      kind: 'disagree',
      where: leaf.cid,
      wanted: `the ${leaf.kind} of ${log.origin} leaf ${index}`,
      found: error.message,
    });
    return entryOf(line, standing, { facts: null, value: null, again: false });
  }
}

/** A leaf that no longer reads: the catalog steps over it. */
function lost(log: Log, line: Line): Entry {
  const standing = { kind: 'lost', cid: '' as Cid, at: '', log: log.name, index: line.index };
  return entryOf(line, standing, { facts: null, value: null, again: true });
}

/** A pulled log cannot take away a derivation key that stands here. */
function firstOnly(catalog: Catalog, log: Log, facts: RecordFacts): RecordFacts {
  const { derivation, ...rest } = facts;
  const taken = derivation !== undefined && catalog.derived(derivation) !== null;
  return taken && isPulled(log.name) ? rest : facts;
}
