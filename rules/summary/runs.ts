/** The runs of a close as the summary counts them: each with its plan, arm, grade and decision in effect. */
import type { Cid } from '../../store/format/cid.ts';
import { link } from '../../store/format/cid.ts';
import { inEffect, receiptOfDecision } from '../close/members.ts';
import type { Admission } from '../contracts/admission.ts';
import type { Grade } from '../contracts/grade.ts';
import type { Full } from '../contracts/kit.ts';
import { isRefused } from '../contracts/kit.ts';
import type { Override } from '../contracts/override.ts';
import type { Plan } from '../contracts/plan.ts';
import type { Receipt } from '../contracts/receipt.ts';
import type { Start } from '../contracts/start.ts';
import type { Summary } from '../contracts/summary.ts';
import { full, type Input } from '../rule.ts';
import { isVoid } from '../runs.ts';

type Standing = Full<Summary>['runs'][number]['standing'];

export interface SummedRun {
  readonly plan: Input<Full<Plan>>;
  readonly start: Input<Start>;
  /** Leaf of the start: which arm ran first. */
  readonly leaf: number;
  readonly receipt: Input<Receipt>;
  readonly grade: Input<Full<Grade>> | undefined;
  /** Excluded for this reason, by the decision in effect. */
  readonly reason: Admission['reason'] | undefined;
  readonly override: Cid | undefined;
  readonly standing: Standing;
}

export interface RunInputs {
  readonly plans: readonly Input<Plan>[];
  readonly starts: readonly Input<Start>[];
  readonly receipts: readonly Input<Receipt>[];
  readonly grades: readonly Input<Grade>[];
  readonly admissions: readonly Input<Admission>[];
  readonly overrides: readonly Input<Override>[];
}

interface Decision {
  readonly decision: 'admitted' | 'excluded';
  readonly reason: Admission['reason'] | undefined;
  readonly override: Cid | undefined;
}

/**
 * Every receipt of a standing plan with what belongs to it, by leaf. A start without a receipt is no run. `overrides`
 * says whether they are followed.
 */
export function summedRuns(
  inputs: RunInputs,
  leaves: ReadonlyMap<Cid, number>,
  overrides: boolean,
): SummedRun[] {
  const planOf = new Map<Cid, Input<Full<Plan>>>(
    inputs.plans.map((plan) => [plan.cid, { cid: plan.cid, value: full(plan) }]),
  );
  const startOf = new Map(inputs.starts.map((start) => [start.cid, start]));
  const gradeOf = gradesByReceipt(inputs.grades);
  const decisionOf = decisions(inputs, overrides);
  const voided = voidAttempts(inputs.receipts, startOf);
  const runs = inputs.receipts.flatMap((receipt) => {
    const start = startOf.get(receipt.value.start['/']);
    const plan = start === undefined ? undefined : planOf.get(start.value.plan['/']);
    if (start === undefined || plan === undefined) return [];
    const grade = gradeOf.get(receipt.cid);
    const decision = decisionOf.get(receipt.cid);
    const standing = standingOf(decision, grade?.value, voided.has(attemptKey(start.value)));
    const { reason, override } = decision ?? {};
    return [{ plan, start, leaf: leaves.get(start.cid) ?? 0, receipt, grade, reason, override, standing }];
  });
  return runs.sort((a, b) => a.leaf - b.leaf || (a.receipt.cid < b.receipt.cid ? -1 : 1));
}

function gradesByReceipt(grades: readonly Input<Grade>[]): Map<Cid, Input<Full<Grade>>> {
  const found = new Map<Cid, Input<Full<Grade>>>();
  for (const grade of grades)
    if (!isRefused(grade.value)) found.set(full(grade).receipt['/'], { cid: grade.cid, value: full(grade) });
  return found;
}

const attemptKey = ({ plan, attempt }: Start): string => `${plan['/']} ${attempt}`;

function voidAttempts(
  receipts: readonly Input<Receipt>[],
  startOf: ReadonlyMap<Cid, Input<Start>>,
): Set<string> {
  return new Set(
    receipts.flatMap(({ value }) => {
      const start = startOf.get(value.start['/']);
      return start !== undefined && isVoid(value.status) ? [attemptKey(start.value)] : [];
    }),
  );
}

/** receipt -> the decision in effect: the override where one is followed, else the admission. */
function decisions({ admissions, overrides }: RunInputs, follow: boolean): Map<Cid, Decision> {
  const found = new Map<Cid, Decision>();
  for (const { value } of inEffect(admissions)) {
    const receipt = receiptOfDecision(value);
    if (receipt !== undefined)
      found.set(receipt, { decision: value.decision, reason: value.reason, override: undefined });
  }
  for (const { cid, value } of follow ? inEffect(overrides) : []) {
    const before = found.get(value.subject['/']);
    if (before !== undefined)
      found.set(value.subject['/'], { decision: value.decision, reason: undefined, override: cid });
  }
  return found;
}

function standingOf(
  decision: Decision | undefined,
  grade: Full<Grade> | undefined,
  voided: boolean,
): Standing {
  if (voided) return 'void-attempt';
  if (decision === undefined) return 'undecided';
  if (decision.decision === 'excluded') return 'excluded';
  return grade?.reward === undefined ? 'no-outcome' : 'counted';
}

/** The runs as the record lists them, in the order of their starts. */
export function listRuns(runs: readonly SummedRun[], keyOf: ReadonlyMap<Cid, Keyed>): Full<Summary>['runs'] {
  return runs.map(({ plan, start, receipt, grade, reason, override, standing }) => {
    const { challenge, key } = keyOf.get(plan.cid) as Keyed;
    return {
      receipt: link(receipt.cid),
      ...(grade === undefined ? {} : { grade: link(grade.cid) }),
      plan: link(plan.cid),
      challenge,
      key,
      arm: start.value.arm,
      epoch: plan.value.shared.epoch,
      attempt: start.value.attempt,
      status: receipt.value.status,
      standing,
      ...(reason === undefined ? {} : { reason }),
      ...(override === undefined ? {} : { override: link(override) }),
    };
  });
}

/** What a plan is about, in the words of a summary. */
export interface Keyed {
  readonly challenge: string;
  readonly key: string;
}
