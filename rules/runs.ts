/**
 * How rules about runs find their inputs: from a receipt to its start and plan, from a scrub to published bytes.
 * Promises: absent means not there yet; nothing is guessed.
 */
import { type Cid, link } from '../store/format/cid.ts';
import { fail } from '../store/format/errors.ts';
import { derivationOf, type Full } from './contracts/kit.ts';
import type { Plan } from './contracts/plan.ts';
import { type Receipt, type Status, VOID_STATUSES } from './contracts/receipt.ts';
import type { Scrub } from './contracts/scrub.ts';
import type { Start } from './contracts/start.ts';
import type { Kind, RecordOf } from './contracts/table.ts';
import type { Input, View } from './rule.ts';

/** A receipt with what it is the receipt of. */
export interface Run {
  readonly receiptCid: Cid;
  readonly receipt: Receipt;
  readonly startCid: Cid;
  readonly start: Start;
  readonly planCid: Cid;
  readonly plan: Full<Plan>;
}

const VOID: ReadonlySet<Status> = new Set(VOID_STATUSES);

/** Whether the status is a fault of ours, which voids the attempt. */
export const isVoid = (status: Status): boolean => VOID.has(status);

/** Reads a record of a known kind through a view. Throws E_KIND. */
export async function viewAs<K extends Kind>(kind: K, cid: Cid, view: View): Promise<RecordOf<K>> {
  const record = await view.record(cid);
  if (record.kind !== kind) fail('E_KIND', { where: cid, wanted: kind, found: record.kind });
  return record as RecordOf<K>;
}

/** The run that a receipt closes; undefined where its plan was refused (no such start can exist). */
export async function runOf(receiptCid: Cid, view: View): Promise<Run | undefined> {
  const receipt = await viewAs('receipt', receiptCid, view);
  const startCid = receipt.start['/'];
  const start = await viewAs('start', startCid, view);
  const planCid = start.plan['/'];
  const plan = await viewAs('plan', planCid, view);
  return 'shared' in plan ? { receiptCid, receipt, startCid, start, planCid, plan } : undefined;
}

/** The run that a scrub is about: the subject of every rule that reads published evidence. */
export async function runOfScrub(subject: Input<unknown>, view: View): Promise<Run | undefined> {
  const scrub = subject.value as Scrub;
  return 'receipt' in scrub ? runOf(scrub.receipt['/'], view) : undefined;
}

/** One start of an attempt and, where there is one, its receipt. */
export interface Begun {
  readonly arm: string;
  readonly start: Input<Start>;
  readonly receipt: Input<Receipt> | undefined;
}

/** Every start of a plan, with its receipt, by attempt. */
export async function attemptsOf(planCid: Cid, view: View): Promise<ReadonlyMap<number, readonly Begun[]>> {
  const attempts = new Map<number, Begun[]>();
  for (const cid of await view.linkers(planCid, 'start')) {
    const start = await viewAs('start', cid, view);
    const begun = { arm: start.arm, start: { cid, value: start }, receipt: await receiptOf(cid, view) };
    attempts.set(start.attempt, [...(attempts.get(start.attempt) ?? []), begun]);
  }
  return attempts;
}

async function receiptOf(startCid: Cid, view: View): Promise<Input<Receipt> | undefined> {
  const [cid] = await view.linkers(startCid, 'receipt');
  return cid === undefined ? undefined : { cid, value: await viewAs('receipt', cid, view) };
}

/** An attempt is over once every arm has a receipt, or one receipt voided it and no start is without one. */
export function attemptOver(begun: readonly Begun[], arms: readonly string[]): boolean {
  const receipts = begun.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt.value]));
  if (receipts.length < begun.length) return false;
  return (
    receipts.some(({ status }) => isVoid(status)) ||
    arms.every((arm) => begun.some((each) => each.arm === arm))
  );
}

export const links = (cids: readonly Cid[]) => [...cids].sort().map((cid) => link(cid));

/** The record that one rule version gave for an input, where it is there already. */
export async function derivedBy<K extends Kind>(
  rule: { readonly name: string; readonly v: number; readonly gives: K },
  input: Cid,
  view: View,
): Promise<Input<RecordOf<K>> | undefined> {
  for (const cid of await view.linkers(input, rule.gives)) {
    const value = await viewAs(rule.gives, cid, view);
    const derivation = derivationOf(value);
    if (derivation?.rule === rule.name && derivation.v === rule.v) return { cid, value };
  }
  return undefined;
}

/** The single input of that name which a derived record was derived from. */
export function inputOf(value: { readonly kind: string }, name: string): Cid | undefined {
  const bound = derivationOf(value)?.inputs[name];
  return bound === undefined || Array.isArray(bound) ? undefined : bound['/'];
}
