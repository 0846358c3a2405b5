/**
 * What the index says of records: kind, place, links, derivations, names, order of arrival.
 * Promises: one function makes the rows of a record, for new ones and for replayed ones; rows of a batch are entered
 * all or none, with the cursors of the logs they came from.
 * Does not promise: truth; logs and blocks are.
 */

import type { Cid, Digest, Evidence } from '../format/cid.ts';
import { evidence, isCid } from '../format/cid.ts';
import { random } from '../format/crypto.ts';
import { isLogName, key, lastPart, prefix } from '../keys.ts';
import type { LogCursor } from '../log/log.ts';
import type { Leaf, RecordFacts } from '../store.ts';
import type { Index, Op } from './index.ts';

/** A record's place by the folder name of its log. */
export interface Standing extends Leaf {
  readonly log: string;
  readonly index: number;
}

export interface NameRow {
  readonly target: Cid | null;
  readonly record: Cid;
}

/** One record on its way into the catalog. */
export interface Entry {
  readonly standing: Standing;
  /** Where the next leaf begins. */
  readonly cursor: LogCursor;
  /** Where this leaf begins. */
  readonly offset: number;
  /** null when the record's block cannot be read: it stands, and nothing more is known. */
  readonly facts: RecordFacts | null;
  readonly name: { readonly name: string; readonly target: Cid | null } | null;
  /** The record stands already, in this log or another: this leaf adds nothing but its own place. */
  readonly again: boolean;
}

export interface ArrivalRow {
  readonly standing: Standing;
  readonly cursor: string;
}

export interface Catalog {
  standing(cid: Cid): Standing | null;
  derived(derivation: Digest): Cid | null;
  unique(log: string, unique: string): Cid | null;
  name(name: string): NameRow | null;
  names(start: string): AsyncIterable<NameRow & { readonly name: string }>;
  byKind(kind: string): AsyncIterable<Cid>;
  linkers(to: Cid | Evidence, kind?: string): AsyncIterable<Cid>;
  since(cursor?: string): AsyncIterable<ArrivalRow>;
  seen(log: string): LogCursor;
  /** Logs of which it holds leaves: cursor and the row of the last leaf agree. */
  entered(): Promise<readonly { readonly name: string; readonly count: number }[]>;
  /** Where a leaf begins, or null when that is not known. */
  offset(log: string, index: number): number | null;
  /** Time of the newest record, or ''. */
  lastAt(): string;
  enter(entries: readonly Entry[]): Promise<void>;
  /** Forgets everything but the blocks' places. */
  forget(): Promise<void>;
}

interface State {
  readonly index: Index;
  id: string;
  sequence: number;
  lastAt: string;
}

export async function openCatalog(index: Index): Promise<Catalog> {
  const state: State = { index, id: index.get(key.catalogId) ?? '', sequence: 0, lastAt: '' };
  if (state.id === '') await begin(state);
  state.sequence = Number(index.get(key.sequence) ?? '0');
  for await (const row of index.range({ prefix: prefix.arrivals, reverse: true, limit: 1 }))
    state.lastAt = (JSON.parse(row.value) as Standing).at;
  return {
    standing: (cid) => parse<Standing>(index.get(key.record(cid))),
    derived: (derivation) => cidOrNull(index.get(key.derivation(derivation))),
    unique: (log, unique) => cidOrNull(index.get(key.unique(log, unique))),
    name: (name) => parse<NameRow>(index.get(key.name(name))),
    names: (start) => names(index, start),
    byKind: (kind) => values(index, prefix.kind(kind)),
    linkers: (to, kind) => linkers(index, to, kind),
    since: (cursor) => since(state, cursor),
    seen: (log) => parse<LogCursor>(index.get(key.logCursor(log))) ?? { count: 0, offset: 0 },
    entered: () => entered(index),
    offset: (log, at) => offset(index, log, at),
    lastAt: () => state.lastAt,
    enter: (entries) => enter(state, entries),
    forget: () => forget(state),
  };
}

function offset(index: Index, log: string, at: number): number | null {
  const text = index.get(key.leaf(log, at));
  return text === undefined ? null : Number(text);
}

async function entered(index: Index): Promise<{ name: string; count: number }[]> {
  const found: { name: string; count: number }[] = [];
  for await (const { key: at, value } of index.range({ prefix: prefix.logCursors })) {
    const name = lastPart(at);
    const count = parse<LogCursor>(value)?.count ?? 0;
    if (isLogName(name) && count > 0 && offset(index, name, count - 1) !== null) found.push({ name, count });
  }
  return found;
}

async function begin(state: State): Promise<void> {
  state.id = Buffer.from(random(8)).toString('hex');
  await state.index.batch([{ key: key.catalogId, value: state.id }]);
}

function parse<T>(text: string | undefined): T | null {
  if (text === undefined) return null;
  try {
    return JSON.parse(text) as T;
  } catch {
    // A damaged row is an absent one; check names it.
    return null;
  }
}

const cidOrNull = (text: string | undefined): Cid | null => (isCid(text) ? text : null);

async function* values(index: Index, start: string): AsyncGenerator<Cid> {
  for await (const { value } of index.range({ prefix: start })) if (isCid(value)) yield value;
}

async function* names(index: Index, start: string): AsyncGenerator<NameRow & { name: string }> {
  for await (const { key: at, value } of index.range({ prefix: prefix.names(start) })) {
    const row = parse<NameRow>(value);
    if (row !== null) yield { name: at.slice(prefix.names('').length), ...row };
  }
}

async function* linkers(index: Index, to: string, kind: string | undefined): AsyncGenerator<Cid> {
  if (kind === undefined) {
    const all: string[] = [];
    for await (const { key: at } of index.range({ prefix: prefix.linkers(to) })) all.push(lastPart(at));
    // Keys sort by kind first; the answer is in cid order either way.
    for (const cid of all.sort()) if (isCid(cid)) yield cid;
    return;
  }
  for await (const { key: at } of index.range({ prefix: prefix.linkersOfKind(to, kind) })) {
    const cid = lastPart(at);
    if (isCid(cid)) yield cid;
  }
}

async function* since(state: State, cursor: string | undefined): AsyncGenerator<ArrivalRow> {
  const [id, sequence] = (cursor ?? '').split(':');
  const after = id === state.id && sequence !== undefined ? key.arrival(Number(sequence)) : undefined;
  const range = { prefix: prefix.arrivals, ...(after === undefined ? {} : { after }) };
  for await (const { key: at, value } of state.index.range(range)) {
    const standing = parse<Standing>(value);
    if (standing !== null) yield { standing, cursor: `${state.id}:${Number(lastPart(at))}` };
  }
}

async function enter(state: State, entries: readonly Entry[]): Promise<void> {
  const ops: Op[] = [];
  let { sequence, lastAt } = state;
  const cursors = new Map<string, LogCursor>();
  for (const entry of entries) {
    const { log, index, at } = entry.standing;
    cursors.set(log, entry.cursor);
    ops.push({ key: key.leaf(log, index), value: String(entry.offset) });
    if (entry.again) continue;
    sequence++;
    if (at > lastAt) lastAt = at;
    ops.push(...rowsOf(entry, sequence));
  }
  for (const [log, cursor] of cursors) ops.push({ key: key.logCursor(log), value: JSON.stringify(cursor) });
  ops.push({ key: key.sequence, value: String(sequence) });
  // Dying here: leaves behind the cursors; start-up enters them by this same function.
  await state.index.batch(ops);
  state.sequence = sequence;
  state.lastAt = lastAt;
}

/** All rows of one record. */
function rowsOf({ standing, facts, name }: Entry, sequence: number): Op[] {
  const { kind, cid, log } = standing;
  const text = JSON.stringify(standing);
  const ops: Op[] = [
    { key: key.record(cid), value: text },
    { key: key.kind(kind, sequence), value: cid },
    { key: key.arrival(sequence), value: text },
  ];
  for (const { cid: to } of facts?.links ?? []) ops.push({ key: key.linker(to, kind, cid), value: '' });
  for (const digest of facts?.evidence ?? [])
    ops.push({ key: key.linker(evidence(digest), kind, cid), value: '' });
  if (facts?.derivation !== undefined) ops.push({ key: key.derivation(facts.derivation), value: cid });
  if (facts?.unique !== undefined) ops.push({ key: key.unique(log, facts.unique), value: cid });
  if (name !== null)
    ops.push({ key: key.name(name.name), value: JSON.stringify({ target: name.target, record: cid }) });
  return ops;
}

async function forget(state: State): Promise<void> {
  const ops: Op[] = [];
  for (const start of ['r/', 'k/', 's/', 'l/', 'd/', 'u/', 'n/', 'g/', 'c/log/'])
    for await (const { key: at } of state.index.range({ prefix: start })) ops.push({ key: at, value: null });
  ops.push({ key: key.sequence, value: null }, { key: key.catalogId, value: null });
  await state.index.batch(ops);
  state.sequence = 0;
  state.lastAt = '';
  await begin(state);
}
