/** Blocks in memory and small trees, for the tests of rules. */

import type { Full } from '../../rules/contracts/kit.ts';
import {
  type AnyRecord,
  type Kind,
  parseRecord,
  type RecordOf,
  referencesOf,
} from '../../rules/contracts/table.ts';
import { applyRule, type Binding, type Rule, type View } from '../../rules/rule.ts';
import { type Cid, cidOf, digestOf, evidence, link } from '../../store/format/cid.ts';
import { encodeBlock, type Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { gitObjectId } from '../../store/format/git-object.ts';
import type { Emit, Reader } from '../../store/format/reader.ts';
import { type Entry, type Name, snapshotBlock, treeBlock, walkTree } from '../../store/format/tree.ts';

export interface Blocks {
  readonly map: Map<string, Uint8Array>;
  readonly reader: Reader;
  readonly emit: Emit;
  raw(bytes: Uint8Array | string): Cid;
  value(value: unknown): Cid;
  /** Puts a record after checking its contract. */
  record(value: unknown): Cid;
  readonly records: Cid[];
  readonly view: View;
}

/** A store of blocks in memory. Reads are counted by digest. */
export function openBlocks(): Blocks {
  const map = new Map<string, Uint8Array>();
  const records: Cid[] = [];
  const get = async (cid: Cid) =>
    map.get(digestOf(cid)) ?? fail('E_NOT_FOUND', { where: cid, wanted: 'a block', found: 'none' });
  const put = (cid: Cid, bytes: Uint8Array): Cid => {
    map.set(digestOf(cid), bytes);
    return cid;
  };
  const value = (from: unknown): Cid => {
    const block = encodeBlock(from as Value);
    return put(block.cid, block.bytes);
  };
  const reader: Reader = {
    get,
    has: async (cid) => map.has(digestOf(cid)),
    async *stream(cid, range) {
      const bytes = (await get(cid)).subarray(range?.start ?? 0, range?.end);
      // Odd chunks, so that nothing depends on where they end.
      for (let at = 0; at < bytes.length; at += 65_521) yield bytes.subarray(at, at + 65_521);
    },
  };
  const emit: Emit = async (bytes, codec = 'raw') => {
    const whole = bytes instanceof Uint8Array ? bytes : await collect(bytes);
    return put(cidOf(codec, whole), whole);
  };
  const read = async (cid: Cid): Promise<AnyRecord> =>
    parseRecord(JSON.parse(Buffer.from(await get(cid)).toString()) as Value);
  return {
    map,
    reader,
    emit,
    records,
    raw: (bytes) => {
      const whole = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
      return put(cidOf('raw', whole), whole);
    },
    value,
    record: (from) => {
      parseRecord(from as Value);
      const cid = value(from);
      records.push(cid);
      return cid;
    },
    view: {
      record: read,
      bytes: get,
      byKind: async (kind) => filter(records, async (cid) => (await read(cid)).kind === kind),
      linkers: async (to: Cid, kind: Kind) =>
        filter(records, async (cid) => {
          const record = await read(cid);
          return record.kind === kind && referencesOf(record).links.some((each) => each.cid === to);
        }),
      derived: async () => undefined,
    },
  };
}

async function filter(cids: readonly Cid[], keep: (cid: Cid) => Promise<boolean>): Promise<Cid[]> {
  const kept: Cid[] = [];
  for (const cid of cids) if (await keep(cid)) kept.push(cid);
  return kept.sort();
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  return Buffer.concat(parts);
}

/** A node of a tree as a test writes it: text is a file; see the helpers below for the rest. */
export type Plan = string | Uint8Array | Special | { readonly [name: string]: Plan };
interface Special {
  readonly is: 'file' | 'link' | 'dir' | 'submodule' | 'fifo' | 'device';
  readonly of?: Plan;
  readonly mode?: number;
}
export const file = (of: string | Uint8Array, mode: number): Special => ({ is: 'file', of, mode });
export const symlink = (of: string): Special => ({ is: 'link', of });
export const dir = (of: { readonly [name: string]: Plan }, mode: number): Special => ({
  is: 'dir',
  of,
  mode,
});
export const submodule = (of: string): Special => ({ is: 'submodule', of });
export const fifo: Special = { is: 'fifo' };

/** Puts a tree written as nested objects; a name with `/` in it stands for directories. */
export function putTree(blocks: Blocks, plan: { readonly [name: string]: Plan }): Cid {
  const entries = Object.entries(nest(plan)).map(([name, node]) => entryOf(blocks, name, node));
  const block = treeBlock(entries);
  blocks.map.set(digestOf(block.cid), block.bytes);
  return block.cid;
}

export function putSnapshot(blocks: Blocks, plan: { readonly [name: string]: Plan }, mode = 0o755): Cid {
  const block = snapshotBlock({ mode, tree: link(putTree(blocks, plan)) });
  blocks.map.set(digestOf(block.cid), block.bytes);
  return block.cid;
}

function nest(plan: { readonly [name: string]: Plan }): Record<string, Plan> {
  const flat: Record<string, Plan> = {};
  for (const [name, node] of Object.entries(plan)) {
    const [head = '', ...rest] = name.split('/');
    if (rest.length === 0) flat[head] = node;
    else flat[head] = { ...(flat[head] as object | undefined), [rest.join('/')]: node };
  }
  return flat;
}

function entryOf(blocks: Blocks, name: Name, node: Plan): Entry {
  if (typeof node === 'string' || node instanceof Uint8Array) return entryOf(blocks, name, file(node, 0o644));
  if (!('is' in node)) return entryOf(blocks, name, dir(node as Record<string, Plan>, 0o755));
  const { is, of, mode } = node as Special;
  if (is === 'fifo') return { name, type: 'fifo', mode: 0 };
  if (is === 'device') return { name, type: 'device', mode: 0, rdev: of as string };
  if (is === 'submodule') return { name, type: 'submodule', mode: 0, oid: of as string };
  if (is === 'dir') {
    return { name, type: 'dir', mode: mode ?? 0o755, cid: link(putTree(blocks, of as Record<string, Plan>)) };
  }
  const bytes = Buffer.from(of as string);
  const at = { cid: link(blocks.raw(bytes)), size: bytes.length };
  return is === 'link'
    ? { name, type: 'link', mode: 0, ...at }
    : { name, type: 'file', mode: mode ?? 0, ...at };
}

/** Options of a property test whose seed is printed whether or not it fails. */
export function seeded(t: { comment(text: string): void }, numRuns: number) {
  const seed = Math.floor(Math.random() * 0x7fffffff);
  t.comment(`fast-check seed ${seed}`);
  return { seed, numRuns };
}

/** The tree at `root` as `path -> type`. */
export async function listing(blocks: Blocks, root: Cid): Promise<Record<string, string>> {
  const list: Record<string, string> = {};
  for await (const { path, entry } of walkTree(blocks.reader, root)) list[path.join('/')] = entry.type;
  return list;
}

export const ZERO = evidence('0'.repeat(64) as never);

/** A challenge that names these output paths. */
export function challengeOf(blocks: Blocks, over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    kind: 'challenge',
    v: 1,
    id: 'unit',
    taskFamily: 'unit',
    prompt: link(blocks.raw('Make the test pass.\n')),
    followUps: [],
    allowedOutputPaths: ['src/out.ts'],
    agentTimeoutSeconds: 60,
    environment: { image: 'node', network: 'none', cpus: 1, memoryMb: 512, prebuildArgv: [] },
    verifier: {
      kind: 'script',
      runtime: 'node-test',
      asset: link(putTree(blocks, { 'a.test.mjs': '// hidden\n' })),
      timeoutSeconds: 60,
      tests: [{ id: 'works', tag: 'func' }],
      mustFail: [],
    },
    solutions: [],
    answerPhrases: [],
    lessons: [],
    graders: ['audit', 'verifier'],
    ...over,
  };
}

/** A source record over `tree`, whose commit object is that of the Git cases: one author, one date, the message `c`. */
export function sourceOf(
  blocks: Blocks,
  tree: Cid,
  treeOid: string,
  over: Record<string, unknown> = {},
): Cid {
  const who = 'a <a@example.invalid> 1700000000 +0000';
  const commit = Buffer.from(`tree ${treeOid}\nauthor ${who}\ncommitter ${who}\n\nc\n`);
  return blocks.record({
    kind: 'source',
    v: 1,
    algorithm: 'sha1',
    commit: gitObjectId('sha1', 'commit', commit),
    commitObject: link(blocks.raw(commit)),
    treeOid,
    oddTrees: [],
    tree: evidence(digestOf(tree)),
    ...over,
  });
}

/** Applies a rule and puts what it gives. */
export async function derive<K extends Kind>(blocks: Blocks, rule: { readonly gives: K }, binding: Binding) {
  const value = await applyRule(rule as unknown as Rule, binding, blocks);
  return { cid: blocks.record(value), value: value as Full<RecordOf<K>> };
}

/** A receipt of a completed run without anything in it. */
export function receiptOf(start: Cid, over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    kind: 'receipt',
    v: 1,
    start: link(start),
    status: 'completed',
    injections: [],
    exchanges: [],
    natives: [],
    replies: [],
    spend: { micros: 0, requests: 0, inputTokens: 0, outputTokens: 0 },
    timings: {},
    builds: {},
    ...over,
  };
}

/** The evidence reference of these bytes, which are put. */
export const evidenceOf = (blocks: Blocks, bytes: Uint8Array | string) =>
  evidence(digestOf(blocks.raw(bytes)));

/** A corpus record over a tree, as its rule would give it. */
export function corpusOf(blocks: Blocks, tree: Cid): Cid {
  const name = link(blocks.raw('a source'));
  return blocks.record({
    kind: 'corpus',
    v: 1,
    derivation: { rule: 'corpus', v: 1, inputs: { redaction: name, source: name } },
    source: name,
    redaction: name,
    tree: link(tree),
    counts: { files: 0, links: 0, directories: 0, submodules: 0, bytes: 0, removed: 0 },
    notes: [],
  });
}

/** A graph arm that holds these texts. */
export function graphOf(blocks: Blocks, texts: readonly string[], over: Record<string, unknown> = {}) {
  return {
    project: 'billing',
    workspace: 'main',
    branch: 'trunk',
    state: link(blocks.raw('state')),
    surface: link(blocks.raw(JSON.stringify(texts.map((text, i) => ({ id: `n${i}`, text }))))),
    markers: [],
    expect: { state: {}, probes: { fulltext: [], semantic: [], graph: [] } },
    ...over,
  };
}

/** The first version of a study over one pair under these conditions. */
export function studyOf(blocks: Blocks, conditions: readonly Cid[]): Record<string, unknown> {
  const name = link(blocks.raw('a name'));
  return {
    kind: 'study',
    v: 1,
    who: 'a person',
    why: 'to know',
    id: 'memory-study',
    version: 1,
    stage: 'pilot',
    hypotheses: [],
    pairs: [{ challenge: name, fixture: name, conditions: conditions.map((cid) => link(cid)) }],
    agents: [name],
    epochs: 1,
    orderSeed: 'seed',
    certificates: [],
    acceptances: [],
    validations: [],
    tests: [],
    holmSize: 0,
    alpha: '0.05',
    powerOverride: false,
    stop: { rule: 'fixed' },
    attempts: 1,
    images: {},
    isolation: 'none',
    network: 'none',
    caps: { runMicros: 0, stageMicros: 0, totalMicros: 0 },
    builds: {},
    prices: { currency: 'USD', inputMicros: 0, outputMicros: 0 },
    rules: ZERO,
    exclusionReasons: [],
    defectRule: '',
    withheld: [],
    scopeLimits: [],
  };
}
