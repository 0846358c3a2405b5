/** The runs of a close as the summary counts them: each with its plan, arm, grade and decision. */
import type { Cid } from '../../store/format/cid.ts';
import { inEffect, receiptOfDecision } from '../close/members.ts';
import type { Admission } from '../contracts/admission.ts';
import type { Grade } from '../contracts/grade.ts';
import type { Full } from '../contracts/kit.ts';
import { isRefused } from '../contracts/kit.ts';
import type { Plan } from '../contracts/plan.ts';
import type { Receipt } from '../contracts/receipt.ts';
import type { Start } from '../contracts/start.ts';
import { full, type Input } from '../rule.ts';

export interface SummedRun {
  readonly plan: Input<Full<Plan>>;
  readonly start: Start;
  readonly receipt: Input<Receipt>;
  readonly grade: Input<Full<Grade>> | undefined;
  readonly decision: Admission | undefined;
}

export interface RunInputs {
  readonly plans: readonly Input<Plan>[];
  readonly starts: readonly Input<Start>[];
  readonly receipts: readonly Input<Receipt>[];
  readonly grades: readonly Input<Grade>[];
  readonly admissions: readonly Input<Admission>[];
}

/** Every receipt with what belongs to it. A start without a receipt is no run; it is counted as started. */
export function summedRuns({ plans, starts, receipts, grades, admissions }: RunInputs): SummedRun[] {
  const planOf = new Map<Cid, Input<Full<Plan>>>(
    plans.map((plan) => [plan.cid, { cid: plan.cid, value: full(plan) }]),
  );
  const startOf = new Map(starts.map((start) => [start.cid, start.value]));
  const gradeOf = new Map<Cid, Input<Full<Grade>>>();
  for (const grade of grades) {
    if (!isRefused(grade.value))
      gradeOf.set(full(grade).receipt['/'], { cid: grade.cid, value: full(grade) });
  }
  const decisionOf = new Map(inEffect(admissions).map(({ value }) => [receiptOfDecision(value), value]));
  return receipts.flatMap((receipt) => {
    const start = startOf.get(receipt.value.start['/']);
    const plan = start === undefined ? undefined : planOf.get(start.plan['/']);
    if (start === undefined || plan === undefined) return [];
    return [{ plan, start, receipt, grade: gradeOf.get(receipt.cid), decision: decisionOf.get(receipt.cid) }];
  });
}

/** A run whose outcome counts: admitted, with an outcome. */
export function counted(run: SummedRun): boolean {
  return run.decision?.decision === 'admitted' && run.grade?.value.reward !== undefined;
}
