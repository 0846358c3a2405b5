/**
 * The loop: settle what follows, take the first pending arm, execute it, settle again.
 * Promises: there is no queue: what is next is derived from the records each time; an arm is started only where its
 * study's gates hold; arms run one at a time, in the registered order.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hrtime } from 'node:process';
import type { Challenge } from '../rules/contracts/challenge.ts';
import type { Condition } from '../rules/contracts/condition.ts';
import type { Status } from '../rules/contracts/receipt.ts';
import { viewAs } from '../rules/runs.ts';
import { progressOf } from '../rules/schedule/progress.ts';
import type { Standing } from '../rules/schedule/standing.ts';
import type { Cid } from '../store/format/cid.ts';
import { random } from '../store/format/crypto.ts';
import { fail } from '../store/format/errors.ts';
import type { Store } from '../store/store.ts';
import { adapterOf } from './agents/table.ts';
import { keepC0 } from './decide/register.ts';
import type { Engine } from './engine.ts';
import { execute, type Watch } from './execute/execute.ts';
import type { Task, World } from './execute/task.ts';
import { families, inOrder, type PlanProgress, standingOf } from './family.ts';
import { cappedBy, checkAgent, checkCondition, checkIsolation, checkModel } from './gates.ts';
import { boundImages, type Images } from './images.ts';
import { type Budget, openBudget } from './meter/budget.ts';
import { spendOf } from './reap.ts';
import type { Trigger } from './trigger.ts';
import { viewOf } from './view.ts';

export interface Ran {
  readonly plan: Cid;
  readonly challenge: string;
  readonly epoch: number;
  readonly arm: string;
  readonly attempt: number;
  readonly receipt: Cid;
  readonly status: Status;
}

export interface RunOptions {
  /** Only this family. */
  readonly family?: Cid;
  /** Stop after so many starts. */
  readonly limit?: number;
  readonly watch?: Watch;
  readonly ran?: (ran: Ran) => void;
  /** Asked between steps: a reason stops the run as `aborted`. */
  readonly aborted?: () => string | undefined;
}

/** Runs what is pending until nothing is, or the limit is reached. Gives what ran, in order. */
export async function runPending(
  store: Store,
  engine: Engine,
  trigger: Trigger,
  options: RunOptions = {},
): Promise<readonly Ran[]> {
  if (store.remote === true) {
    const hint = 'The owner runs what is pending';
    fail('E_STORE_BUSY', { where: store.path, wanted: 'the owner of the store', found: 'a client', hint });
  }
  const all: Ran[] = [];
  const budgets = new Map<Cid, Budget>();
  const settled = new Set<Cid>();
  await trigger.settle();
  while (all.length < (options.limit ?? Number.POSITIVE_INFINITY) && options.aborted?.() === undefined) {
    const next = await nextStart(store, options.family, settled);
    if (next === undefined) break;
    const ran = await runOne(store, engine, next, budgets, options);
    all.push(ran);
    options.ran?.(ran);
    await trigger.settle();
  }
  return all;
}

interface Next {
  readonly standing: Standing;
  readonly plan: PlanProgress['plan'];
  readonly attempt: number;
  readonly arm: string;
}

/**
 * The first arm that may start now. A start of ours without a receipt blocks its plan until start-up reaps it; a family
 * that a shared cap has stopped is passed over. `settled` remembers plans that are over, so that they are not read
 * again.
 */
export async function nextStart(
  store: Store,
  family?: Cid,
  settled: Set<Cid> = new Set(),
): Promise<Next | undefined> {
  for (const first of family === undefined ? await families(store) : [family]) {
    const standing = await standingOf(store, first);
    const next = await nextOf(store, standing, settled);
    if (next !== undefined && (await cappedBy(store, standing)) === undefined) return next;
  }
  return undefined;
}

async function nextOf(store: Store, standing: Standing, settled: Set<Cid>): Promise<Next | undefined> {
  for (const plan of inOrder(standing)) {
    if (settled.has(plan.cid)) continue;
    const progress = await progressOf(plan, standing.study.value, viewOf(store));
    if (progress.state === 'done') settled.add(plan.cid);
    const [arm] = progress.state === 'pending' && progress.running.length === 0 ? progress.arms : [];
    if (arm !== undefined) return { standing, plan, attempt: progress.attempt, arm };
  }
  return undefined;
}

async function runOne(
  store: Store,
  engine: Engine,
  next: Next,
  budgets: Map<Cid, Budget>,
  options: RunOptions,
): Promise<Ran> {
  const scratch = await mkdtemp(join(engine.scratch, 'r-'));
  try {
    const task = await taskOf(store, engine, next, budgets, scratch, options);
    const { receipt, ending } = await execute(task, options.watch);
    const { challenge, plan, arm, attempt } = task;
    const epoch = plan.value.shared.epoch;
    return {
      plan: plan.cid,
      challenge: challenge.value.id,
      epoch,
      arm,
      attempt,
      receipt,
      status: ending.status,
    };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function taskOf(
  store: Store,
  engine: Engine,
  { standing, plan, attempt, arm }: Next,
  budgets: Map<Cid, Budget>,
  scratch: string,
  options: RunOptions,
): Promise<Task> {
  const view = viewOf(store);
  const { study } = standing;
  const { shared, arms } = plan.value;
  const agent = await viewAs('agent', shared.agent['/'], view);
  checkIsolation(engine.executor.name, study.value.isolation, agent);
  checkModel(engine.scripted, agent);
  await checkAgent(agent);
  const corpus = await viewAs('corpus', shared.corpus['/'], view);
  if (!('tree' in corpus)) fail('E_GATE', { where: 'corpus', wanted: 'a readable corpus' });
  const challenge = await viewAs('challenge', shared.challenge['/'], view);
  const cid = arms[arm]?.['/'] as Cid;
  const condition = { cid, value: await viewAs('condition', cid, view) };
  const product = await productOf(condition.value, Object.values(arms), view);
  const provisioner = product === undefined ? undefined : engine.provisioner(product);
  checkCondition(condition.value, provisioner);
  const budget = await budgetOf(store, standing, budgets);
  // Order in time: the study, its checkpoint C0, then the first start.
  await keepC0(store, standing.first);
  const world: World = {
    executor: engine.executor,
    images: await imagesFor(engine, store, shared.images, challenge),
    provisioner,
    ...(product === undefined ? {} : { product }),
    fixtureRoot: engine.fixtureRoot,
    upstream: engine.upstream,
    purse: (cap) => budget.run(cap),
    scratch,
    owner: engine.owner,
    seconds: () => Number(hrtime.bigint()) / 1e9,
    aborted: options.aborted ?? (() => undefined),
  };
  return {
    store,
    view,
    world,
    adapter: adapterOf(agent.adapter),
    study,
    plan,
    arm,
    attempt,
    token: Buffer.from(random(16)).toString('hex'),
    challenge: { cid: shared.challenge['/'], value: challenge },
    fixture: { cid: shared.fixture['/'], value: await viewAs('fixture', shared.fixture['/'], view) },
    agent: { cid: shared.agent['/'], value: agent },
    condition,
    corpus: { cid: shared.corpus['/'], value: corpus },
  };
}

/** The images that the study bound, where the executor takes any. Throws E_GATE where the role has none. */
async function imagesFor(
  { executor }: Engine,
  store: Store,
  bound: Readonly<Record<string, string>>,
  { environment: { image }, id }: Challenge,
): Promise<Images> {
  if (executor.name !== 'docker') return {};
  if (!Object.hasOwn(bound, image))
    fail('E_GATE', { where: `image of ${id}`, wanted: `an image for ${image} in the study`, found: 'none' });
  return boundImages(store, bound);
}

type View = ReturnType<typeof viewOf>;

/** The product of this arm; a control is restored and probed by the first product that another arm names. */
async function productOf(
  own: Condition,
  conditions: readonly { readonly '/': Cid }[],
  view: View,
): Promise<string | undefined> {
  const all = [own];
  for (const each of conditions) all.push(await viewAs('condition', each['/'], view));
  return all.flatMap(({ source }) => (source.type === 'provisioner' ? [source.provisioner] : []))[0];
}

/** The purse of a family, opened with what its ledger and the store's say was spent before. */
async function budgetOf(
  store: Store,
  { first, study }: Standing,
  budgets: Map<Cid, Budget>,
): Promise<Budget> {
  const known = budgets.get(first);
  if (known !== undefined) return known;
  const { stageMicros, totalMicros } = study.value.caps;
  const spent = await spentBefore(store, first);
  const budget = openBudget({ caps: { stage: stageMicros, total: totalMicros }, spent });
  budgets.set(first, budget);
  return budget;
}

async function spentBefore(store: Store, family: Cid) {
  const view = viewOf(store);
  const spent = { stage: 0, total: 0 };
  for (const start of await view.byKind('start')) {
    const { micros } = await spendOf(view, start);
    const { plan } = await viewAs('start', start, view);
    const value = await viewAs('plan', plan['/'], view);
    spent.total += micros;
    if ('shared' in value && value.shared.family['/'] === family) spent.stage += micros;
  }
  return spent;
}
