/**
 * The members of a close: the records in its entries, and what derives from them, found by derivation.
 * Promises: decisions are followed to the one in effect; nothing that came after the close is looked at.
 */
import type { Cid } from '../../store/format/cid.ts';
import type { Admission } from '../contracts/admission.ts';
import type { Close } from '../contracts/close.ts';
import type { Override } from '../contracts/override.ts';
import { eligibleV1 } from '../eligible/v1.ts';
import { gradeV1 } from '../grade/v1.ts';
import { parityV1 } from '../parity/v1.ts';
import type { Input, View } from '../rule.ts';
import { derivedBy, viewAs } from '../runs.ts';
import { type Standing, standingPlans } from '../schedule/standing.ts';
import { scrubV1 } from '../scrub/v1.ts';
import { type Leaf, parseEntries } from './entries.ts';

export interface Members {
  readonly leaves: readonly Leaf[];
  readonly standing: Standing;
  readonly starts: readonly Cid[];
  readonly receipts: readonly Cid[];
  readonly grades: readonly Cid[];
  readonly parities: readonly Cid[];
  readonly eligibilities: readonly Cid[];
  readonly admissions: readonly Cid[];
  readonly overrides: readonly Cid[];
}

/** Everything that a close covers. */
export async function membersOf(close: Close, view: View): Promise<Members> {
  const leaves = parseEntries(await view.bytes(close.entries['/']));
  const of = (kind: string) => leaves.filter((leaf) => leaf.kind === kind).map(({ cid }) => cid);
  const study = await viewAs('study', close.study['/'], view);
  const first = study.family?.['/'] ?? close.study['/'];
  const receipts = of('receipt');
  const above = await derivedAbove(receipts, view);
  return {
    leaves,
    standing: await standingPlans(first, { cid: close.study['/'], value: study }, view),
    starts: of('start'),
    receipts,
    ...above,
    admissions: of('admission'),
    overrides: of('override'),
  };
}

async function derivedAbove(receipts: readonly Cid[], view: View) {
  const found = { grades: new Set<Cid>(), parities: new Set<Cid>(), eligibilities: new Set<Cid>() };
  for (const receipt of receipts) {
    const scrub = await derivedBy(scrubV1, receipt, view);
    const grade = scrub === undefined ? undefined : await derivedBy(gradeV1, receipt, view);
    const parity = await derivedBy(parityV1, receipt, view);
    const eligibility = await derivedBy(eligibleV1, receipt, view);
    if (grade !== undefined) found.grades.add(grade.cid);
    if (parity !== undefined) found.parities.add(parity.cid);
    if (eligibility !== undefined) found.eligibilities.add(eligibility.cid);
  }
  const { grades, parities, eligibilities } = found;
  return { grades: [...grades], parities: [...parities], eligibilities: [...eligibilities] };
}

/** The decision in effect for each subject: the one that no other supersedes. */
export function inEffect<T extends Admission | Override>(decisions: readonly Input<T>[]): Input<T>[] {
  const superseded = new Set(decisions.map(({ value }) => value.supersedes?.['/']));
  return decisions.filter(({ cid }) => !superseded.has(cid));
}

/** The receipt that a decision is about; undefined for one about a plan. */
export function receiptOfDecision(decision: Admission): Cid | undefined {
  return 'receipt' in decision.subject ? decision.subject.receipt['/'] : undefined;
}
