/**
 * Why a plan, an arm or a study does not run, or did: one answer from a closed list.
 * Promises: the first unmet clause, in the order in which the daemon asks them.
 */

import { isRefused } from '../rules/contracts/kit.ts';
import { certificateFor } from '../rules/pair/v1.ts';
import { viewAs } from '../rules/runs.ts';
import { type Progress, progressOf } from '../rules/schedule/progress.ts';
import type { Cid } from '../store/format/cid.ts';
import { fail } from '../store/format/errors.ts';
import type { Store } from '../store/store.ts';
import { familyOf, standingOf } from './family.ts';
import { cappedBy } from './gates.ts';
import { viewOf } from './view.ts';

export const REASONS = [
  'no-match',
  'missing-input',
  'not-certified',
  'not-validated',
  'rule-disabled',
  'already-done',
  'attempts-exhausted',
  'budget-gate',
  'leased-by',
  'backoff',
  'no-worker-with',
  'ready',
] as const;

export interface Why {
  readonly subject: Cid;
  readonly reason: (typeof REASONS)[number];
  readonly detail: string;
}

/** Answers for a plan or a study. Throws E_NOT_FOUND, E_KIND. */
export async function why(store: Store, cid: Cid): Promise<readonly Why[]> {
  const kind = await store.kindOf(cid);
  if (kind === 'plan') return [await whyPlan(store, cid)];
  if (kind === 'study') return whyStudy(store, cid);
  if (kind === null) fail('E_NOT_FOUND', { where: cid, wanted: 'a plan or a study' });
  return [{ subject: cid, reason: 'no-match', detail: `no run follows from a ${kind} by itself` }];
}

async function whyStudy(store: Store, cid: Cid): Promise<Why[]> {
  const view = viewOf(store);
  const standing = await standingOf(store, await familyOf(store, cid));
  const answers: Why[] = [];
  for (const pair of standing.study.value.pairs) {
    if ((await certificateFor(standing.study.value, pair, view)) !== undefined) continue;
    const detail = 'the study lists no certificate for this challenge and fixture';
    answers.push({ subject: pair.challenge['/'], reason: 'not-certified', detail });
  }
  for (const plan of standing.refused) answers.push(await whyPlan(store, plan));
  for (const plan of standing.plans) answers.push(await whyPlan(store, plan.cid));
  return answers;
}

async function whyPlan(store: Store, cid: Cid): Promise<Why> {
  const view = viewOf(store);
  const plan = await viewAs('plan', cid, view);
  if (isRefused(plan)) {
    const certified = !plan.refused.detail.includes('certificate');
    return {
      subject: cid,
      reason: certified ? 'not-validated' : 'not-certified',
      detail: plan.refused.detail,
    };
  }
  const standing = await standingOf(store, plan.shared.family['/']);
  if (!standing.plans.some((each) => each.cid === cid)) {
    return {
      subject: cid,
      reason: 'rule-disabled',
      detail: 'the study version in force does not hold this plan',
    };
  }
  const progress = await progressOf({ cid, value: plan }, standing.study.value, view);
  const capped = progress.state === 'pending' ? await cappedBy(store, standing) : undefined;
  if (capped !== undefined) {
    const detail = `a cap of the study stopped ${capped}; an amendment may raise it`;
    return { subject: cid, reason: 'budget-gate', detail };
  }
  return { subject: cid, ...answerFor(progress) };
}

/** What a plan's progress says, in the words of the list. */
function answerFor(progress: Progress): Pick<Why, 'reason' | 'detail'> {
  const attempt = `attempt ${progress.attempt}`;
  switch (progress.state) {
    case 'done':
      return { reason: 'already-done', detail: `${attempt} has every receipt` };
    case 'exhausted':
      return { reason: 'attempts-exhausted', detail: `${attempt} was void, none is left` };
    case 'running':
      return { reason: 'leased-by', detail: `started, no receipt yet: ${progress.running.join(' ')}` };
    case 'pending':
      return progress.running.length > 0
        ? { reason: 'leased-by', detail: `started, no receipt yet: ${progress.running.join(' ')}` }
        : { reason: 'ready', detail: `${attempt}: ${progress.arms.join(', ')}` };
  }
}
