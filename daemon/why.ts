/**
 * Why a plan, an arm or a study does not run, or did: one answer from a closed list.
 * Promises: the first unmet clause, in the order in which the daemon asks them.
 */

import { isRefused } from '../rules/contracts/kit.ts';
import { exploreV1, whyNot } from '../rules/explore/v1.ts';
import { certificateFor } from '../rules/pair/v1.ts';
import { keyFor } from '../rules/rule.ts';
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

/**
 * Answers for a plan or a study; for a challenge, fixture or certificate, about the exploration that may follow from it.
 * Throws E_NOT_FOUND, E_KIND.
 */
export async function why(store: Store, cid: Cid): Promise<readonly Why[]> {
  const kind = await store.kindOf(cid);
  if (kind === 'plan') return [await whyPlan(store, cid)];
  if (kind === 'study') return whyStudy(store, cid);
  if (kind === null) fail('E_NOT_FOUND', { where: cid, wanted: 'a plan or a study' });
  if (kind === 'certificate') return whyExplore(store, cid);
  if (kind === 'fixture' || kind === 'challenge') return whyFrozen(store, cid, kind);
  return [{ subject: cid, reason: 'no-match', detail: `no run follows from a ${kind} by itself` }];
}

/** A fixture or a challenge: each certificate of it; without one, nothing can follow. */
async function whyFrozen(store: Store, cid: Cid, kind: 'fixture' | 'challenge'): Promise<Why[]> {
  const view = viewOf(store);
  const explore = kind === 'fixture' ? (await viewAs('fixture', cid, view)).explore : null;
  if (explore === undefined)
    return [{ subject: cid, reason: 'no-match', detail: 'the fixture asks for no exploration' }];
  const answers: Why[] = [];
  for (const certificate of await view.linkers(cid, 'certificate'))
    answers.push(...(await whyExplore(store, certificate)));
  const other = kind === 'fixture' ? 'challenge that it serves' : 'fixture that serves it';
  const detail = `no certificate: no ${other} is frozen, or its corpus was refused`;
  return answers.length > 0 ? answers : [{ subject: cid, reason: 'missing-input', detail }];
}

/** What the rule lacks, or what its study says. */
async function whyExplore(store: Store, cid: Cid): Promise<readonly Why[]> {
  const view = viewOf(store);
  const value = await viewAs('certificate', cid, view);
  const lack = await whyNot(value, view);
  if (lack !== undefined) return [{ subject: cid, ...lack }];
  const answers: Why[] = [];
  for (const binding of await exploreV1.bind({ cid, value }, view)) {
    const study = await view.derived(keyFor(exploreV1, binding));
    const detail = 'the rule has not been applied yet: run or daemon does';
    if (study === undefined) answers.push({ subject: cid, reason: 'ready', detail });
    else answers.push(...(await whyStudy(store, study)));
  }
  return answers;
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
    const { detail } = plan.refused;
    return { subject: cid, reason: gateOf(detail), detail };
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

const GATES: Readonly<Record<string, Why['reason']>> = {
  certificate: 'not-certified',
  condition: 'missing-input',
  validation: 'not-validated',
};

/** Which gate of the pair rule is shut: the first word of the place that its fault names. */
function gateOf(detail: string): Why['reason'] {
  return GATES[/; at (\w+)/.exec(detail)?.[1] ?? ''] ?? 'missing-input';
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
