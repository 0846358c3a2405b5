/**
 * A study small enough to run in a second: one file to change, a memory that says how, a product made of shell lines.
 * Everything is data in a temporary folder with a log key of its own; what a case does not say is what works.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { keepC0 } from '../../daemon/decide/register.ts';
import { type Engine, openEngine } from '../../daemon/engine.ts';
import type { ExecutorName } from '../../daemon/executors/executor.ts';
import { freezeChallenge } from '../../daemon/freeze/challenge.ts';
import { importCorpus, putPolicies } from '../../daemon/freeze/corpus.ts';
import { freezeFixture } from '../../daemon/freeze/fixture.ts';
import { authoredStudy, recordStudy, type StudyInputs } from '../../daemon/freeze/study.ts';
import { type Host, parseHost } from '../../daemon/host.ts';
import { type Images, imageDigests } from '../../daemon/images.ts';
import { openTrigger, type Trigger } from '../../daemon/trigger.ts';
import { validate } from '../../daemon/validate.ts';
import { viewOf } from '../../daemon/view.ts';
import { KIND_TABLE } from '../../rules/contracts/table.ts';
import { viewAs } from '../../rules/runs.ts';
import { type Files, realFiles } from '../../store/files.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { buildRepository } from '../../store/git/build.ts';
import { initStore, openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';

export type Arm = 'none' | 'memory' | 'tool';
type Verb = 'restore' | 'snapshot' | 'destroy' | 'recall';
/** `full` answers for a restored graph, `empty` for a control. */
export type Replies = Partial<Record<`${'full' | 'empty'}-${Verb}`, string>>;

/** One challenge with one study over it. */
export interface Case {
  readonly name: string;
  /** Default: only `none`. */
  readonly arms?: readonly Arm[];
  /** Steps of the scripted model; `informed` where the memory stands in the request. */
  readonly plain?: readonly unknown[];
  readonly informed?: readonly unknown[];
  /** The same for a follow-up; absent: no follow-up. */
  readonly followUp?: readonly unknown[];
  /** Shell lines by which the product answers. */
  readonly replies?: Replies;
  readonly attempts?: number;
  readonly epochs?: number;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
  readonly prebuildArgv?: readonly string[];
  /** Text of the hidden suite. */
  readonly suite?: string;
  /** Tests of the suite beside the usual ones. */
  readonly tests?: readonly { readonly id: string; readonly tag: string }[];
  readonly limits?: Readonly<Record<string, number>>;
  /** More fields of the study. */
  readonly study?: Readonly<Record<string, unknown>>;
  readonly modelKind?: 'scripted' | 'real';
  /** Freeze it, and register no study. */
  readonly unregistered?: boolean;
  readonly allowed?: readonly string[];
  /** Text that may stand nowhere an agent can read. */
  readonly answerPhrases?: readonly string[];
}

const say = (reply: unknown): string => `printf '%s' '${JSON.stringify(reply)}'`;
const probes = (...ids: string[]) => ({ fulltext: ids, semantic: ids, graph: ids });
export const snapshotReply = (nodes: number, ids: readonly string[], queue = 0): string =>
  say({ state: { nodes }, probes: probes(...ids), queue_after_count: queue, snapshot_seconds: 0.25 });
const restoreReply = (project: string) => say({ project, queue_before_count: 0, restore_seconds: 0.5 });

export const MEMORY = 'The greeting was settled in spring: it says Well met.';
const KNOWN = 'it says Well met';

const REPLIES: Required<Replies> = {
  'full-restore': restoreReply('notes-a'),
  'empty-restore': restoreReply('notes-b'),
  'full-snapshot': snapshotReply(1, ['m1']),
  'empty-snapshot': snapshotReply(0, []),
  'full-destroy': say({ ok: true }),
  'empty-destroy': say({ ok: true }),
  'full-recall': say({ memories: [{ id: 'm1', text: MEMORY }] }),
  'empty-recall': say({ memories: [] }),
};

const PROVISIONER = `input=$(cat)
case "$input" in *'"graph_arm":null'*|*'"project":"notes-b"'*) kind=empty ;; *) kind=full ;; esac
. "$1/$kind-$2"
`;

export const SUITE = `import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import assert from 'node:assert/strict';
const text = readFileSync(join(process.env.ASHLAR_WORKSPACE, 'app.mjs'), 'utf8');
test('it-greets', () => assert.match(text, /greeting = /));
test('as-it-was-settled', () => assert.match(text, /Well met/));
test('never', () => assert.equal(text, ''));
`;

const APP = (words: string) => `export const greeting = '${words}';\n`;
export const write = (content: string, path = 'app.mjs') => ({ tool: 'write', input: { path, content } });
export const SOLVE = [write(APP('Well met')), { say: 'Done.' }];
const GUESS = [write(APP('Good day')), { say: 'Done.' }];
/** What the model answers where the behaviour says so. */
export const apiError = (status: number, type: string) => ({ error: { status, type, message: type } });

export interface Lab {
  readonly root: string;
  readonly store: Store;
  readonly trigger: Trigger;
  readonly engine: Engine;
  readonly host: Host;
  /** First study of a case. */
  study(name: string): Cid;
  /** Closes engine and store; the folder stays. */
  close(): Promise<void>;
}

export interface LabOptions {
  readonly cases: readonly Case[];
  readonly executor?: ExecutorName;
  /** What the fixture asks for: an exploration of every case, with the product of the first. */
  readonly explore?: { readonly arms: readonly Arm[]; readonly epochs: number };
  /** Under which executors the solutions are validated before the studies are registered; default: not at all. */
  readonly validated?: boolean;
  /** For docker: made once for several labs. */
  readonly images?: Images;
  /** The disk below the store. */
  readonly files?: Files;
  /** Replaces the scripted model of the host. */
  readonly model?: Readonly<Record<string, unknown>>;
}

/** A new folder below the system's own temporary one: socket paths must stay short. */
export function labFolder(): string {
  return mkdtempSync(join(tmpdir(), 'lab-'));
}

export const removeLab = (root: string): void => rmSync(root, { recursive: true, force: true });

/** Writes everything, freezes it and registers one study a case. */
export async function makeLab(root: string, options: LabOptions): Promise<Lab> {
  writeLab(root, options);
  await initStore(join(root, 'store'), { logKey: join(root, 'log.key') });
  const lab = await openLab(root, options);
  const studies = await register(root, lab, options);
  put(root, 'studies.json', Object.fromEntries(studies));
  return lab;
}

/** The store of a lab. */
export function openLabStore(root: string, readOnly = false, files: Files = realFiles): Promise<Store> {
  const logKey = join(root, 'log.key');
  const options = { kinds: KIND_TABLE, clock: () => new Date(), logKey, readOnly, files, patience: 300 };
  return openStore(join(root, 'store'), options);
}

/** The first study of a case. */
export const studyIn = (root: string, name: string): Cid =>
  JSON.parse(readFileSync(join(root, 'studies.json'), 'utf8'))[name];

/** Opens a lab that stands, or what a dead process left of it. */
export async function openLab(root: string, options: LabOptions): Promise<Lab> {
  const store = await openLabStore(root, false, options.files);
  const host = hostOf(root, options);
  const engine = await openEngine(
    store,
    host,
    options.images === undefined ? {} : { images: options.images },
  );
  return {
    root,
    store,
    trigger: openTrigger(store),
    engine,
    host,
    study: (name) => studyIn(root, name),
    async close() {
      await engine.close();
      await store.close();
    },
  };
}

// ---------------------------------------------------------------------------------------------------------- as written

function put(root: string, path: string, content: string | object): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
}

function writeLab(root: string, { cases }: LabOptions): void {
  put(root, 'product.sh', PROVISIONER);
  put(root, 'system.md', 'You work on a small program.\n');
  put(root, 'repository/repository.json', {
    v: 1,
    name: 'greeter',
    author: { name: 'Ada', email: 'ada@example.invalid' },
    stored: {},
    steps: [{ id: 's0', date: '2025-01-01T00:00:00Z', message: 'A greeting', folder: 'base' }],
  });
  put(root, 'repository/base/app.mjs', APP('Hello'));
  put(root, 'fixture/evidence/notes.md', `${MEMORY}\n`);
  put(root, 'fixture/current.json', { nodes: [{ id: 'm1', text: MEMORY }] });
  for (const each of cases) writeCase(root, each);
}

function writeCase(root: string, each: Case): void {
  const { name, suite = SUITE, followUp } = each;
  const at = `challenges/${name}`;
  put(root, `${at}/prompt.md`, `Change the greeting of ${name}-program to the one that was settled.\n`);
  if (followUp !== undefined) put(root, `${at}/follow-up.md`, 'Now look at it again.\n');
  put(root, `${at}/verifier/greeting.test.mjs`, suite);
  put(root, `${at}/oracle/app.mjs`, APP('Well met'));
  put(root, `${at}/challenge.json`, challengeOf(each));
  const variants = [
    { name: 'informed', when: [KNOWN], steps: each.informed ?? SOLVE },
    { name: 'plain', when: [], steps: each.plain ?? GUESS },
  ];
  const second = { variants: [{ name: 'again', when: [], steps: followUp }] };
  put(root, `behaviours/${name}/behaviour.json`, {
    v: 1,
    match: `the greeting of ${name}-program`,
    turns: [{ variants }, ...(followUp === undefined ? [] : [second])],
  });
  for (const [file, line] of Object.entries({ ...REPLIES, ...each.replies }))
    put(root, `products/${name}/${file}`, `${line}\n`);
}

function challengeOf(each: Case): object {
  const oracle = { func: 'pass', lesson: 'pass', diag: 'absent' };
  return {
    v: 1,
    id: each.name,
    taskFamily: 'memory-only',
    prompt: 'prompt.md',
    followUps: each.followUp === undefined ? [] : ['follow-up.md'],
    allowedOutputPaths: each.allowed ?? ['app.mjs'],
    agentTimeoutSeconds: each.timeoutSeconds ?? 120,
    environment: {
      image: 'node',
      network: 'none',
      cpus: 1,
      memoryMb: each.memoryMb ?? 1024,
      prebuildArgv: each.prebuildArgv ?? [],
    },
    verifier: {
      kind: 'script',
      runtime: 'node-test',
      asset: 'verifier',
      timeoutSeconds: 60,
      tests: [
        { id: 'it-greets', tag: 'func' },
        { id: 'as-it-was-settled', tag: 'lesson' },
        ...(each.tests ?? []),
      ],
      mustFail: ['never'],
    },
    solutions: [
      { name: 'oracle', tree: 'oracle', expected: oracle, reward: 1 },
      { name: 'nothing', tree: null, expected: { ...oracle, lesson: 'fail' }, reward: 0 },
    ],
    answerPhrases: each.answerPhrases ?? [],
    lessons: [],
    graders: ['audit', 'verifier'],
  };
}

function hostOf(root: string, { cases, executor = 'none', model }: LabOptions): Host {
  const product = ({ name }: Case) => ({
    argv: ['/bin/sh', join(root, 'product.sh'), join(root, 'products', name)],
    recall: true,
    timeoutSeconds: 30,
  });
  const config = {
    v: 1,
    executor,
    provisioners: Object.fromEntries(cases.map((each) => [each.name, product(each)])),
    model: model ?? { kind: 'scripted', behaviours: [join(root, 'behaviours')] },
  };
  return parseHost(Buffer.from(JSON.stringify(config)), root);
}

// ---------------------------------------------------------------------------------------------------------- registered

type Opened = Pick<Lab, 'store' | 'trigger' | 'engine'>;

async function register(root: string, lab: Opened, options: LabOptions): Promise<Map<string, Cid>> {
  const { store, trigger } = lab;
  await putPolicies(store);
  const named = new Map<string, Cid>();
  for (const { name } of options.cases)
    named.set(`challenge/${name}`, await freezeChallenge(store, join(root, 'challenges', name)));
  named.set('fixture/greeter', await fixtureOf(root, lab, options));
  for (const [name, cid] of named) await store.setName(name, cid);
  await trigger.settle();
  const studies = new Map<string, Cid>();
  for (const each of options.cases) {
    if (each.unregistered === true) continue;
    if (options.validated === true) await validateCase(lab, each, named);
    const study = await recordStudy(inputsOf(lab), authoredStudy.parse(studyOf(each, options)), root);
    await keepC0(store, study);
    studies.set(each.name, study);
  }
  await trigger.settle();
  return studies;
}

/** What a study of this lab is registered from. */
export function inputsOf({ store, engine }: Pick<Lab, 'store' | 'engine'>): StudyInputs {
  const named = async (name: string) =>
    (await store.name(name))?.target ?? fail('E_NOT_FOUND', { where: name, wanted: 'a name of the lab' });
  return { store, named, images: imageDigests(engine.images) };
}

async function fixtureOf(
  root: string,
  { store, trigger }: Opened,
  { cases, explore }: LabOptions,
): Promise<Cid> {
  const [first] = cases;
  put(root, 'fixture/system.md', 'You work on a small program.\n');
  put(root, 'fixture/fixture.json', {
    ...(explore === undefined || first === undefined ? {} : { explore: exploreOf(first, explore) }),
    v: 1,
    id: 'greeter',
    serves: cases.map(({ name }) => name),
    source: { corpus: 'greeter' },
    evidence: 'evidence',
    graphs: {
      current: {
        project: 'greeter',
        workspace: 'office',
        branch: 'main',
        state: 'current.json',
        surface: [{ id: 'm1', text: MEMORY }],
        markers: [KNOWN],
        expect: { state: { nodes: 1 }, probes: probes('m1') },
      },
    },
  });
  const repository = join(root, 'git');
  const commit = buildRepository(join(root, 'repository'), repository).at(-1)?.commit ?? '';
  const corpus = async () => (await importCorpus(store, trigger, { repository, commit })).corpus;
  return freezeFixture({ store, trigger, corpus }, join(root, 'fixture'));
}

function exploreOf(of: Case, { arms, epochs }: NonNullable<LabOptions['explore']>): object {
  return { agent: agentOf(of), conditions: arms.map((arm) => CONDITION[arm](of.name)), epochs };
}

async function validateCase({ store, engine }: Opened, { name }: Case, named: Map<string, Cid>) {
  const challenge = named.get(`challenge/${name}`) as Cid;
  const fixture = named.get('fixture/greeter') as Cid;
  const view = viewOf(store);
  if ((await view.linkers(challenge, 'validation')).length > 0) return;
  const { executor, images, owner } = engine;
  const matrix = {
    store,
    executor,
    images,
    owner,
    challenge: { cid: challenge, value: await viewAs('challenge', challenge, view) },
    fixture: { cid: fixture, value: await viewAs('fixture', fixture, view) },
    repeats: 1,
  };
  for await (const _ of validate(matrix));
}

const CONDITION = {
  none: () => ({ name: 'none', source: { type: 'none' }, parameters: {}, tools: [] }),
  memory: (provisioner: string) => ({
    name: 'memory',
    source: { type: 'provisioner', provisioner },
    channel: 'prompt',
    graph: 'current',
    parameters: {},
    tools: [],
  }),
  tool: (provisioner: string) => ({
    name: 'tool',
    source: { type: 'provisioner', provisioner },
    channel: 'tool',
    graph: 'current',
    parameters: {},
    tools: ['search_memory'],
  }),
};

const agentOf = (each: Case): object => ({
  adapter: 'builtin',
  version: '1',
  model: 'scripted',
  modelKind: each.modelKind ?? 'scripted',
  parameters: {},
  template: 'system.md',
  tools: ['read', 'write', 'edit', 'list', 'run'],
  limits: { turns: 9, maxOutputTokens: 1000, totalTokens: 100_000, outputBytes: 65_536, ...each.limits },
});

/** The study file of a case. */
export function studyOf(
  each: Case,
  { executor = 'none', validated }: Pick<LabOptions, 'executor' | 'validated'> = {},
): Record<string, unknown> {
  const arms = each.arms ?? ['none'];
  return {
    v: 1,
    id: `study-${each.name}`,
    stage: validated === true ? 'pilot' : 'exploratory',
    conditions: arms.map((arm) => CONDITION[arm](each.name)),
    pairs: [
      { challenge: each.name, fixture: 'greeter', arms: Object.fromEntries(arms.map((arm) => [arm, arm])) },
    ],
    agent: agentOf(each),
    epochs: each.epochs ?? 1,
    orderSeed: each.name,
    isolation: executor,
    attempts: each.attempts ?? 2,
    holmSize: 0,
    alpha: '0.05',
    powerOverride: true,
    ...each.study,
  };
}
