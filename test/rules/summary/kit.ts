/** A study of hand-made records: plans, starts, receipts, grades and decisions, without any run. */
import type { Full } from '../../../rules/contracts/kit.ts';
import type { Summary } from '../../../rules/contracts/summary.ts';
import type { Binding } from '../../../rules/rule.ts';
import { summaryV1 } from '../../../rules/summary/v1.ts';
import { type Cid, link } from '../../../store/format/cid.ts';
import { encode, type Value } from '../../../store/format/codec.ts';
import { type Blocks, challengeOf, derive, openBlocks, receiptOf, studyOf } from '../kit.ts';

/** What one arm of one attempt came to; `null` was never started, `open` has no receipt. */
export type Run = 0 | 1 | null | 'open' | RunSpec;
export interface RunSpec {
  readonly reward?: 0 | 1;
  readonly status?: string;
  readonly delivered?: boolean;
  readonly used?: boolean;
  /** Excluded for this reason; `undecided` has no admission. */
  readonly excluded?: string;
  readonly override?: 'admitted' | 'excluded';
  readonly micros?: number;
  readonly tokens?: number;
  readonly seconds?: string;
  readonly build?: string;
}

export interface TaskSpec {
  readonly id: string;
  readonly family?: string;
  readonly lessons?: readonly string[];
  readonly repository?: string;
  /** arm -> by epoch, a list of attempts each. */
  readonly arms: Readonly<Record<string, readonly (Run | readonly Run[])[]>>;
  /** Another value is another verifier, so another key. */
  readonly verifier?: number;
}

export interface WorldSpec {
  readonly tasks: readonly TaskSpec[];
  readonly tests?: readonly Record<string, unknown>[];
  readonly study?: Record<string, unknown>;
  /** Arms without memory. */
  readonly controls?: readonly string[];
  /** Models; every task is planned once under each. */
  readonly models?: readonly string[];
  /** The order in which the arms of a plan start. */
  readonly first?: (plan: number, arms: readonly string[]) => readonly string[];
  /** Records appended to the log before the close. */
  readonly decisions?: (
    blocks: Blocks,
    study: Cid,
  ) => readonly { readonly kind: string; readonly cid: Cid }[];
  readonly scripted?: boolean;
}

export interface World {
  readonly blocks: Blocks;
  readonly study: Cid;
  readonly close: Cid;
  readonly binding: Binding & { readonly inputs: Record<string, Cid | readonly Cid[]> };
  readonly starts: readonly Cid[];
}

export const TEST = {
  id: 'memory-beside-none',
  treatment: 'memory',
  control: 'none',
  families: [],
  statistic: 'signFlip',
  measure: 'reward',
  sides: 'two-sided',
  zeros: 'pratt',
  cluster: 'task',
  primary: true,
};

interface Making {
  readonly blocks: Blocks;
  readonly study: Cid;
  readonly leaves: { kind: string; cid: Cid }[];
  readonly lists: Record<string, Cid[]>;
}

/** Makes the records and the close. */
export function makeWorld(spec: WorldSpec): World {
  const blocks = openBlocks();
  const name = link(blocks.raw('a name'));
  const arms = [...new Set(spec.tasks.flatMap((task) => Object.keys(task.arms)))].sort();
  const conditions = new Map(arms.map((arm) => [arm, conditionOf(blocks, arm, spec.controls ?? ['none'])]));
  const agents = (spec.models ?? ['a model']).map((model) => agentOf(blocks, model, spec.scripted ?? true));
  const epochs = Math.max(
    ...spec.tasks.flatMap((task) => Object.values(task.arms).map((each) => each.length)),
  );
  const study = blocks.record({
    ...studyOf(blocks, [...conditions.values()]),
    epochs,
    tests: spec.tests ?? [],
    holmSize: spec.tests?.length ?? 0,
    powerOverride: true,
    ...spec.study,
  });
  const making: Making = { blocks, study, leaves: [{ kind: 'study', cid: study }], lists: {} };
  const sources = new Set<Cid>();
  const corpora = new Set<Cid>();
  const challenges = new Set<Cid>();
  let count = 0;
  for (const task of spec.tasks) {
    const challenge = blocks.record(taskChallenge(blocks, task));
    const { source, corpus } = corpusFor(blocks, task.repository);
    challenges.add(challenge);
    sources.add(source);
    corpora.add(corpus);
    for (const agent of agents)
      for (let epoch = 1; epoch <= epochs; epoch += 1) {
        const shared = {
          ...{ family: link(study), challenge: link(challenge), fixture: name, agent: link(agent) },
          ...{ corpus: link(corpus), certificate: name, acceptances: [], validations: [], images: {} },
          ...{ graders: ['audit', 'verifier'], network: 'none', epoch },
        };
        const own = Object.keys(task.arms).sort();
        const plan = add(making, 'plans', {
          ...{ kind: 'plan', v: 1, derivation: { rule: 'pair', v: 1, inputs: {} }, shared },
          arms: Object.fromEntries(own.map((arm) => [arm, link(conditions.get(arm) as Cid)])),
        });
        makeRuns(making, plan, task, epoch, spec.first?.(count, own) ?? own);
        count += 1;
      }
  }
  making.leaves.push(...(spec.decisions?.(blocks, study) ?? []));
  return finished(making, {
    challenges: [...challenges],
    conditions: [...conditions.values()],
    agents,
    corpora: [...corpora],
    sources: [...sources],
  });
}

function finished({ blocks, study, leaves, lists }: Making, rest: Record<string, Cid[]>): World {
  const lines = leaves.map(({ kind, cid }, i) =>
    Buffer.concat([encode({ kind, cid: link(cid), at: stamp(i) } as unknown as Value), Buffer.from('\n')]),
  );
  const entries = blocks.raw(Buffer.concat(lines));
  const close = blocks.record({
    ...{ kind: 'close', v: 1, who: 'a person', why: 'all is run', study: link(study) },
    ...{ size: leaves.length, root: '0'.repeat(64), entries: link(entries) },
  });
  const empty = { plans: [], starts: [], receipts: [], grades: [], parities: [], eligibilities: [] };
  const inputs = { close, study, ...empty, admissions: [], overrides: [], ...lists, ...rest };
  return { blocks, study, close, binding: { inputs }, starts: lists.starts ?? [] };
}

const stamp = (i: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, i)).toISOString();

function add(making: Making, list: string, record: Record<string, unknown>): Cid {
  const cid = making.blocks.record(record);
  making.lists[list] = [...(making.lists[list] ?? []), cid];
  return cid;
}

const isList = (value: Run | readonly Run[] | undefined): value is readonly Run[] => Array.isArray(value);

function makeRuns(making: Making, plan: Cid, task: TaskSpec, epoch: number, order: readonly string[]): void {
  const attempts = (arm: string): readonly Run[] => {
    const given = task.arms[arm]?.[epoch - 1];
    return given === undefined ? [null] : isList(given) ? given : [given];
  };
  const most = Math.max(...order.map((arm) => attempts(arm).length));
  for (let attempt = 1; attempt <= most; attempt += 1)
    for (const arm of order) {
      const run = attempts(arm)[attempt - 1] ?? null;
      if (run !== null) makeRun(making, plan, { arm, epoch, attempt }, run);
    }
}

function makeRun(
  making: Making,
  plan: Cid,
  place: { readonly arm: string; readonly epoch: number; readonly attempt: number },
  run: Exclude<Run, null>,
): void {
  const { blocks, study, leaves } = making;
  const start = add(making, 'starts', {
    ...{ kind: 'start', v: 1, plan: link(plan), arm: place.arm, attempt: place.attempt, study: link(study) },
    token: 'fedcba98765432100123456789abcdef',
    ...{ executor: 'none', isolation: { network: 'none', limits: [] } },
  });
  leaves.push({ kind: 'start', cid: start });
  if (run === 'open') return;
  const spec: RunSpec = typeof run === 'number' ? { reward: run } : run;
  const { status = 'completed', micros = 0, tokens = 0, seconds = '0', build } = spec;
  const receipt = add(
    making,
    'receipts',
    receiptOf(start, {
      status,
      spend: { micros, requests: 1, inputTokens: tokens, outputTokens: 0 },
      timings: { turns: seconds },
      ...(build === undefined ? {} : { builds: { product: { version: build } } }),
    }),
  );
  leaves.push({ kind: 'receipt', cid: receipt });
  const some = link(blocks.raw('something'));
  add(making, 'grades', {
    ...{ kind: 'grade', v: 1, derivation: { rule: 'grade', v: 1, inputs: { receipt: link(receipt) } } },
    ...{ receipt: link(receipt), delivery: some, use: some, outcome: some, status, ...place },
    ...{ delivered: spec.delivered ?? false, used: spec.used ?? false },
    ...(spec.reward === undefined ? {} : { reward: spec.reward }),
  });
  decide(making, receipt, spec);
}

function decide(making: Making, receipt: Cid, { excluded, override }: RunSpec): void {
  if (excluded === 'undecided') return;
  const by = { who: 'a person', why: 'as registered', outcomesVisible: false, study: link(making.study) };
  const some = link(making.blocks.raw('something'));
  const admission = add(making, 'admissions', {
    ...{ kind: 'admission', v: 1, ...by, subject: { receipt: link(receipt), eligibility: some } },
    decision: excluded === undefined ? 'admitted' : 'excluded',
    ...(excluded === undefined ? {} : { reason: excluded }),
  });
  making.leaves.push({ kind: 'admission', cid: admission });
  if (override === undefined) return;
  const over = add(making, 'overrides', {
    ...{ kind: 'override', v: 1, ...by, why: 'a clock went wrong', subject: link(receipt) },
    ...{ admission: link(admission), decision: override },
  });
  making.leaves.push({ kind: 'override', cid: over });
}

function conditionOf(blocks: Blocks, name: string, controls: readonly string[]): Cid {
  const source = controls.includes(name) ? { type: 'none' } : { type: 'rule', rule: 'oracle' };
  return blocks.record({ kind: 'condition', v: 1, name, source, parameters: {}, tools: [] });
}

function agentOf(blocks: Blocks, model: string, scripted: boolean): Cid {
  const limits = { turns: 1, maxOutputTokens: 1, totalTokens: 1, outputBytes: 1 };
  return blocks.record({
    ...{ kind: 'agent', v: 1, adapter: 'builtin', version: '1', model, parameters: {}, tools: [], limits },
    ...{ modelKind: scripted ? 'scripted' : 'real', template: link(blocks.raw('Be brief.')) },
  });
}

function taskChallenge(blocks: Blocks, { id, family = 'family', lessons = [], verifier = 60 }: TaskSpec) {
  const base = challengeOf(blocks, { id, taskFamily: family, lessons });
  return { ...base, verifier: { ...(base.verifier as object), timeoutSeconds: verifier } };
}

function corpusFor(blocks: Blocks, repository: string | undefined): { source: Cid; corpus: Cid } {
  const some = link(blocks.raw('something'));
  const source = blocks.record({
    ...{ kind: 'source', v: 1, algorithm: 'sha1', commit: '1'.repeat(40), commitObject: some },
    ...{ treeOid: '2'.repeat(40), oddTrees: [], tree: `sha256:${'3'.repeat(64)}` },
    ...(repository === undefined ? {} : { repository }),
  });
  const corpus = blocks.record({
    ...{ kind: 'corpus', v: 1, derivation: { rule: 'corpus', v: 1, inputs: { source: link(source) } } },
    ...{ source: link(source), redaction: some, tree: some, notes: [] },
    counts: { files: 0, links: 0, directories: 0, submodules: 0, bytes: 0, removed: 0 },
  });
  return { source, corpus };
}

/** The summary of a world. */
export async function summarize(
  spec: WorldSpec,
): Promise<{ world: World; summary: Full<Summary>; cid: Cid; text: string }> {
  const world = makeWorld(spec);
  const { cid, value } = await derive(world.blocks, summaryV1, world.binding);
  if ('refused' in value) throw new Error(JSON.stringify(value.refused));
  return { world, summary: value, cid, text: JSON.stringify(value) };
}

/** Outcomes of one task under two arms. */
export const pairs = (memory: readonly Run[], none: readonly Run[]) => ({ memory, none });
