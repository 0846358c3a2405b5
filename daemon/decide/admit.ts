/**
 * Admission: a decision by a person; here the mechanical part of it, for every run that has an eligibility and no
 * decision yet.
 * Promises: an outcome is never looked at; what is not eligible is excluded with a reason of the closed list.
 */

import type { Admission } from '../../rules/contracts/admission.ts';
import type { Eligibility } from '../../rules/contracts/eligibility.ts';
import type { Full } from '../../rules/contracts/kit.ts';
import { isRefused } from '../../rules/contracts/kit.ts';
import { eligibleV1 } from '../../rules/eligible/v1.ts';
import { derivedBy, viewAs } from '../../rules/runs.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import type { Store } from '../../store/store.ts';
import { familyOf } from '../family.ts';
import { viewOf } from '../view.ts';

export interface Admitted {
  readonly receipt: Cid;
  readonly admission: Cid;
  readonly decision: Admission['decision'];
  readonly reason?: Admission['reason'];
}

export interface Who {
  readonly who: string;
  readonly why: string;
  /** Whether the person has seen any outcome of this study. */
  readonly outcomesVisible: boolean;
}

/** Decides every undecided receipt of a family by its eligibility alone. Gives what was decided. */
export async function admitEligible(store: Store, family: Cid, by: Who): Promise<Admitted[]> {
  const view = viewOf(store);
  const decided: Admitted[] = [];
  for (const receipt of await view.byKind('receipt')) {
    const { study } = await viewAs('start', (await viewAs('receipt', receipt, view)).start['/'], view);
    if ((await familyOf(store, study['/'])) !== family) continue;
    if ((await view.linkers(receipt, 'admission')).length > 0) continue;
    const eligibility = await derivedBy(eligibleV1, receipt, view);
    if (eligibility === undefined || isRefused(eligibility.value)) continue;
    decided.push(await admitOne(store, receipt, { cid: eligibility.cid, value: eligibility.value }, by));
  }
  return decided;
}

interface Judged {
  readonly cid: Cid;
  readonly value: Full<Eligibility>;
}

async function admitOne(store: Store, receipt: Cid, { cid, value }: Judged, by: Who): Promise<Admitted> {
  const reason = value.eligible ? undefined : reasonFor(value.reasons);
  const decision = value.eligible ? 'admitted' : 'excluded';
  const record = {
    kind: 'admission',
    v: 1,
    ...by,
    study: value.study,
    subject: { receipt: link(receipt), eligibility: link(cid) },
    decision,
    ...(reason === undefined ? {} : { reason }),
  };
  const admission = (await store.record(record as unknown as Value)).cid;
  return reason === undefined ? { receipt, admission, decision } : { receipt, admission, decision, reason };
}

function reasonFor(reasons: Full<Eligibility>['reasons']): NonNullable<Admission['reason']> {
  if (reasons.includes('void-status')) return 'void';
  if (reasons.includes('certification-finding')) return 'certification-finding';
  if (reasons.includes('parity-finding')) return 'parity-finding';
  return 'ineligible';
}
