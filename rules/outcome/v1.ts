/**
 * `outcome`: the verdict had again from the published report. The third of three layers: it implies neither delivery
 * nor use, and neither implies it.
 */
import { link } from '../../store/format/cid.ts';
import { encode, type Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Audit } from '../contracts/audit.ts';
import type { Challenge } from '../contracts/challenge.ts';
import type { Full } from '../contracts/kit.ts';
import type { Outcome } from '../contracts/outcome.ts';
import { OUTCOME_STATUSES, type Receipt, type Verdict } from '../contracts/receipt.ts';
import type { Scrub } from '../contracts/scrub.ts';
import { defineRule, full, type Input, one, optional } from '../rule.ts';
import { runOfScrub } from '../runs.ts';
import { blockOf, isHeld } from '../scrub/published.ts';
import { judge, readReport, rejudge } from './verdict.ts';

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
  async apply(inputs, { reader }) {
    return (await outcome(inputs, reader, undefined)).body;
  },
  /** Where the report is held back, what each test gave is taken from the record; all that follows is judged again. */
  recheck: (recorded, inputs, { reader }) => outcome(inputs, reader, recorded),
});

type Body = Omit<Full<Outcome>, 'kind' | 'v' | 'derivation'>;

interface Given {
  readonly receipt: Input<Receipt>;
  readonly scrub: Input<Scrub>;
  readonly audit: Input<Audit> | undefined;
  readonly challenge: Input<Challenge>;
}

async function outcome(
  given: Given,
  reader: Reader,
  recorded: Body | undefined,
): Promise<{ body: Body; withheld: number }> {
  const { receipt, scrub, challenge } = given;
  const { status, stopReason, verdict: written } = receipt.value;
  const judged = HAS_OUTCOME.has(status) ? await verdictOf(given, reader, recorded) : undefined;
  const verdict = judged?.verdict;
  const body = {
    receipt: link(receipt.cid),
    scrub: link(scrub.cid),
    challenge: link(challenge.cid),
    status,
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(verdict === undefined ? {} : { verdict }),
    agrees: same(verdict, written),
  };
  return { body, withheld: judged?.unseen === true ? 1 : 0 };
}

async function verdictOf(
  { receipt, scrub, audit, challenge }: Given,
  reader: Reader,
  recorded: Body | undefined,
): Promise<{ verdict: Verdict | undefined; unseen: boolean }> {
  const { verifier } = challenge.value;
  const report = full(scrub).files.find(({ name }) => name === 'report');
  if (report === undefined || audit === undefined)
    fail('E_RULE_INPUT', { where: receipt.cid, wanted: 'a report and an audit', found: 'none' });
  const { outside } = full({ cid: audit.cid, value: audit.value });
  const cid = blockOf(report.scrubbed);
  if (recorded !== undefined && isHeld(report) && !(await reader.has(cid))) {
    const said = recorded.verdict;
    return { verdict: said === undefined ? undefined : rejudge(verifier, said, outside), unseen: true };
  }
  return { verdict: judge(verifier, readReport(await reader.get(cid)), outside), unseen: false };
}

function same(a: Verdict | undefined, b: Verdict | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Buffer.compare(encode(a as unknown as Value), encode(b as unknown as Value)) === 0;
}
