/**
 * Which study version is in force, and which plans stand under it.
 * Promises: an amendment adds or withdraws plans and never re-identifies one that stays, since `pair` binds the
 * family's first study.
 */
import type { Cid } from '../../store/format/cid.ts';
import type { Full } from '../contracts/kit.ts';
import type { Plan } from '../contracts/plan.ts';
import type { Study } from '../contracts/study.ts';
import { pairV1 } from '../pair/v1.ts';
import { type Binding, type Input, keyFor, type View } from '../rule.ts';
import { viewAs } from '../runs.ts';

export interface Standing {
  readonly first: Cid;
  readonly study: Input<Study>;
  /** Plans that stand, by cid. */
  readonly plans: readonly Input<Full<Plan>>[];
  /** Plans that the rule refused: their gate is not open. */
  readonly refused: readonly Cid[];
  /** Bindings whose plan is not derived yet. */
  readonly missing: number;
}

/** The version in force: the first study, or what the last amendment leads to. `amendments` in log order. */
export async function studyInForce(
  first: Cid,
  amendments: readonly Cid[],
  view: View,
): Promise<Input<Study>> {
  let current = first;
  for (const cid of amendments) {
    const { before, after } = await viewAs('amendment', cid, view);
    if (before['/'] === current) current = after['/'];
  }
  return { cid: current, value: await viewAs('study', current, view) };
}

/** What a study version asks for: one binding of `pair` for each plan, without the tasks that were excluded. */
export async function standingBindings(first: Cid, study: Input<Study>, view: View): Promise<Binding[]> {
  const excluded = await excludedChallenges(first, study, view);
  const all = await pairV1.bind(study, view);
  return all.filter(({ inputs }) => !excluded.has(inputs.challenge as Cid));
}

/** The plans of a study version. O(pairs x agents x epochs). */
export async function standingPlans(first: Cid, study: Input<Study>, view: View): Promise<Standing> {
  const plans: Input<Full<Plan>>[] = [];
  const refused: Cid[] = [];
  let missing = 0;
  for (const binding of await standingBindings(first, study, view)) {
    const cid = await view.derived(keyFor(pairV1, binding));
    const plan = cid === undefined ? undefined : await viewAs('plan', cid, view);
    if (cid === undefined || plan === undefined) missing += 1;
    else if ('shared' in plan) plans.push({ cid, value: plan });
    else refused.push(cid);
  }
  return { first, study, plans, refused, missing };
}

async function excludedChallenges(first: Cid, study: Input<Study>, view: View): Promise<ReadonlySet<Cid>> {
  const excluded = new Set<Cid>();
  for (const version of new Set([first, study.cid])) {
    for (const cid of await view.linkers(version, 'task_exclusion')) {
      excluded.add((await viewAs('task_exclusion', cid, view)).challenge['/']);
    }
  }
  return excluded;
}
