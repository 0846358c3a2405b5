/**
 * The verifier: a fresh sandbox that the agent never touched, without a network, over the workspace as it was left.
 * Promises: the report is stored and hashed at once and read once. `verifier_error` only where the pristine workspace
 * gives no verdict either: an agent cannot void its own failure.
 */

import type { Challenge } from '../../rules/contracts/challenge.ts';
import { judge, reportValue, type VerifierReport } from '../../rules/outcome/verdict.ts';
import { type Cid, digestOf, evidence } from '../../store/format/cid.ts';
import { encode } from '../../store/format/codec.ts';
import { fail, isFault } from '../../store/format/errors.ts';
import { parseTree } from '../../store/format/tree.ts';
import type { Store } from '../../store/store.ts';
import type { Executor, Image, Paths } from '../executors/executor.ts';
import { sandboxSpec } from './sandbox.ts';
import type { Step, Task } from './task.ts';

const REPORT_BYTES = 8 << 20;
/** Reasons that a broken verifier could give as well as a broken workspace. */
const NO_VERDICT: ReadonlySet<string> = new Set([
  'report-unreadable',
  'verifier-timeout',
  'list-incomplete',
  'report-disagrees',
]);

export const verify: Step = {
  name: 'verify',
  when: 'outcome',
  voids: 'verifier_error',
  async run(task, { before, after, audit }) {
    if (before === undefined || after === undefined || audit === undefined) {
      fail('E_INTERNAL', { where: 'verify', wanted: 'snapshots and an audit' });
    }
    const { report, paths } = await reportOn(task, { before, after });
    const verifierPaths = paths === undefined ? [] : [paths];
    // Stored and hashed before it is judged: what is judged is what the receipt names.
    const stored = evidence(digestOf(await task.store.put(encode(reportValue(report)))));
    const verdict = judge(task.challenge.value.verifier, report, audit.outside);
    if (NO_VERDICT.has(verdict.reason) && !(await pristineGivesVerdict(task, before))) {
      const fault = { step: 'verify', code: 'E_EXECUTOR', detail: `pristine workspace: ${verdict.reason}` };
      return { report: stored, verifierPaths, ending: { status: 'verifier_error', fault } };
    }
    return { report: stored, verifierPaths, verdict };
  },
};

interface Reported {
  readonly report: VerifierReport;
  readonly paths?: Paths;
}

/**
 * The report on the workspace as it was left. Where even a second sandbox cannot be laid out or run over it, and one
 * over the pristine workspace can, the workspace is to blame (a pipe, a device, an impossible name): a report without a
 * result, which is reward 0. Throws where the pristine workspace fares no better.
 */
async function reportOn(task: Task, { before, after }: { before: Cid; after: Cid }): Promise<Reported> {
  for (let tries = 2; ; tries--) {
    try {
      return await runVerifier(verifierRun(task, after));
    } catch (error) {
      if (tries > 1 && isFault(error, 'E_EXECUTOR')) continue;
      if (!(await pristineGivesVerdict(task, before))) throw error;
      return { report: unusable(isFault(error) ? error.code : 'E_EXECUTOR') };
    }
  }
}

const unusable = (code: string): VerifierReport => ({
  exit: null,
  timedOut: false,
  truncated: false,
  stdout: '',
  stderr: `the verifier cannot be run over this workspace: ${code}`,
});

async function pristineGivesVerdict(task: Task, before: Cid): Promise<boolean> {
  const { report } = await runVerifier(verifierRun(task, before));
  return !NO_VERDICT.has(judge(task.challenge.value.verifier, report, 0).reason);
}

/** What one run of a verifier needs. */
export interface VerifierRun {
  readonly executor: Executor;
  readonly store: Store;
  readonly challenge: Challenge;
  readonly workspace: Cid;
  readonly owner: string;
  readonly token: string;
  readonly image?: Image;
}

function verifierRun(task: Task, workspace: Cid): VerifierRun {
  const { owner, token, image } = sandboxSpec(task, workspace);
  const { executor } = task.world;
  const run = { executor, store: task.store, challenge: task.challenge.value, workspace, owner, token };
  return image === undefined ? run : { ...run, image };
}

/** Runs the hidden suite over a workspace, once. Throws E_EXECUTOR for a fault of the sandbox, E_TREE, E_IO. */
export async function runVerifier(run: VerifierRun): Promise<Required<Reported>> {
  const { verifier, environment } = run.challenge;
  const sandbox = await run.executor.open({
    owner: run.owner,
    token: run.token,
    limits: { cpus: environment.cpus, memoryMb: environment.memoryMb, pids: 256 },
    workspace: run.workspace,
    readOnly: [{ name: 'verifier', tree: verifier.asset['/'] }],
    reader: run.store,
    ...(run.image === undefined ? {} : { image: run.image }),
  });
  try {
    const folder =
      sandbox.paths.readOnly.verifier ?? fail('E_INTERNAL', { where: 'verify', wanted: 'the asset folder' });
    const files = await testFiles(run.store, verifier.asset['/']);
    const ended = await sandbox.run({
      argv: ['node', '--test', '--test-reporter=tap', ...files.map((name) => `${folder}/${name}`)],
      env: { ...sandbox.environment, ASHLAR_WORKSPACE: sandbox.paths.workspace },
      timeoutSeconds: verifier.timeoutSeconds,
      maxOutputBytes: REPORT_BYTES,
    });
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
    const { exit, timedOut, truncated } = ended;
    const report = { exit, timedOut, truncated, stdout: text(ended.stdout), stderr: text(ended.stderr) };
    return { report, paths: sandbox.paths };
  } finally {
    await sandbox.close();
  }
}

/** The suite's files: `*.test.mjs` at the top of the asset, in name order. */
async function testFiles(store: Store, asset: Cid): Promise<string[]> {
  const { entries } = parseTree(await store.get(asset));
  const files = entries.flatMap(({ name, type }) =>
    type === 'file' && typeof name === 'string' ? [name] : [],
  );
  const tests = files.filter((name) => name.endsWith('.test.mjs'));
  if (tests.length === 0)
    fail('E_EXECUTOR', { where: 'verifier', wanted: 'a *.test.mjs file', found: 'none' });
  return tests;
}
