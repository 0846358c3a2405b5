/** `grade`: delivery, use and outcome of one run beside each other, with the run's place in its plan. */
import { link } from '../../store/format/cid.ts';
import { deliverV1 } from '../deliver/v1.ts';
import { outcomeV1 } from '../outcome/v1.ts';
import { defineRule, full, one } from '../rule.ts';
import { derivedBy, inputOf, runOf } from '../runs.ts';
import { useV1 } from '../use/v1.ts';

export const gradeV1 = defineRule({
  name: 'grade',
  v: 1,
  scope: 'subject',
  gives: 'grade',
  needs: {
    receipt: one('receipt'),
    start: one('start'),
    plan: one('plan'),
    delivery: one('delivery'),
    use: one('use'),
    outcome: one('outcome'),
  },
  on: ['delivery', 'use', 'outcome'],
  async bind(subject, view) {
    const scrub = inputOf(subject.value, 'scrub');
    const receipt = inputOf(subject.value, 'receipt');
    const run = receipt === undefined ? undefined : await runOf(receipt, view);
    if (scrub === undefined || run === undefined) return [];
    const delivery = await derivedBy(deliverV1, scrub, view);
    const use = await derivedBy(useV1, scrub, view);
    const outcome = await derivedBy(outcomeV1, scrub, view);
    if (delivery === undefined || use === undefined || outcome === undefined) return [];
    const layers = { delivery: delivery.cid, use: use.cid, outcome: outcome.cid };
    return [{ inputs: { receipt: run.receiptCid, start: run.startCid, plan: run.planCid, ...layers } }];
  },
  async apply({ receipt, start, plan, delivery, use, outcome }) {
    const { status, verdict } = full(outcome);
    return {
      receipt: link(receipt.cid),
      delivery: link(delivery.cid),
      use: link(use.cid),
      outcome: link(outcome.cid),
      arm: start.value.arm,
      epoch: full(plan).shared.epoch,
      attempt: start.value.attempt,
      status,
      delivered: full(delivery).delivered,
      used: full(use).used,
      ...(verdict === undefined ? {} : { reward: verdict.reward }),
    };
  },
});
