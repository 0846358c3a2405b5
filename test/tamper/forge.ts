/**
 * An attacker with all our code and a key of their own: takes a publication apart, edits records, has every consequence
 * derived again, and signs and publishes the result. What is then still wrong is only what the edit made wrong.
 */
import { recordIn } from '../../rules/blocks.ts';
import { leafLines, parseLeaf } from '../../rules/close/entries.ts';
import { derivationOf } from '../../rules/contracts/kit.ts';
import {
  type AnyRecord,
  derivationKey,
  type Kind,
  parseRecord,
  type RecordOf,
  referencesOf,
} from '../../rules/contracts/table.ts';
import { cidOfPath, LOG_FILES } from '../../rules/release/files.ts';
import { applyRule, type Binding, bindingOf, keyFor, type Rule, type View } from '../../rules/rule.ts';
import { RULES } from '../../rules/table.ts';
import { type Cid, cidOf, digestOf, link } from '../../store/format/cid.ts';
import { decode, encode, encodeBlock, type Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { Emit, Reader } from '../../store/format/reader.ts';
import type { Files } from './publication.ts';
import { entriesOf, publish, rootOf } from './publish.ts';

export interface ForgedLeaf {
  readonly kind: string;
  readonly cid: Cid;
  readonly at: string;
}

type Plain = Record<string, unknown>;

export interface Forge {
  readonly reader: Reader;
  readonly emit: Emit;
  /** The family log below C1, the close last; rows may reorder, drop and add. */
  leaves: ForgedLeaf[];
  /** CIDs of a kind, in the order of the log where they stand in it, else by CID. */
  all(kind: Kind): Cid[];
  record<K extends Kind>(kind: K, cid: Cid): RecordOf<K>;
  /** Puts a record that nothing links yet. */
  add(value: Plain): Cid;
  /** Puts `change(record)` in place of a record, in every record that links it, and in the log. */
  edit(cid: Cid, change: (value: Plain) => Plain): Cid;
  /** Takes a record away; what links it must go too. */
  drop(cid: Cid): void;
  raw(text: string | Uint8Array): Cid;
}

interface State {
  blocks: Map<string, Uint8Array>;
  records: Map<Cid, AnyRecord>;
  leaves: ForgedLeaf[];
  /** Records as they were published: applying their rule again would change nothing. */
  genuine: ReadonlySet<Cid>;
}

export interface Publishing {
  /** Rules that are not applied again: their records keep what they said. */
  readonly stale?: readonly string[];
  /** Leaves that C0 covers. */
  readonly c0Size?: number;
  /** The signer's seed; a new one where absent. */
  readonly seed?: Uint8Array;
  /** Last word on the close record before it is signed. */
  readonly close?: (value: Plain) => Plain;
}

/** Takes a publication apart, lets `edit` change it, and publishes it again under a key of the attacker's. */
export async function forge(
  files: Files,
  edit: (forge: Forge) => void | Promise<void>,
  options: Publishing = {},
): Promise<Files> {
  const state = await takeApart(files);
  const at = openForge(state);
  await edit(at);
  await settle(state, at, (rule) => rule.scope !== 'close' && !options.stale?.includes(rule.name));
  rebuildClose(at, options.close);
  await settle(state, at, (rule) => rule.scope === 'close' && !options.stale?.includes(rule.name));
  return publish(at, options);
}

async function takeApart(files: Files): Promise<State> {
  const state: State = { blocks: new Map(), records: new Map(), leaves: [], genuine: new Set() };
  for (const [path, bytes] of files) {
    const cid = cidOfPath(path);
    if (cid !== undefined) state.blocks.set(digestOf(cid), bytes);
  }
  const reader = readerOf(state);
  for (const path of files.keys()) {
    const cid = cidOfPath(path);
    const record = cid === undefined ? undefined : await recordIn(cid, reader);
    if (cid !== undefined && record !== undefined) state.records.set(cid, record);
  }
  state.genuine = new Set(state.records.keys());
  state.leaves = leafLines(files.get(LOG_FILES.entries) as Uint8Array).map(parseLeaf);
  return state;
}

function readerOf({ blocks }: State): Reader {
  const get = async (cid: Cid) =>
    blocks.get(digestOf(cid)) ?? fail('E_NOT_FOUND', { where: cid, wanted: 'a block', found: 'none' });
  return {
    get,
    has: async (cid) => blocks.has(digestOf(cid)),
    async *stream(cid, range) {
      yield (await get(cid)).subarray(range?.start ?? 0, range?.end);
    },
  };
}

function openForge(state: State): Forge {
  const put = (cid: Cid, bytes: Uint8Array): Cid => {
    state.blocks.set(digestOf(cid), bytes);
    return cid;
  };
  const add = (value: Plain): Cid => {
    const record = parseRecord(decode(encode(value as Value)));
    const block = encodeBlock(record as unknown as Value);
    state.records.set(block.cid, record);
    return put(block.cid, block.bytes);
  };
  const edit = (cid: Cid, change: (value: Plain) => Plain): Cid => {
    const before = state.records.get(cid) ?? fail('E_NOT_FOUND', { where: cid, wanted: 'a record' });
    const after = change(JSON.parse(JSON.stringify(before)) as Plain);
    state.records.delete(cid);
    const made = add(after);
    if (made !== cid) relink(state, add, cid, made);
    return made;
  };
  return {
    reader: readerOf(state),
    emit: async (content, codec = 'raw') => {
      const bytes = content instanceof Uint8Array ? content : await joined(content);
      return put(cidOf(codec, bytes), bytes);
    },
    get leaves() {
      return state.leaves;
    },
    set leaves(leaves) {
      state.leaves = leaves;
    },
    all(kind) {
      const own = [...state.records].filter(([, record]) => record.kind === kind).map(([cid]) => cid);
      const logged = state.leaves.filter((leaf) => leaf.kind === kind).map((leaf) => leaf.cid);
      return [...logged, ...own.filter((cid) => !logged.includes(cid)).sort()];
    },
    record: (_kind, cid) => state.records.get(cid) as never,
    add,
    edit,
    drop(cid) {
      state.records.delete(cid);
      state.leaves = state.leaves.filter((leaf) => leaf.cid !== cid);
    },
    raw: (content) => {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      return put(cidOf('raw', bytes), bytes);
    },
  };
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** Every record that links `from` links `to`, and so on upwards, each made once; the log's leaves too. */
function relink(state: State, add: (value: Plain) => Cid, from: Cid, to: Cid): void {
  const renamed = new Map<Cid, Cid>([[from, to]]);
  const waiting = affectedBy(state, from);
  while (waiting.size > 0) {
    const [cid, links] = [...waiting].find(([, below]) => below.every((each) => !waiting.has(each))) ?? [];
    if (cid === undefined || links === undefined) fail('E_INTERNAL', { where: 'forge', found: 'a cycle' });
    waiting.delete(cid);
    let text = Buffer.from(encode(state.records.get(cid) as unknown as Value)).toString();
    for (const each of links) text = text.replaceAll(each, renamed.get(each) ?? each);
    state.records.delete(cid);
    renamed.set(cid, add(withSortedInputs(JSON.parse(text) as Plain)));
  }
  state.leaves = state.leaves.map((leaf) => ({ ...leaf, cid: renamed.get(leaf.cid) ?? leaf.cid }));
}

/** The records above `from`, each with what it links. */
function affectedBy(state: State, from: Cid): Map<Cid, readonly Cid[]> {
  const links = new Map(
    [...state.records].map(([cid, record]) => [cid, referencesOf(record).links.map((each) => each.cid)]),
  );
  const affected = new Map<Cid, readonly Cid[]>();
  for (let before = -1; before < affected.size; ) {
    before = affected.size;
    for (const [cid, below] of links)
      if (below.some((each) => each === from || affected.has(each))) affected.set(cid, below);
  }
  return affected;
}

/** Lists of inputs are sorted in a derivation: a new name may stand elsewhere. */
function withSortedInputs(value: Plain): Plain {
  if (!('derivation' in value)) return value;
  const derivation = value.derivation as { inputs: Record<string, { '/': string }[] | { '/': string }> };
  for (const bound of Object.values(derivation.inputs)) {
    if (Array.isArray(bound)) bound.sort((a, b) => (a['/'] < b['/'] ? -1 : 1));
  }
  return value;
}

function viewOf(state: State): View {
  const get = readerOf(state).get;
  return {
    record: async (cid) => state.records.get(cid) ?? fail('E_NOT_FOUND', { where: cid, wanted: 'a record' }),
    bytes: get,
    byKind: async (kind) =>
      [...state.records].filter(([, record]) => record.kind === kind).map(([cid]) => cid),
    linkers: async (target, kind) =>
      [...state.records]
        .filter(([, r]) => r.kind === kind && referencesOf(r).links.some(({ cid }) => cid === target))
        .map(([cid]) => cid)
        .sort(),
    derived: async (key) =>
      [...state.records].find(([, record]) => {
        const derivation = derivationOf(record);
        return derivation !== undefined && derivationKey(derivation) === key;
      })?.[0],
  };
}

/** Rules whose inputs are not published: what they gave is kept as it is. */
const KEPT: ReadonlySet<string> = new Set(['redact', 'scrub', 'release']);

/** Applies the rules again, in their order: a record that comes out differently takes the place of the old one. */
async function settle(state: State, at: Forge, wanted: (rule: Rule) => boolean): Promise<void> {
  for (const rule of RULES.filter((each) => !KEPT.has(each.name) && wanted(each))) {
    const old = derivedOf(state, rule);
    const kept = exempt(state);
    const bindings = await bindingsOf(state, rule);
    // An audit of a validation is bound by no record; it is made again from its own derivation.
    for (const cid of old.filter((each) => kept.has(each))) {
      const derivation = derivationOf(state.records.get(cid) as AnyRecord);
      if (derivation !== undefined) bindings.set(keyFor(rule, bindingOf(derivation)), bindingOf(derivation));
    }
    const spare: Cid[] = [];
    const done = new Set<string>();
    for (const cid of old) {
      const key = derivationKey(derivationOf(state.records.get(cid) as AnyRecord) as never);
      const binding = bindings.get(key);
      if (binding === undefined) spare.push(cid);
      else {
        done.add(key);
        if (!state.genuine.has(cid)) await put(at, rule, binding, cid);
      }
    }
    for (const [key, binding] of bindings) if (!done.has(key)) await put(at, rule, binding, spare.shift());
    for (const cid of spare) at.drop(cid);
  }
}

async function put(at: Forge, rule: Rule, binding: Binding, instead: Cid | undefined): Promise<void> {
  const value = (await applyRule(rule, binding, at)) as unknown as Plain;
  if (instead === undefined) at.add(value);
  else at.edit(instead, () => value);
}

const derivedOf = (state: State, rule: Rule): Cid[] =>
  [...state.records]
    .filter(([, record]) => derivationOf(record)?.rule === rule.name && record.kind !== 'release')
    .map(([cid]) => cid)
    .sort();

const exempt = (state: State): ReadonlySet<Cid> =>
  new Set([...state.records.values()].flatMap((r) => (r.kind === 'validation' ? [r.audit['/']] : [])));

async function bindingsOf(state: State, rule: Rule): Promise<Map<string, Binding>> {
  const bindings = new Map<string, Binding>();
  const view = viewOf(state);
  for (const [cid, value] of [...state.records]) {
    if (!rule.on.includes(value.kind)) continue;
    for (const binding of await rule.bind({ cid, value }, view)) bindings.set(keyFor(rule, binding), binding);
  }
  return bindings;
}

/** The last leaf is the close; it covers what stands before it. */
function rebuildClose(at: Forge, last: (value: Plain) => Plain = (value) => value): void {
  const [close] = at.leaves.slice(-1);
  if (close?.kind !== 'close') return;
  const covered = at.leaves.slice(0, -1);
  const entries = link(at.raw(entriesOf(covered)));
  const root = Buffer.from(rootOf(covered)).toString('hex');
  at.edit(close.cid, (value) => last({ ...value, size: covered.length, entries, root }));
}
