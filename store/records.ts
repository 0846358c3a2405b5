/**
 * The record queue: the one way by which a value becomes a record.
 * Promises: one after the other, in the order of the calls; a record is accepted only if its links are there and of the
 * expected kinds; it exists once its leaf is durable, and what resolved is in the catalog; putting it again adds nothing.
 * Does not promise: speed beyond two fsyncs a batch; calls that wait together share them.
 */

import type { Blocks } from './blocks/blocks.ts';
import type { Catalog, Standing } from './catalog/catalog.ts';
import { type Cid, codecOf, type Digest, digestOf } from './format/cid.ts';
import { decode, encodeBlock, type Value } from './format/codec.ts';
import { fail, isFault } from './format/errors.ts';
import { parseSnapshot, parseTree } from './format/tree.ts';
import { isPulled } from './keys.ts';
import { isKind, type LocalLeaf } from './log/leaf.ts';
import type { Log } from './log/log.ts';
import type { LogSet } from './log/logs.ts';
import { isNameValue, parseName } from './names.ts';
import { entryOf, factsOf } from './replay.ts';
import type { KindTable, RecordFacts, RecordOptions, WantedKind, WantedLink } from './store.ts';

export interface RecordsOptions {
  readonly blocks: Blocks;
  readonly catalog: Catalog;
  readonly logs: LogSet;
  readonly kinds: KindTable;
  readonly clock: () => Date;
}

export interface Accepted {
  readonly standing: Standing;
  readonly added: boolean;
}

export interface Records {
  record(value: Value, options?: RecordOptions): Promise<Accepted>;
  /** Runs a piece of work between two batches: nothing is recorded meanwhile. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  onRecords(listener: () => void): () => void;
  drain(): Promise<void>;
}

interface Call {
  readonly value: Value;
  readonly imported: boolean;
  resolve(accepted: Accepted): void;
  reject(error: unknown): void;
}

interface State extends RecordsOptions {
  readonly queue: Call[];
  /** The end of all work so far. */
  turn: Promise<unknown>;
  scheduled: boolean;
  /** Why no further record is taken: a leaf may stand that the catalog does not know. */
  broken: unknown;
  readonly listeners: Set<() => void>;
}

/** Records per batch. */
const BATCH = 256;

export function openRecords(options: RecordsOptions): Records {
  const state: State = {
    ...options,
    queue: [],
    turn: Promise.resolve(),
    scheduled: false,
    broken: null,
    listeners: new Set(),
  };
  return {
    record: (value, { imported = false } = {}) =>
      new Promise((resolve, reject) => {
        state.queue.push({ value, imported, resolve, reject });
        schedule(state);
      }),
    exclusively: (work) => inTurn(state, work),
    onRecords(listener) {
      state.listeners.add(listener);
      return () => void state.listeners.delete(listener);
    },
    drain: async () => {
      while (state.scheduled) await state.turn;
      await state.turn;
    },
  };
}

function inTurn<T>(state: State, work: () => Promise<T>): Promise<T> {
  const done = state.turn.then(work);
  state.turn = done.catch(() => undefined);
  return done;
}

function schedule(state: State): void {
  if (state.scheduled) return;
  state.scheduled = true;
  void inTurn(state, async () => {
    while (state.queue.length > 0) await batch(state, state.queue.splice(0, BATCH));
    state.scheduled = false;
  });
}

/** A record that may be accepted: all that its commit needs. */
interface Judged {
  readonly call: Call;
  readonly cid: Cid;
  readonly bytes: Uint8Array;
  readonly facts: RecordFacts;
  readonly log: Log;
}

/** Judged, not yet durable: records of one log that are committed together. */
interface Group {
  readonly items: Judged[];
  readonly byCid: Map<Cid, Judged>;
  /** Catalog keys that the group takes. */
  readonly derivations: Map<Digest, Cid>;
  readonly uniques: Map<string, Cid>;
  readonly names: Map<string, Cid>;
}

const emptyGroup = (): Group => ({
  items: [],
  byCid: new Map(),
  derivations: new Map(),
  uniques: new Map(),
  names: new Map(),
});

async function batch(state: State, calls: readonly Call[]): Promise<void> {
  let group = emptyGroup();
  const commitGroup = async () => {
    const { items } = group;
    group = emptyGroup();
    if (items.length > 0) await commit(state, items);
  };
  for (const call of calls) {
    try {
      let judged = await judge(state, group, call);
      const standing = 'standing' in judged ? null : judged.log;
      const other = group.items[0]?.log;
      if (standing !== null && other !== undefined && other !== standing) {
        // One log at a time: where a commit fails, nothing that was judged by it may stand.
        await commitGroup();
        judged = await judge(state, group, call);
      }
      if ('standing' in judged) answer(group, call, judged.standing);
      else join(group, judged);
    } catch (error) {
      call.reject(error);
    }
  }
  await commitGroup();
}

/** A record that stands, or stands in this very batch: its call is answered when that is durable. */
function answer(group: Group, call: Call, standing: Standing | null): void {
  if (standing !== null) {
    call.resolve({ standing, added: false });
    return;
  }
  const { cid } = encodeBlock(call.value);
  const twin = group.byCid.get(cid)?.call;
  if (twin === undefined) fail('E_INTERNAL', { where: cid, found: 'a twin that left' });
  const { resolve, reject } = twin;
  twin.resolve = (accepted) => {
    resolve(accepted);
    call.resolve({ ...accepted, added: false });
  };
  twin.reject = (error) => {
    reject(error);
    call.reject(error);
  };
}

function join(group: Group, judged: Judged): void {
  const { cid, facts, log, call } = judged;
  group.items.push(judged);
  group.byCid.set(cid, judged);
  if (facts.derivation !== undefined) group.derivations.set(facts.derivation, cid);
  if (facts.unique !== undefined) group.uniques.set(`${log.name}\n${facts.unique}`, cid);
  if (isNameValue(call.value)) group.names.set(parseName(call.value).name, cid);
}

/** `standing: null`: it stands in the group. */
async function judge(
  state: State,
  group: Group,
  call: Call,
): Promise<Judged | { readonly standing: Standing | null }> {
  const { value } = call;
  if (state.broken !== null) {
    const hint = 'Open the store again: it finds what was durable';
    fail('E_IO', { where: 'records', found: 'a write that failed before', hint, cause: state.broken });
  }
  state.logs.mustBeSound();
  const facts = factsOf(state.kinds, value);
  if (!isKind(facts.kind))
    fail('E_CONTRACT', {
      where: 'kind',
      wanted: 'letters, digits, "_", ".", ":", "-"',
      found: JSON.stringify(facts.kind),
    });
  const { cid, bytes } = encodeBlock(value);
  const standing = state.catalog.standing(cid);
  if (standing !== null || group.byCid.has(cid)) {
    checkStillHead(state, group, value, cid);
    return { standing };
  }
  checkEvidence(state, call, facts);
  for (const wanted of facts.links) await checkLink(state, group, wanted);
  const log = await logFor(state, group, value, cid);
  checkUnique(state, group, facts, log);
  checkName(state, group, value);
  return { call, cid, bytes, facts, log };
}

/** The head of a name, before or in this batch. */
function headOf(state: State, group: Group, name: string): Cid | null {
  return group.names.get(name) ?? state.catalog.name(name)?.record ?? null;
}

function checkStillHead(state: State, group: Group, value: Value, cid: Cid): void {
  if (!isNameValue(value)) return;
  const { name } = parseName(value);
  const head = headOf(state, group, name);
  if (head !== cid) fail('E_NAME_CONFLICT', { where: name, wanted: cid, found: String(head) });
}

function checkName(state: State, group: Group, value: Value): void {
  if (!isNameValue(value)) return;
  const { name, previous } = parseName(value);
  const head = headOf(state, group, name);
  if (head !== previous)
    fail('E_NAME_CONFLICT', { where: name, wanted: `previous ${head}`, found: `previous ${previous}` });
}

function checkEvidence(state: State, call: Call, facts: RecordFacts): void {
  if (call.imported) return;
  for (const digest of facts.evidence) {
    if (!state.blocks.hasDigest(digest))
      fail('E_LINK', { where: facts.kind, wanted: `evidence sha256:${digest}`, found: 'nothing' });
  }
}

async function checkLink(state: State, group: Group, { cid, kinds }: WantedLink): Promise<void> {
  const inGroup = group.byCid.get(cid);
  const there = inGroup !== undefined || state.blocks.hasDigest(digestOf(cid));
  const wanted = kinds.join(' or ');
  if (!there) fail('E_LINK', { where: cid, wanted, found: 'nothing' });
  if (kinds.includes('*')) return;
  const kind = inGroup?.facts.kind ?? state.catalog.standing(cid)?.kind;
  if (kind !== undefined && kinds.includes(kind)) return;
  for (const shape of kinds) if (await hasShape(state, cid, shape)) return;
  fail('E_LINK', { where: cid, wanted, found: kind ?? `a ${codecOf(cid)} block without a leaf` });
}

async function hasShape(state: State, cid: Cid, shape: WantedKind): Promise<boolean> {
  if (shape === 'raw') return codecOf(cid) === 'raw';
  if ((shape !== 'tree' && shape !== 'snapshot') || codecOf(cid) === 'raw') return false;
  try {
    const bytes = await state.blocks.get(cid);
    if (shape === 'tree') parseTree(bytes);
    else parseSnapshot(bytes);
    return true;
  } catch (error) {
    if (isFault(error, 'E_CODEC') || isFault(error, 'E_TREE')) return false;
    throw error;
  }
}

async function logFor(state: State, group: Group, value: Value, cid: Cid): Promise<Log> {
  if (isNameValue(value)) return mustTake(await state.logs.own(null));
  const read = async (linked: Cid): Promise<Value> =>
    linked === cid ? value : (group.byCid.get(linked)?.call.value ?? decode(await state.blocks.get(linked)));
  const family = await state.kinds.family(value, cid, read);
  const pulled = family === null ? undefined : state.logs.ofFamily(family);
  return mustTake(pulled ?? (await state.logs.own(family)));
}

function mustTake(log: Log): Log {
  if (log.writable()) return log;
  if (isPulled(log.name))
    fail('E_READ_ONLY', { where: log.origin, wanted: 'a log of this store', found: 'one that was pulled' });
  return fail('E_LOG_KEY', {
    where: log.origin,
    wanted: 'the key of this log',
    found: 'none, another, or a log that failed',
  });
}

function checkUnique(state: State, group: Group, facts: RecordFacts, log: Log): void {
  const { unique, derivation } = facts;
  const holder =
    unique === undefined
      ? null
      : (group.uniques.get(`${log.name}\n${unique}`) ?? state.catalog.unique(log.name, unique));
  if (holder !== null)
    fail('E_DUPLICATE', { where: `${facts.kind} ${unique}`, wanted: 'no other', found: holder });
  const twin =
    derivation === undefined
      ? null
      : (group.derivations.get(derivation) ?? state.catalog.derived(derivation));
  if (twin !== null)
    fail('E_DUPLICATE', { where: `derivation ${derivation}`, wanted: 'one record', found: twin });
}

/** Blocks, then leaves, then the catalog. Where a step fails, every call of the group fails. */
async function commit(state: State, items: readonly Judged[]): Promise<void> {
  try {
    await state.blocks.putMany(items.map(({ bytes, cid }) => ({ bytes, expect: cid })));
  } catch (error) {
    for (const { call } of items) call.reject(error);
    return;
  }
  try {
    // Dying here: blocks without a leaf: no records. Putting the record again finishes the job.
    const log = (items[0] as Judged).log;
    const at = timeOf(state);
    const lines = await log.append(items.map((item) => leafOf(item, at)));
    // Dying here: records that the catalog does not know; start-up enters them.
    const entries = items.map(({ call, cid, facts }, i) => {
      const line = lines[i];
      if (line === undefined) fail('E_INTERNAL', { found: 'fewer lines than leaves' });
      const standing = { kind: facts.kind, cid, at, log: log.name, index: line.index };
      return entryOf(line, standing, { facts, value: call.value, again: false });
    });
    await state.catalog.enter(entries);
    items.forEach(({ call }, i) => {
      call.resolve({ standing: (entries[i] as (typeof entries)[0]).standing, added: true });
    });
    for (const listener of state.listeners) listener();
  } catch (error) {
    state.broken = error;
    for (const { call } of items) call.reject(error);
  }
}

/** Only the store log, which nobody else reads, says that a record was made elsewhere. */
function leafOf({ cid, facts, call, log }: Judged, at: string): LocalLeaf {
  const leaf = { kind: facts.kind, cid, at };
  return call.imported && log.family === null ? { ...leaf, imported: true } : leaf;
}

/** Never before an earlier leaf, whatever the clock does: order in time is order of arrival. */
function timeOf(state: State): string {
  const now = state.clock().toISOString();
  const last = state.catalog.lastAt();
  return [now, last].sort()[1] as string;
}
