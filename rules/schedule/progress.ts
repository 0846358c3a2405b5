/**
 * How far a plan is, derived from its starts and receipts alone (DESIGN section 2, Attempts).
 * Promises: no status is stored anywhere; the same records give the same answer.
 */
import type { Cid } from '../../store/format/cid.ts';
import type { Full } from '../contracts/kit.ts';
import type { Plan } from '../contracts/plan.ts';
import type { Study } from '../contracts/study.ts';
import type { Input, View } from '../rule.ts';
import { attemptOver, attemptsOf, type Begun, isVoid } from '../runs.ts';
import { seededOrder } from './order.ts';

export type Progress =
  /** Arms left to start in this attempt, in the registered order; `running` are started and have no receipt. */
  | {
      readonly state: 'pending';
      readonly attempt: number;
      readonly arms: readonly string[];
      readonly running: readonly Cid[];
    }
  | { readonly state: 'running'; readonly attempt: number; readonly running: readonly Cid[] }
  | { readonly state: 'done'; readonly attempt: number }
  | { readonly state: 'exhausted'; readonly attempt: number };

/** The state of one plan under the study version in force. */
export async function progressOf(plan: Input<Full<Plan>>, study: Study, view: View): Promise<Progress> {
  const arms = seededOrder(study.orderSeed, plan.cid, Object.keys(plan.value.arms));
  const attempts = await attemptsOf(plan.cid, view);
  const attempt = Math.max(0, ...attempts.keys());
  const begun = attempts.get(attempt) ?? [];
  if (attempt === 0) return { state: 'pending', attempt: 1, arms, running: [] };
  const voided = begun.some(({ receipt }) => receipt !== undefined && isVoid(receipt.value.status));
  if (!attemptOver(begun, arms)) return unfinished(attempt, arms, begun, voided);
  if (!voided) return { state: 'done', attempt };
  if (attempt >= study.attempts) return { state: 'exhausted', attempt };
  return { state: 'pending', attempt: attempt + 1, arms, running: [] };
}

function unfinished(
  attempt: number,
  arms: readonly string[],
  begun: readonly Begun[],
  voided: boolean,
): Progress {
  const running = begun.filter(({ receipt }) => receipt === undefined).map(({ start }) => start.cid);
  const left = voided ? [] : arms.filter((arm) => !begun.some((each) => each.arm === arm));
  return left.length === 0
    ? { state: 'running', attempt, running }
    : { state: 'pending', attempt, arms: left, running };
}
