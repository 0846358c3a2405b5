/** A study family in a store: its log, the version in force, its standing plans and how far each is. */

import type { Full } from '../rules/contracts/kit.ts';
import type { Plan } from '../rules/contracts/plan.ts';
import type { Input } from '../rules/rule.ts';
import { viewAs } from '../rules/runs.ts';
import { seededOrder } from '../rules/schedule/order.ts';
import { type Progress, progressOf } from '../rules/schedule/progress.ts';
import { type Standing, standingPlans, studyInForce } from '../rules/schedule/standing.ts';
import type { Cid } from '../store/format/cid.ts';
import { fail } from '../store/format/errors.ts';
import type { Store } from '../store/store.ts';
import { viewOf } from './view.ts';

/** The family that a study (any version) belongs to. Throws E_KIND. */
export async function familyOf(store: Store, study: Cid): Promise<Cid> {
  const value = await viewAs('study', study, viewOf(store));
  return value.family?.['/'] ?? study;
}

/** Every family of a store: the first studies, in arrival order. */
export async function families(store: Store): Promise<Cid[]> {
  const first: Cid[] = [];
  for await (const cid of store.byKind('study')) if ((await familyOf(store, cid)) === cid) first.push(cid);
  return first;
}

/** The version in force and its plans. Amendments count in the order of the family's log. */
export async function standingOf(store: Store, first: Cid): Promise<Standing> {
  const view = viewOf(store);
  const log = await store.logs.ofFamily(first);
  if (log === null) fail('E_NOT_FOUND', { where: first, wanted: 'a study with a log' });
  const amendments: Cid[] = [];
  for await (const cid of store.byKind('amendment'))
    if ((await store.leafOf(cid))?.log === log.origin) amendments.push(cid);
  return standingPlans(first, await studyInForce(first, amendments, view), view);
}

/** The standing plans in the registered order. */
export function inOrder({ plans, study }: Standing): Input<Full<Plan>>[] {
  const byCid = new Map<string, Input<Full<Plan>>>(plans.map((plan) => [plan.cid, plan]));
  return seededOrder(study.value.orderSeed, 'plans', [...byCid.keys()]).flatMap(
    (cid) => byCid.get(cid) ?? [],
  );
}

export interface PlanProgress {
  readonly plan: Input<Full<Plan>>;
  readonly progress: Progress;
}

/** Every standing plan with its progress, in the registered order. */
export async function progressOfFamily(store: Store, standing: Standing): Promise<PlanProgress[]> {
  const all: PlanProgress[] = [];
  for (const plan of inOrder(standing)) {
    all.push({ plan, progress: await progressOf(plan, standing.study.value, viewOf(store)) });
  }
  return all;
}
