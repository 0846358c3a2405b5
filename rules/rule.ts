/**
 * What a rule is, how its inputs are found, and how it is applied.
 * Promises: `applyRule` gives the same record for the same inputs wherever it runs: in the daemon (whose emit stores)
 * and in the verifier (whose emit only hashes).
 * Does not promise: that a binding is complete; a rule that cannot read an input gives `refused`.
 */
import { type Cid, link } from '../store/format/cid.ts';
import type { Value } from '../store/format/codec.ts';
import { fail, isFault } from '../store/format/errors.ts';
import type { Emit } from '../store/format/reader.ts';
import { parseSnapshot, type Snapshot } from '../store/format/tree.ts';
import { type RecordReader, readRecord } from './blocks.ts';
import { type Derivation, type Full, isRefused } from './contracts/kit.ts';
import { type AnyRecord, derivationKey, type Kind, parseAs, type RecordOf } from './contracts/table.ts';

/** A record with its name. */
export interface Input<V> {
  readonly cid: Cid;
  readonly value: V;
}

/** The names of a rule's inputs and what each is: a record, a list of records, an optional record, a snapshot, a raw blob. */
export type Needs = Readonly<Record<string, Need>>;
export interface Need {
  readonly kind: Kind | 'raw' | 'snapshot';
  readonly many: boolean;
  readonly optional: boolean;
}
export const one = <K extends Kind>(kind: K) => ({ kind, many: false, optional: false }) as const;
export const many = <K extends Kind>(kind: K) => ({ kind, many: true, optional: false }) as const;
export const optional = <K extends Kind>(kind: K) => ({ kind, many: false, optional: true }) as const;
export const raw = { kind: 'raw', many: false, optional: false } as const;
export const snapshot = { kind: 'snapshot', many: false, optional: false } as const;

type Loaded<N extends Need> = N['kind'] extends Kind
  ? N extends { many: true }
    ? readonly Input<RecordOf<N['kind']>>[]
    : N extends { optional: true }
      ? Input<RecordOf<N['kind']>> | undefined
      : Input<RecordOf<N['kind']>>
  : N['kind'] extends 'snapshot'
    ? Input<Snapshot>
    : Input<Uint8Array>;
export type Inputs<N extends Needs> = { readonly [K in keyof N]: Loaded<N[K]> };

/** Which records a rule is applied to: input name to cid, or to cids (any order; they are sorted). */
export interface Binding {
  readonly inputs: Readonly<Record<string, Cid | readonly Cid[]>>;
  readonly parameters?: Readonly<Record<string, string | number>>;
}

/** What the records of a store, or of a release, say about each other. Absent means not there. */
export interface View {
  record(cid: Cid): Promise<AnyRecord>;
  /** The bytes of a raw block. */
  bytes(cid: Cid): Promise<Uint8Array>;
  byKind(kind: Kind): Promise<readonly Cid[]>;
  /** Records of `kind` that link to `cid`. */
  linkers(cid: Cid, kind: Kind): Promise<readonly Cid[]>;
  derived(key: string): Promise<Cid | undefined>;
}

export interface RuleIo {
  readonly reader: RecordReader;
  readonly emit: Emit;
  readonly parameters: Readonly<Record<string, string | number>>;
}

export type Scope = 'subject' | 'study' | 'attempt' | 'close';
type Body<K extends Kind> = Omit<Exclude<RecordOf<K>, { refused: unknown }>, 'kind' | 'v' | 'derivation'>;

export interface Rule<K extends Kind = Kind, N extends Needs = Needs> {
  readonly name: string;
  readonly v: number;
  readonly scope: Scope;
  /** The kind of the record it gives. */
  readonly gives: K;
  readonly needs: N;
  /** Kinds whose arrival can complete a binding. */
  readonly on: readonly Kind[];
  /** The complete bindings that `subject` takes part in; an incomplete one is absent. */
  bind(subject: Input<AnyRecord>, view: View): Promise<readonly Binding[]>;
  /** The fields beside `kind`, `v` and `derivation`. Throws AshlarError where an input cannot be read. */
  apply(inputs: Inputs<N>, io: RuleIo): Promise<Body<K>>;
  /**
   * The same fields had back without withheld evidence, taking from `recorded` only what cannot be re-derived.
   * Given by the rules that read evidence.
   */
  recheck?(recorded: Body<K>, inputs: Inputs<N>, io: RuleIo): Promise<{ body: Body<K>; withheld: number }>;
}

/** Fixes the types of a rule. */
export function defineRule<K extends Kind, N extends Needs>(rule: Rule<K, N>): Rule<K, N> {
  return rule;
}

/** The derivation of a binding under a rule. */
export function derivationFor(rule: Pick<Rule, 'name' | 'v' | 'needs'>, binding: Binding): Derivation {
  const inputs: Record<string, ReturnType<typeof link> | ReturnType<typeof link>[]> = {};
  for (const [name, need] of Object.entries(rule.needs)) {
    const bound = binding.inputs[name];
    if (bound === undefined && need.optional) continue;
    if (bound === undefined)
      fail('E_RULE_INPUT', { where: `${rule.name} ${name}`, wanted: need.kind, found: 'nothing' });
    inputs[name] = typeof bound === 'string' ? link(bound) : [...bound].sort().map((cid) => link(cid));
  }
  const parameters = binding.parameters;
  return { rule: rule.name, v: rule.v, inputs, ...(parameters === undefined ? {} : { parameters }) };
}

/** The key under which the record of this binding is stored, if it is. */
export function keyFor(rule: Pick<Rule, 'name' | 'v' | 'needs'>, binding: Binding): string {
  return derivationKey(derivationFor(rule, binding));
}

/** The binding that a stored derivation stands for. */
export function bindingOf(derivation: Derivation): Binding {
  const inputs: Record<string, Cid | readonly Cid[]> = {};
  for (const [name, bound] of Object.entries(derivation.inputs)) {
    inputs[name] = Array.isArray(bound) ? bound.map((each) => each['/']) : bound['/'];
  }
  return derivation.parameters === undefined ? { inputs } : { inputs, parameters: derivation.parameters };
}

export interface Io {
  readonly reader: RecordReader;
  readonly emit: Emit;
}

/**
 * Applies a rule to a binding and gives the derived record. What the rule cannot read becomes `refused`; a fault of
 * ours (E_INTERNAL, E_IO, anything uncatalogued) is thrown.
 */
export async function applyRule(rule: Rule, binding: Binding, io: Io): Promise<AnyRecord> {
  const derivation = derivationFor(rule, binding);
  const head = { kind: rule.gives, v: 1, derivation };
  const parameters = binding.parameters ?? {};
  try {
    const body = await rule.apply(await loadInputs(rule.needs, binding, io.reader), { ...io, parameters });
    return parseAs(rule.gives, { ...head, ...body } as unknown as Value);
  } catch (error) {
    if (!isFault(error) || OURS.has(error.code)) throw error;
    const refused = { code: error.code, detail: error.message };
    return parseAs(rule.gives, { ...head, refused } as unknown as Value);
  }
}

const OURS: ReadonlySet<string> = new Set([
  'E_INTERNAL',
  'E_IO',
  'E_DIGEST',
  'E_NOT_FOUND',
  'E_CONTRACT',
  'E_CODEC',
]);

/** Reads the records of a binding. Throws E_NOT_FOUND, E_CODEC, E_CONTRACT, E_KIND. */
export async function loadInputs(
  needs: Needs,
  binding: Binding,
  reader: RecordReader,
): Promise<Inputs<Needs>> {
  const loaded: Record<string, unknown> = {};
  for (const [name, need] of Object.entries(needs)) {
    const bound = binding.inputs[name];
    if (bound === undefined) continue;
    const cids = typeof bound === 'string' ? [bound] : [...bound].sort();
    const values = await Promise.all(cids.map((cid) => loadInput(need, cid, reader)));
    loaded[name] = need.many ? values : values[0];
  }
  return loaded as Inputs<Needs>;
}

async function loadInput(need: Need, cid: Cid, reader: RecordReader): Promise<Input<unknown>> {
  if (need.kind === 'raw') return { cid, value: await reader.get(cid) };
  if (need.kind === 'snapshot') return { cid, value: parseSnapshot(await reader.get(cid)) };
  return { cid, value: await readAs(need.kind, cid, reader) };
}

/** Reads one record of a known kind. Throws E_NOT_FOUND, E_CODEC, E_CONTRACT, E_KIND. */
export async function readAs<K extends Kind>(kind: K, cid: Cid, reader: RecordReader): Promise<RecordOf<K>> {
  const record = await readRecord(cid, reader);
  if (record.kind !== kind) fail('E_KIND', { where: cid, wanted: kind, found: record.kind });
  return record as RecordOf<K>;
}

/** A derived input in its full form. Throws E_RULE_INPUT where its own rule refused. */
export function full<T extends { readonly kind: string }>(input: Input<T>): Full<T> {
  if (isRefused(input.value)) {
    fail('E_RULE_INPUT', {
      where: input.cid,
      wanted: `a readable ${input.value.kind}`,
      found: 'a refused one',
    });
  }
  return input.value as Full<T>;
}
