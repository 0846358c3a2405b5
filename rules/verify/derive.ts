/**
 * Every rule applied again: each derived record must come out with its own CID, each binding must have its record, and
 * no derived record may follow from nothing.
 * Producing and verifying are the same code: the emit here only hashes.
 */
import { type Cid, type Codec, cidOf, digestOf } from '../../store/format/cid.ts';
import { encode, encodeBlock, type Value } from '../../store/format/codec.ts';
import { isFault } from '../../store/format/errors.ts';
import type { RecordReader } from '../blocks.ts';
import { type Derivation, derivationOf, isRefused } from '../contracts/kit.ts';
import { type AnyRecord, derivationKey } from '../contracts/table.ts';
import { pairV1 } from '../pair/v1.ts';
import { applyRule, bindingOf, keyFor, loadInputs, type Rule } from '../rule.ts';
import { standingBindings } from '../schedule/standing.ts';
import { RULES, ruleFor } from '../table.ts';
import type { Faults } from './fault.ts';
import { guarded } from './fault.ts';
import type { Library } from './library.ts';
import { heldBack } from './withheld.ts';

export interface Rederived {
  readonly records: number;
  /** Parts taken as recorded because their evidence is never published: the unredacted tree, removed entries. */
  readonly asRecorded: number;
  /** Rule name -> its records that rest on bytes that study or hygiene withholds. */
  readonly withheld: Readonly<Record<string, number>>;
}

/** Re-derives everything. `release` is the manifest, which stands outside the blocks; absent where it cannot be read. */
export async function rederive(
  library: Library,
  release: AnyRecord | undefined,
  close: Cid | undefined,
  faults: Faults,
): Promise<Rederived> {
  const keys = new Set<string>();
  let records = 0;
  let asRecorded = 0;
  const withheld: Record<string, number> = {};
  const held = heldBack(library, release);
  const own = release === undefined ? [] : [[undefined, release] as const];
  for (const [cid, record] of [...library.records, ...own]) {
    const derivation = derivationOf(record);
    if (derivation === undefined || (record.kind === 'release' && cid !== undefined)) continue;
    keys.add(derivationKey(derivation));
    const at = `${record.kind} ${cid ?? 'of the manifest'}`;
    const asked = asking(library.reader, held);
    const missing = await guarded(faults, 'derivation', at, () =>
      checkOne(at, record, derivation, { ...library, reader: asked.reader }, faults),
    );
    records += 1;
    if (asked.forHeld() && missing !== undefined && missing > 0)
      withheld[derivation.rule] = (withheld[derivation.rule] ?? 0) + 1;
    else asRecorded += missing ?? 0;
  }
  await checkBindings(library, close, keys, faults);
  return { records, asRecorded, withheld };
}

/** A reader that remembers whether something was asked for that is held back and not here. */
function asking(reader: RecordReader, held: ReadonlySet<string>) {
  let asked = false;
  const note = (cid: Cid): Cid => {
    asked ||= held.has(digestOf(cid));
    return cid;
  };
  const noting: RecordReader = {
    ...reader,
    get: (cid) => reader.get(note(cid)),
    has: (cid) => reader.has(note(cid)),
    stream: (cid, range) => reader.stream(note(cid), range),
  };
  return { reader: noting, forHeld: () => asked };
}

async function checkOne(
  at: string,
  record: AnyRecord,
  derivation: Derivation,
  library: Library,
  faults: Faults,
): Promise<number> {
  const rule = ruleFor(derivation);
  const { value, withheld } = await again(rule, record, derivation, library);
  const wanted = encodeBlock(record as unknown as Value).cid;
  const found = encodeBlock(value as unknown as Value).cid;
  if (found !== wanted)
    faults.add('derivation', at, `rule ${rule.name} v${rule.v} gives ${found}: ${difference(record, value)}`);
  return withheld;
}

async function again(rule: Rule, record: AnyRecord, derivation: Derivation, library: Library) {
  const made = new Map<Cid, Uint8Array>();
  const io = { reader: layered(library.reader, made), emit: hashing(made) };
  const binding = bindingOf(derivation);
  if (rule.recheck === undefined || isRefused(record))
    return { value: await applyRule(rule, binding, io), withheld: 0 };
  const inputs = await loadInputs(rule.needs, binding, library.reader);
  const { kind, v, derivation: _, ...body } = record as AnyRecord & { derivation: Derivation };
  const parameters = binding.parameters ?? {};
  const checked = await rule.recheck(body as never, inputs, { ...io, parameters });
  return {
    value: { kind, v, derivation, ...(checked.body as object) } as unknown as AnyRecord,
    withheld: checked.withheld,
  };
}

/** Blocks that a rule emits while it runs can be read by it, as in the daemon; they are kept nowhere else. */
function layered(reader: RecordReader, made: ReadonlyMap<Cid, Uint8Array>): RecordReader {
  return {
    ...reader,
    get: async (cid) => made.get(cid) ?? reader.get(cid),
    has: async (cid) => made.has(cid) || reader.has(cid),
    async *stream(cid, range) {
      const bytes = made.get(cid);
      if (bytes === undefined) yield* reader.stream(cid, range);
      else yield range === undefined ? bytes : bytes.subarray(range.start, range.end);
    },
  };
}

function hashing(made: Map<Cid, Uint8Array>) {
  return async (content: Uint8Array | AsyncIterable<Uint8Array>, codec: Codec = 'raw'): Promise<Cid> => {
    const bytes = content instanceof Uint8Array ? content : await joined(content);
    const cid = cidOf(codec, bytes);
    made.set(cid, bytes);
    return cid;
  };
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** The first field in which two records differ, by name. */
function difference(a: AnyRecord, b: AnyRecord): string {
  const left = a as unknown as Record<string, Value>;
  const right = b as unknown as Record<string, Value>;
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
  const text = (value: Value | undefined) =>
    value === undefined ? 'nothing' : Buffer.from(encode(value)).toString('utf8');
  const name = names.find((each) => text(left[each]) !== text(right[each]));
  if (name === undefined) return 'no field differs';
  return `${name} is ${text(left[name]).slice(0, 200)}, should be ${text(right[name]).slice(0, 200)}`;
}

async function checkBindings(
  library: Library,
  close: Cid | undefined,
  keys: ReadonlySet<string>,
  faults: Faults,
): Promise<void> {
  const expected = new Set<string>();
  const standing = await standingKeys(library, close);
  for (const [cid, value] of library.records) {
    // An earlier close has a summary of its own, in a release of its own.
    if (value.kind === 'close' && cid !== close) continue;
    for (const rule of RULES.filter((each) => each.on.includes(value.kind))) {
      const at = `${rule.name} on ${value.kind} ${cid}`;
      const bindings = await guarded(faults, 'derivation-missing', at, () =>
        rule.bind({ cid, value }, library.view),
      );
      for (const binding of bindings ?? []) {
        const key = keyFor(rule, binding);
        expected.add(key);
        // A plan that an amendment or exclusion took out led to no run, so nothing links it and it is not published.
        const gone = rule.gives === 'plan' && standing !== undefined && !standing.has(key);
        if (!keys.has(key) && !gone && !otherFamily(rule) && !(await refusedPlan(rule, binding, library))) {
          faults.add('derivation-missing', at, `no ${rule.gives} record for this binding`);
        }
      }
    }
  }
  checkExtra(library, expected, faults);
}

/** The study that a fixture yields by itself is a family of its own, published by itself. */
const otherFamily = (rule: Rule): boolean => rule.gives === 'study';

/** Keys of the plans that stand at the close; undefined where it cannot be read, and then every plan is asked for. */
async function standingKeys(
  library: Library,
  close: Cid | undefined,
): Promise<ReadonlySet<string> | undefined> {
  const closed = close === undefined ? undefined : library.records.get(close);
  const cid = closed?.kind === 'close' ? closed.study['/'] : undefined;
  const study = cid === undefined ? undefined : library.records.get(cid);
  if (cid === undefined || study?.kind !== 'study') return undefined;
  try {
    const first = study.family?.['/'] ?? cid;
    const bindings = await standingBindings(first, { cid, value: study }, library.view);
    return new Set(bindings.map((binding) => keyFor(pairV1, binding)));
  } catch (error) {
    // What cannot be read is a fault of its own, found where it is read.
    if (isFault(error)) return undefined;
    throw error;
  }
}

/** A plan whose gate is not open leads to no run, so nothing links it and it is not published. */
async function refusedPlan(
  rule: Rule,
  binding: Parameters<typeof keyFor>[1],
  library: Library,
): Promise<boolean> {
  if (rule.gives !== 'plan') return false;
  try {
    return isRefused(await applyRule(rule, binding, { reader: library.reader, emit: hashing(new Map()) }));
  } catch (error) {
    if (isFault(error)) return false;
    throw error;
  }
}

function checkExtra(library: Library, expected: ReadonlySet<string>, faults: Faults): void {
  const audits = new Set<Cid>();
  for (const record of library.records.values())
    if (record.kind === 'validation') audits.add(record.audit['/']);
  for (const [cid, record] of library.records) {
    const derivation = derivationOf(record);
    if (derivation === undefined || record.kind === 'release' || audits.has(cid)) continue;
    if (!expected.has(derivationKey(derivation)))
      faults.add('derivation-extra', cid, `a ${record.kind} that no binding gives`);
  }
}
