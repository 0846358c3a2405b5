/**
 * Decisions about one run: its admission, and an override against the mechanical decision.
 * Promises: a later decision names the one that it supersedes, so that one is in effect; what is excluded has a reason
 * of the closed list, none about outcomes.
 */
import { inEffect } from '../../rules/close/members.ts';
import type { Admission } from '../../rules/contracts/admission.ts';
import type { Override } from '../../rules/contracts/override.ts';
import type { Kind, RecordOf } from '../../rules/contracts/table.ts';
import { eligibleV1 } from '../../rules/eligible/v1.ts';
import type { Input } from '../../rules/rule.ts';
import { derivedBy, viewAs } from '../../rules/runs.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { viewOf } from '../view.ts';
import type { Who } from './admit.ts';

/** Admits a receipt, or excludes it where a reason is given. Throws E_GATE where it has no eligibility yet. */
export async function admitReceipt(
  store: Store,
  receipt: Cid,
  by: Who,
  reason?: NonNullable<Admission['reason']>,
): Promise<Cid> {
  const eligibility = await derivedBy(eligibleV1, receipt, viewOf(store));
  if (eligibility === undefined)
    fail('E_GATE', { where: receipt, wanted: 'an eligibility', found: 'none yet' });
  const before = await lastOf(store, receipt, 'admission');
  const record = {
    kind: 'admission',
    v: 1,
    ...by,
    study: link(await studyOf(store, receipt)),
    subject: { receipt: link(receipt), eligibility: link(eligibility.cid) },
    decision: reason === undefined ? 'admitted' : 'excluded',
    ...(reason === undefined ? {} : { reason }),
    ...(before === undefined ? {} : { supersedes: link(before.cid) }),
  };
  return (await store.record(record as unknown as Value)).cid;
}

/** Decides against the admission in effect. Throws E_GATE where there is none, or where it says the same. */
export async function overrideReceipt(
  store: Store,
  receipt: Cid,
  decision: Override['decision'],
  by: Who,
): Promise<Cid> {
  const admission = await lastOf(store, receipt, 'admission');
  if (admission === undefined)
    fail('E_GATE', { where: receipt, wanted: 'an admission to override', found: 'none' });
  const before = await lastOf(store, receipt, 'override');
  const standing = before ?? admission;
  if (standing.value.decision === decision)
    fail('E_GATE', { where: receipt, wanted: 'another decision', found: `${decision} already` });
  const record = {
    kind: 'override',
    v: 1,
    ...by,
    study: link(await studyOf(store, receipt)),
    subject: link(receipt),
    admission: link(admission.cid),
    decision,
    ...(before === undefined ? {} : { supersedes: link(before.cid) }),
  };
  return (await store.record(record as unknown as Value)).cid;
}

async function studyOf(store: Store, receipt: Cid): Promise<Cid> {
  const view = viewOf(store);
  const { start } = await viewAs('receipt', receipt, view);
  return (await viewAs('start', start['/'], view)).study['/'];
}

/** The decision about a receipt that no other supersedes. */
async function lastOf<K extends Kind & ('admission' | 'override')>(store: Store, receipt: Cid, kind: K) {
  const view = viewOf(store);
  const all: Input<RecordOf<K>>[] = [];
  for (const cid of await view.linkers(receipt, kind))
    all.push({ cid, value: await viewAs(kind, cid, view) });
  return inEffect(all as Input<Admission | Override>[]).at(-1) as Input<RecordOf<K>> | undefined;
}
