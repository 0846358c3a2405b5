/**
 * Conformance suite for a provisioner: what any memory product must do to be measured here. It needs the product and
 * one fixture, nothing of ours but the protocol client.
 *
 *   ashlar provisioner check suite.json
 *   {"argv": ["./product"], "root": "fixtures", "work": "scratch", "fixture": "name",
 *    "graphArm": "current", "artifacts": {"evidenceCorpus": null, "graph": "graphs/current.json"},
 *    "expect": {"state": {"nodes": 4}, "probes": {"fulltext": ["a"], "semantic": ["a"], "graph": ["b"]}},
 *    "recall": "words to search for", "timeoutSeconds": 60}
 *
 * Promises: every check is run and named; relative paths are relative to the file.
 * Does not promise: anything about how good the memory is.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import type { GraphArm } from '../../rules/contracts/fixture.ts';
import { judgeProvision, type Provision } from '../../rules/provision/judge.ts';
import { readBounded } from '../../store/bounded.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import { fail } from '../../store/format/errors.ts';
import { parseJson } from '../../store/format/json.ts';
import { openProvisioner, type Provisioner } from './provisioner.ts';

const ids = z.array(z.string());
const subject = z.strictObject({
  argv: z.array(z.string()).min(1),
  root: z.string(),
  work: z.string(),
  env: z.record(z.string(), z.string()).optional(),
  fixture: z.string(),
  graphArm: z.string(),
  artifacts: z.strictObject({ evidenceCorpus: z.string().nullable(), graph: z.string() }),
  expect: z.strictObject({
    state: z.record(z.string(), z.int()),
    probes: z.strictObject({ fulltext: ids, semantic: ids, graph: ids }),
  }),
  /** Words that `recall` must find something for; without them the verb is not asked. */
  recall: z.string().optional(),
  timeoutSeconds: z.number().positive().default(60),
});
export type Subject = z.input<typeof subject>;

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** What went wrong; empty where nothing did. */
  readonly detail: string;
}

interface Bench {
  readonly subject: z.output<typeof subject>;
  readonly provisioner: Provisioner;
  restore(identity: string, withMemory: boolean): Promise<{ project: string; queue: number }>;
  judge(restored: { project: string; queue: number }, withMemory: boolean): Promise<Provision>;
}

/** Longest suite file (bytes). */
const SUITE_BYTES = 1 << 20;

/** Reads a suite file. Throws E_NOT_FOUND, E_TOO_LARGE, E_JSON, E_CONFIG. */
export async function readSubject(file: string): Promise<Subject> {
  const bytes = await readBounded(file, { max: SUITE_BYTES, wanted: 'a suite as JSON' });
  const result = subject.safeParse(parseJson(bytes));
  if (!result.success) {
    const issue = result.error.issues[0];
    const found = issue?.message ?? 'another shape';
    fail('E_CONFIG', { where: `${file} /${issue?.path.join('/') ?? ''}`, found });
  }
  const base = dirname(resolve(file));
  const { argv, root, work } = result.data;
  const at = (text: string) => (/^\.\.?\//.test(text) ? resolve(base, text) : text);
  return { ...result.data, argv: argv.map(at), root: resolve(base, root), work: resolve(base, work) };
}

/** Runs every check, in order. A check that throws has failed. */
export async function checkProvisioner(given: Subject): Promise<Check[]> {
  const bench = openBench(subject.parse(given));
  const done: Check[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    const detail = await check(bench).catch((fault: unknown) => String((fault as Error).message));
    done.push({ name, ok: detail === '', detail });
  }
  return done;
}

function openBench(read: z.output<typeof subject>): Bench {
  const { env = {}, expect, artifacts } = read;
  const provisioner = openProvisioner({ ...read, env, maxBytes: 1 << 22, recall: read.recall !== undefined });
  const artifact = (path: string | null) =>
    path === null ? null : { path, sha256: sha256Hex(readFileSync(join(read.root, path))) };
  return {
    subject: read,
    provisioner,
    async restore(identity, withMemory) {
      const { value } = await provisioner.restore({
        fixture: read.fixture,
        graphArm: withMemory ? read.graphArm : null,
        runIdentity: identity,
        artifacts: {
          evidenceCorpus: withMemory ? artifact(artifacts.evidenceCorpus) : null,
          graph: withMemory ? artifact(artifacts.graph) : null,
        },
      });
      return { project: value.project, queue: value.queue_before_count };
    },
    async judge({ project, queue }, withMemory) {
      const { value } = await provisioner.snapshot({ project });
      const found = {
        queueBeforeCount: queue,
        queueAfterCount: value.queue_after_count,
        state: value.state,
        probes: value.probes,
      };
      const expected = expect as GraphArm['expect'];
      return judgeProvision(found, withMemory ? expected : undefined);
    },
  };
}

const said = (judged: Provision): string =>
  judged.verdict === 'ok' ? '' : `${judged.verdict}: ${judged.reason}`;

/** A check says what is wrong, or nothing. */
const CHECKS: Readonly<Record<string, (bench: Bench) => Promise<string>>> = {
  'restore puts the declared memory in place, drained': async ({ restore, judge }) =>
    said(await judge(await restore('run-1', true), true)),
  'a restore without a graph leaves nothing to find': async ({ restore, judge }) =>
    said(await judge(await restore('run-2', false), false)),
  'two snapshots of one project are equal': twoSnapshots,
  'a second restore under the same identity ends in the same state': async ({ restore, judge }) => {
    const first = await restore('run-4', true);
    const second = await restore('run-4', true);
    if (first.project !== second.project) return 'another project';
    return said(await judge(second, true));
  },
  'two runs do not share state': twoRuns,
  'nothing can be found after destroy': afterDestroy,
  'destroy may be repeated': async ({ restore, provisioner }) => {
    const { project } = await restore('run-7', true);
    await provisioner.destroy({ project });
    await provisioner.destroy({ project });
    return '';
  },
  'the project’s name tells neither fixture, arm nor run': namesNothing,
  'an evidence file beside the graph is taken, and only declared memory is in place': takesEvidence,
  'what it cannot do ends with a status above 0 and an empty stdout': refusesNonsense,
  'recall finds memory where it is, within the limit, and none in a control': recalls,
};

async function twoSnapshots({ restore, provisioner }: Bench): Promise<string> {
  const { project } = await restore('run-3', true);
  const [one, two] = [await provisioner.snapshot({ project }), await provisioner.snapshot({ project })];
  const of = ({ value }: typeof one) => JSON.stringify([value.state, value.probes, value.queue_after_count]);
  return of(one) === of(two) ? '' : `${of(one)} and ${of(two)}`;
}

async function twoRuns({ restore, judge, provisioner }: Bench): Promise<string> {
  const [memory, control] = [await restore('run-5', true), await restore('run-6', false)];
  if (memory.project === control.project) return 'both have the same project';
  const mixed = said(await judge(memory, true)) || said(await judge(control, false));
  if (mixed !== '') return mixed;
  await provisioner.destroy({ project: control.project });
  return said(await judge(memory, true));
}

/** A product may refuse to look into what is gone, or show it empty. */
async function afterDestroy({ restore, judge, provisioner }: Bench): Promise<string> {
  const restored = await restore('run-8', true);
  await provisioner.destroy({ project: restored.project });
  return judge(restored, false).then(said, () => '');
}

async function namesNothing({ restore, subject: { fixture, graphArm } }: Bench): Promise<string> {
  const { project } = await restore('run-9-identity', true);
  const told = [fixture, graphArm, 'run-9-identity'].find((word) => project.includes(word));
  return told === undefined ? '' : `${project} holds ${told}`;
}

/** The harness hands memory arms the fixture's evidence as a canonical JSON list of its files. */
async function takesEvidence({ judge, subject: read }: Bench): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'evidence-'));
  try {
    const graph = readFileSync(join(read.root, read.artifacts.graph));
    const put = (name: string, bytes: Uint8Array) => {
      writeFileSync(join(root, name), bytes);
      return { path: name, sha256: sha256Hex(bytes) };
    };
    const { restore } = openProvisioner({
      ...read,
      env: read.env ?? {},
      root,
      maxBytes: 1 << 22,
      recall: false,
    });
    const { value } = await restore({
      fixture: read.fixture,
      graphArm: read.graphArm,
      runIdentity: 'run-12',
      artifacts: { evidenceCorpus: put('evidence.json', EVIDENCE), graph: put('graph.state', graph) },
    });
    return said(await judge({ project: value.project, queue: value.queue_before_count }, true));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const EVIDENCE = Buffer.from(
  '[{"path":"chat/2025.jsonl","text":"{\\"said\\":\\"hello\\"}\\n"},{"base64":"/w==","path":"notes/odd.bin"}]',
);

async function refusesNonsense({ subject: { argv, env, work, timeoutSeconds } }: Bench): Promise<string> {
  const good =
    '{"artifacts":{"evidence_corpus":null,"graph":null},"fixture":"f","graph_arm":null,"run_identity":"r"}';
  const rows = [
    { verb: 'no-such-verb', input: '{}' },
    { verb: 'restore', input: '' },
    { verb: 'restore', input: '{"fixture":' },
    { verb: 'restore', input: '[]' },
    { verb: 'restore', input: good.replace('{"art', '{"more":1,"art') },
    { verb: 'restore', input: good.replace('"fixture":"f",', '') },
    { verb: 'snapshot', input: '{"project":"no-such-project"}' },
  ];
  const [program = '', ...before] = argv;
  for (const { verb, input } of rows) {
    const { error, status, stdout } = spawnSync(program, [...before, verb], {
      input,
      cwd: work,
      env: { PATH: process.env.PATH, ...env, ASHLAR_PROVISIONER_ROOT: realpathSync(work) },
      timeout: timeoutSeconds * 1000,
    });
    if (error !== undefined) return `${verb}: ${error.message}`;
    if (status === 0 || stdout.length > 0)
      return `${verb} ${input}: status ${status}, ${stdout.length} bytes`;
  }
  return '';
}

async function recalls({ restore, provisioner, subject: { recall: query } }: Bench): Promise<string> {
  if (provisioner.recall === undefined || query === undefined) return '';
  const [memory, control] = [await restore('run-10', true), await restore('run-11', false)];
  const ask = async (project: string) =>
    (await provisioner.recall?.({ project, query, channel: 'prompt', limit: 1 }))?.value.memories.length;
  const [found, none] = [await ask(memory.project), await ask(control.project)];
  return found === 1 && none === 0 ? '' : `${found} with memory, ${none} in the control`;
}
