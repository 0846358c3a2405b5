/**
 * The memory product's part: restore before, probe before (which decides), probe after and destroy (which do not).
 * Promises: no agent starts where memory is absent that should be there, present that should not, or not what was
 * certified; the verdict on a snapshot is the pure rule of rules/provision.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GraphArm } from '../../rules/contracts/fixture.ts';
import { judgeProvision } from '../../rules/provision/judge.ts';
import { ensureFolder } from '../../store/files.ts';
import { digestOf, evidence } from '../../store/format/cid.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import { fail } from '../../store/format/errors.ts';
import type { Artifact } from '../provisioner/artifact.ts';
import { evidenceListing } from '../provisioner/evidence.ts';
import type { RestoreInput } from '../provisioner/provisioner.ts';
import type { State, Step, Task } from './task.ts';

/** In the folder of a start: which product holds which project. Read by `reap.ts`. */
export const PROJECT_FILE = 'project.json';

/** The graph that this arm restores; undefined for a control. */
function graphOf(task: Task) {
  const { source, graph } = task.condition.value;
  if (source.type !== 'provisioner' || graph === undefined) return undefined;
  return (
    task.fixture.value.graphs[graph] ??
    fail('E_CONFIG', { where: 'condition', wanted: 'a graph of the fixture', found: graph })
  );
}

export const restore: Step = {
  name: 'restore',
  when: 'ok',
  voids: 'provision_failed',
  async run(task, state) {
    const { provisioner } = task.world;
    if (provisioner === undefined) return {};
    const graph = graphOf(task);
    const { value, raw } = await provisioner.restore({
      fixture: task.fixture.value.id,
      graphArm: graph === undefined ? null : (task.condition.value.graph ?? null),
      runIdentity: runIdentityOf(task.token),
      artifacts: await stagedFor(task, graph),
    });
    await noteProject(task, value.project);
    const kept = await keep(task, state, 'restore', raw);
    return { project: value.project, queueBefore: value.queue_before_count, ...kept };
  },
};

/** What the product may know of a run: it tells runs apart and says nothing, the token neither. */
const runIdentityOf = (token: string): string => sha256Hex(Buffer.from(`run ${token}`, 'utf8')).slice(0, 32);

/** A product may run servers of its own for a project: what outlives us is destroyed at the next start-up. */
async function noteProject({ world }: Task, project: string): Promise<void> {
  await writeFile(join(world.scratch, PROJECT_FILE), JSON.stringify({ product: world.product, project }));
}

/** The artifacts of an arm; a control gets neither, so that one look at them tells no more than the graph does. */
async function stagedFor(task: Task, graph: GraphArm | undefined): Promise<RestoreInput['artifacts']> {
  if (graph === undefined) return { evidenceCorpus: null, graph: null };
  const listing = await evidenceListing(task.fixture.value.evidence['/'], task.store);
  return {
    evidenceCorpus: listing === undefined ? null : await stage(task, listing, 'evidence.json'),
    graph: await stage(task, await task.store.get(graph.state['/']), 'state'),
  };
}

/** Writes an artifact below the fixture root, named by its digest. */
async function stage(task: Task, bytes: Uint8Array, ending: string): Promise<Artifact> {
  const sha256 = sha256Hex(bytes);
  const path = `${sha256}.${ending}`;
  ensureFolder(task.world.fixtureRoot);
  await writeFile(join(task.world.fixtureRoot, path), bytes);
  return { path, sha256 };
}

export const probe: Step = {
  name: 'probe',
  when: 'ok',
  voids: 'provision_failed',
  async run(task, state) {
    const { provisioner } = task.world;
    if (provisioner === undefined || state.project === undefined) return {};
    const { value, raw } = await provisioner.snapshot({ project: state.project });
    const kept = await keep(task, state, 'snapshot-before', raw);
    const { state: counts, probes, queue_after_count } = value;
    const found = {
      queueBeforeCount: state.queueBefore ?? 0,
      queueAfterCount: queue_after_count,
      state: counts,
      probes,
    };
    const judged = judgeProvision(found, graphOf(task)?.expect);
    if (judged.verdict === 'ok') return kept;
    const fault = { step: 'probe', code: judged.verdict, detail: judged.reason };
    return { ...kept, ending: { status: judged.verdict, fault } };
  },
};

/** Recorded, decides nothing: a fault here is noted in the receipt and the run stands. */
export const probeAfter: Step = {
  name: 'probe-after',
  when: 'outcome',
  async run(task, state) {
    const { provisioner } = task.world;
    if (provisioner === undefined || state.project === undefined) return {};
    const answer = await provisioner.snapshot({ project: state.project }).catch(() => undefined);
    return answer === undefined ? {} : keep(task, state, 'snapshot-after', answer.raw);
  },
};

export const destroy: Step = {
  name: 'destroy',
  when: 'always',
  async run(task, state) {
    const { provisioner } = task.world;
    if (provisioner === undefined || state.project === undefined) return {};
    const answer = await provisioner.destroy({ project: state.project }).catch(() => undefined);
    return answer === undefined ? {} : keep(task, state, 'destroy', answer.raw);
  },
};

type Verb = State['replies'][number]['verb'];

async function keep(task: Task, state: State, verb: Verb, raw: Uint8Array): Promise<Pick<State, 'replies'>> {
  const cid = await task.store.put(raw);
  return { replies: [...state.replies, { verb, bytes: evidence(digestOf(cid)) }] };
}
