/**
 * `outcome`: the verdict had again from the published report. The third of three layers: it implies neither delivery
 * nor use, and neither implies it.
 */
import { link } from '../../store/format/cid.ts';
import { encode, type Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { OUTCOME_STATUSES, type Verdict } from '../contracts/receipt.ts';
import { defineRule, full, one, optional } from '../rule.ts';
import { published, runOfScrub } from '../runs.ts';
import { judge, readReport } from './verdict.ts';

const HAS_OUTCOME: ReadonlySet<string> = new Set(OUTCOME_STATUSES);

export const outcomeV1 = defineRule({
  name: 'outcome',
  v: 1,
  scope: 'subject',
  gives: 'outcome',
  needs: {
    receipt: one('receipt'),
    scrub: one('scrub'),
    audit: optional('audit'),
    challenge: one('challenge'),
  },
  on: ['scrub'],
  async bind(subject, view) {
    const run = await runOfScrub(subject, view);
    if (run === undefined) return [];
    const inputs = { receipt: run.receiptCid, scrub: subject.cid, challenge: run.plan.shared.challenge['/'] };
    const audit = run.receipt.audit?.['/'];
    return [{ inputs: audit === undefined ? inputs : { ...inputs, audit } }];
  },
  async apply({ receipt, scrub, audit, challenge }, { reader }) {
    const { status, stopReason, verdict: recorded } = receipt.value;
    let verdict: Verdict | undefined;
    if (HAS_OUTCOME.has(status)) {
      const report = published(full(scrub), 'report');
      if (report === undefined || audit === undefined) {
        fail('E_RULE_INPUT', { where: receipt.cid, wanted: 'a report and an audit', found: 'none' });
      }
      verdict = judge(challenge.value.verifier, readReport(await reader.get(report)), full(audit).outside);
    }
    return {
      receipt: link(receipt.cid),
      scrub: link(scrub.cid),
      challenge: link(challenge.cid),
      status,
      ...(stopReason === undefined ? {} : { stopReason }),
      ...(verdict === undefined ? {} : { verdict }),
      agrees: same(verdict, recorded),
    };
  },
});

function same(a: Verdict | undefined, b: Verdict | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Buffer.compare(encode(a as unknown as Value), encode(b as unknown as Value)) === 0;
}
