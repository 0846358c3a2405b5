/**
 * What people may still say about a study that is registered: an amendment, an addendum, the exclusion of a task, a
 * deviation. Each is a dated record in the study's own log, and reports print them in that order.
 * Promises: the first three stand before the runs that they govern, a deviation about a run before the close that
 * follows it; what would not is refused with the reason, and nothing is recorded.
 * Does not promise: that no run begins between the look and the record. The log's order shows it, and `verify` names it.
 */
import type { Full } from '../../rules/contracts/kit.ts';
import type { Plan } from '../../rules/contracts/plan.ts';
import type { Input } from '../../rules/rule.ts';
import { attemptsOf, viewAs } from '../../rules/runs.ts';
import { boundFields, changedFields, fieldsOfPastRuns } from '../../rules/schedule/amend.ts';
import { progressOf } from '../../rules/schedule/progress.ts';
import { type Standing, standingPlans } from '../../rules/schedule/standing.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import { encodeBlock, type Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { counted } from '../../store/format/words.ts';
import type { Store } from '../../store/store.ts';
import { standingOf } from '../family.ts';
import { type AuthoredStudy, draftStudy, recordDraft, type StudyInputs } from '../freeze/study.ts';
import { viewOf } from '../view.ts';

export interface By {
  readonly who: string;
  readonly why: string;
}

export interface Amended {
  readonly amendment: Cid;
  /** The version now in force. */
  readonly study: Cid;
  readonly changed: readonly string[];
  readonly plans: { readonly stay: number; readonly added: number; readonly withdrawn: number };
}

export interface NewVersion {
  readonly read: AuthoredStudy;
  /** Where the file lay. */
  readonly folder: string;
}

/**
 * Puts another version of a study in force. Throws what registering a study throws, and E_GATE where the new version
 * changes nothing, what plans are bound to, what results of runs that have begun are computed by, withdraws a plan that
 * has begun, or comes while an attempt is under way or after the last run.
 */
export async function amendStudy(
  inputs: StudyInputs,
  family: Cid,
  { read, folder }: NewVersion,
  by: By,
): Promise<Amended> {
  const { store } = inputs;
  const standing = await standingOf(store, family);
  const draft = await draftStudy(inputs, { ...read, ...by }, folder, standing.study);
  const changed = changedFields(standing.study.value, draft.study);
  const begun = await begunPlans(store, standing.plans);
  refuseFields(standing.study.value.id, changed, begun.length > 0);
  const subject = { cid: encodeBlock(draft.study as unknown as Value).cid, value: draft.study };
  const after = await standingPlans(family, subject, viewOf(store));
  const stays = new Set(after.plans.map(({ cid }) => cid));
  const gone = begun.filter(({ cid }) => !stays.has(cid));
  if (gone.length > 0)
    fail('E_GATE', {
      where: `study ${read.id}`,
      wanted: 'no plan withdrawn that has begun',
      found: await named(store, gone),
      hint: 'Its runs stay; `admit --exclude` decides about each',
    });
  if (after.missing === 0) await refuseLate(store, [standing, after], 'amendment');
  await refuseUnderWay(store, standing);
  // If we die after the version, the same command again makes the amendment: the version itself puts nothing in force.
  const study = await recordDraft(store, draft);
  const record = { kind: 'amendment', v: 1, ...by, before: link(standing.study.cid), after: link(study) };
  const amendment = (await store.record(record as unknown as Value)).cid;
  const withdrawn = standing.plans.length - stays.size;
  return { amendment, study, changed, plans: { stay: stays.size, added: after.missing, withdrawn } };
}

function refuseFields(id: string, changed: readonly string[], begun: boolean): void {
  const where = `study ${id}`;
  if (changed.length === 0)
    fail('E_GATE', { where, wanted: 'a version that changes something', found: 'the one in force' });
  const bound = boundFields(changed);
  if (bound.length > 0) {
    const hint = 'Plans are bound to the first version: register another study';
    fail('E_GATE', { where, wanted: 'another field', found: `a change of ${bound.join(', ')}`, hint });
  }
  const past = begun ? fieldsOfPastRuns(changed) : [];
  if (past.length > 0) {
    const hint = 'Runs have begun, and results of theirs would be computed otherwise: register another study';
    fail('E_GATE', {
      where,
      wanted: 'a change for runs to come alone',
      found: `a change of ${past.join(', ')}`,
      hint,
    });
  }
}

type PlanInput = Input<Full<Plan>>;

async function begunPlans(store: Store, plans: readonly PlanInput[]): Promise<PlanInput[]> {
  const begun: PlanInput[] = [];
  for (const plan of plans) if ((await attemptsOf(plan.cid, viewOf(store))).size > 0) begun.push(plan);
  return begun;
}

async function named(store: Store, plans: readonly PlanInput[]): Promise<string> {
  const names: string[] = [];
  for (const { value } of plans) {
    const { challenge, epoch } = value.shared;
    names.push(`${(await viewAs('challenge', challenge['/'], viewOf(store))).id} epoch ${epoch}`);
  }
  return names.join(', ');
}

/** Under one of these there is a run still to come. */
async function refuseLate(store: Store, versions: readonly Standing[], what: string): Promise<void> {
  for (const { plans, study } of versions)
    for (const plan of plans)
      if ((await progressOf(plan, study.value, viewOf(store))).state === 'pending') return;
  const [first] = versions;
  fail('E_GATE', {
    where: `study ${first?.study.value.id}`,
    wanted: `an ${what} before the runs that it governs`,
    found: 'no run left to come',
    hint: 'What went otherwise than registered is a deviation',
  });
}

/** The arms of one attempt run under one version. */
async function refuseUnderWay(store: Store, { plans, study }: Standing): Promise<void> {
  for (const plan of plans) {
    const progress = await progressOf(plan, study.value, viewOf(store));
    const arms = Object.keys(plan.value.arms).length;
    const between = progress.state === 'pending' && progress.arms.length < arms;
    if (progress.state !== 'running' && !between) continue;
    const found = `attempt ${progress.attempt} of ${await named(store, [plan])}`;
    fail('E_GATE', {
      where: `study ${study.value.id}`,
      wanted: 'no attempt under way',
      found,
      hint: '`ashlar run` ends it',
    });
  }
}

/** Adds words that change no plan. Throws E_GATE where no run is left that they stand before. */
export async function addWords(store: Store, family: Cid, text: string, by: By): Promise<Cid> {
  const standing = await standingOf(store, family);
  await refuseLate(store, [standing], 'addendum');
  return decide(store, { kind: 'addendum', ...by, study: link(standing.study.cid), text });
}

/** Takes a task out of a study. Throws E_GATE where it is not in it, is the last one, or has begun. */
export async function excludeTask(store: Store, family: Cid, challenge: Cid, by: By): Promise<Cid> {
  const standing = await standingOf(store, family);
  const { study, plans } = standing;
  const where = `study ${study.value.id}`;
  const own = plans.filter(({ value }) => value.shared.challenge['/'] === challenge);
  if (own.length === 0) fail('E_GATE', { where, wanted: 'a task that stands in it', found: challenge });
  if (own.length === plans.length) fail('E_GATE', { where, wanted: 'a task left', found: 'the last one' });
  const begun = await begunPlans(store, own);
  if (begun.length > 0)
    fail('E_GATE', {
      where,
      wanted: 'an exclusion before the runs of its task',
      found: `${counted(begun.length, 'plan')} begun: ${await named(store, begun)}`,
      hint: 'Its runs stay; `admit --exclude` decides about each',
    });
  // Under the first version, so that it holds under every later one.
  return decide(store, { kind: 'task_exclusion', ...by, study: link(family), challenge: link(challenge) });
}

export interface Deviated {
  readonly what: string;
  /** The start or receipt that it is about, where it is about one. */
  readonly run?: Cid;
}

/** Records that something went otherwise than registered. Throws E_GATE where a close has covered that run already. */
export async function deviate(store: Store, family: Cid, { what, run }: Deviated, by: By): Promise<Cid> {
  const { study } = await standingOf(store, family);
  const about = run === undefined ? {} : await aboutRun(store, family, run);
  return decide(store, { kind: 'deviation', ...by, study: link(study.cid), ...about, what });
}

async function aboutRun(store: Store, family: Cid, run: Cid) {
  const log = await store.logs.ofFamily(family);
  const leaf = await store.leafOf(run);
  if (leaf === null || leaf.log !== log?.origin)
    fail('E_GATE', { where: run, wanted: 'a start or receipt of this study', found: 'another one' });
  for (const close of await viewOf(store).byKind('close')) {
    const closed = await store.leafOf(close);
    if (closed?.log !== leaf.log || closed.index < leaf.index) continue;
    fail('E_GATE', {
      where: run,
      wanted: 'a deviation before the close that follows the run',
      found: `the close ${close}`,
      hint: 'Without --run it can still be said of the study, before the next close',
    });
  }
  return { [leaf.kind]: link(run) };
}

async function decide(store: Store, record: object): Promise<Cid> {
  return (await store.record({ v: 1, ...record } as unknown as Value)).cid;
}
