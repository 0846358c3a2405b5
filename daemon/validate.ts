/**
 * The validation matrix: every solution of a challenge, run and graded as an agent's workspace would be.
 * Promises: no model, no agent and no network take part; a validation record holds no time and no raw report.
 */

import { auditV1 } from '../rules/audit/v1.ts';
import type { Challenge } from '../rules/contracts/challenge.ts';
import type { Fixture } from '../rules/contracts/fixture.ts';
import type { Verdict } from '../rules/contracts/receipt.ts';
import { judge } from '../rules/outcome/verdict.ts';
import { type Input, keyFor, type Rule } from '../rules/rule.ts';
import { viewAs } from '../rules/runs.ts';
import { type Cid, link } from '../store/format/cid.ts';
import { random } from '../store/format/crypto.ts';
import { fail } from '../store/format/errors.ts';
import { snapshotBlock } from '../store/format/tree.ts';
import type { Store } from '../store/store.ts';
import { runVerifier } from './execute/verify.ts';
import type { Executor } from './executors/executor.ts';
import { type Images, imageDigests } from './images.ts';
import { overlay } from './overlay.ts';
import { deriveOne } from './trigger.ts';
import { viewOf } from './view.ts';

export interface Matrix {
  readonly store: Store;
  readonly executor: Executor;
  readonly images: Images;
  readonly owner: string;
  readonly challenge: Input<Challenge>;
  readonly fixture: Input<Fixture>;
  readonly repeats: number;
}

export interface Validated {
  readonly cid: Cid;
  readonly solution: string;
  readonly repeat: number;
  readonly verdict: Verdict;
  /** Whether it came out as the challenge says. */
  readonly asExpected: boolean;
}

type Solution = Challenge['solutions'][number];
const MODE = 0o755;

/** Runs every solution `repeats` times, one at a time; yields each as it is done. Throws E_EXECUTOR. */
export async function* validate(matrix: Matrix): AsyncGenerator<Validated> {
  const corpus = await viewAs('corpus', matrix.fixture.value.corpus['/'], viewOf(matrix.store));
  if (!('tree' in corpus))
    fail('E_GATE', { where: 'validate', wanted: 'a readable corpus', found: 'a refused one' });
  for (const solution of matrix.challenge.value.solutions) {
    for (let repeat = 1; repeat <= matrix.repeats; repeat++) {
      yield await validateOne(matrix, corpus.tree['/'], solution, repeat);
    }
  }
}

async function validateOne(
  matrix: Matrix,
  base: Cid,
  solution: Solution,
  repeat: number,
): Promise<Validated> {
  const { store, challenge, fixture, executor, owner } = matrix;
  const io = { reader: store, emit: store.put };
  const tree = await overlay(io, base, solution.tree['/'], solution.deleted);
  const before = await snapshotOf(store, base);
  const after = await snapshotOf(store, tree);
  const audit = await auditOf(store, { before, after, challenge: challenge.cid });
  const image = matrix.images[challenge.value.environment.image];
  const token = Buffer.from(random(16)).toString('hex');
  const run = { executor, store, challenge: challenge.value, workspace: after, owner, token };
  const { report } = await runVerifier(image === undefined ? run : { ...run, image });
  const verdict = judge(challenge.value.verifier, report, audit.outside);
  const { cid } = await store.record({
    kind: 'validation',
    v: 1,
    challenge: link(challenge.cid),
    fixture: link(fixture.cid),
    solution: solution.name,
    repeat,
    parallelism: 1,
    executor: executor.name,
    images: imageDigests(matrix.images),
    verdict: verdict.byTag,
    reward: verdict.reward,
    audit: link(audit.cid),
  });
  const same = JSON.stringify(verdict.byTag) === JSON.stringify(solution.expected);
  return {
    cid,
    solution: solution.name,
    repeat,
    verdict,
    asExpected: same && verdict.reward === solution.reward,
  };
}

async function snapshotOf(store: Store, tree: Cid): Promise<Cid> {
  return store.put(snapshotBlock({ mode: MODE, tree: link(tree) }).bytes, 'dag-json');
}

async function auditOf(store: Store, inputs: { before: Cid; after: Cid; challenge: Cid }) {
  const view = viewOf(store);
  await deriveOne(auditV1 as unknown as Rule, { inputs }, store);
  const cid = await view.derived(keyFor(auditV1, { inputs }));
  const value = cid === undefined ? undefined : await viewAs('audit', cid, view);
  if (cid === undefined || value === undefined || !('outside' in value))
    fail('E_INTERNAL', { where: 'audit' });
  return { cid, outside: value.outside };
}
