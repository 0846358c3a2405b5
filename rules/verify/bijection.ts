/**
 * The bijections: plan, start, receipt, admission.
 * Promises: a run that was planned, started or decided has its counterpart or is named, and so is an attempt too many,
 * an arm that is not the plan's, an admission of what is not eligible, and an exclusion whose reason the records do not
 * bear out.
 */
import type { Cid } from '../../store/format/cid.ts';
import { inEffect, receiptOfDecision } from '../close/members.ts';
import type { Admission } from '../contracts/admission.ts';
import type { Close } from '../contracts/close.ts';
import type { Eligibility } from '../contracts/eligibility.ts';
import type { Full } from '../contracts/kit.ts';
import type { Input, View } from '../rule.ts';
import { isVoid } from '../runs.ts';
import { progressOf } from '../schedule/progress.ts';
import { standingPlans } from '../schedule/standing.ts';
import type { Faults } from './fault.ts';
import type { Library } from './library.ts';
import type { ReplayedLog } from './log.ts';
import { type Place, placesOf } from './places.ts';

type Starts = readonly Place<'start'>[];
type Receipts = readonly Place<'receipt'>[];

export async function checkBijections(
  log: ReplayedLog,
  close: Input<Close>,
  library: Library,
  faults: Faults,
): Promise<void> {
  const starts = placesOf('start', log, library);
  const receipts = placesOf('receipt', log, library);
  const admissions = placesOf('admission', log, library);
  checkStarts(starts, log, library, faults);
  checkReceipts(starts, receipts, faults);
  const voids = voidsOf(starts, receipts);
  for (const start of starts) checkAttempt(start, voids, faults);
  checkDecided(receipts, admissions, faults);
  for (const admission of admissions) checkAdmission(admission, log, library, faults);
  checkOverrides(log, library, faults);
  await checkPlans(close, admissions, library.view, faults);
}

function checkStarts(starts: Starts, log: ReplayedLog, library: Library, faults: Faults): void {
  const studies = placesOf('study', log, library);
  const seen = new Set<string>();
  for (const { index, value } of starts) {
    const at = `leaf ${index}`;
    const plan = library.records.get(value.plan['/']);
    const study = studies.find(({ cid }) => cid === value.study['/']);
    const key = `${value.plan['/']} ${value.attempt} ${value.arm}`;
    if (seen.has(key)) faults.add('bijection', at, `a second start of ${key}`);
    seen.add(key);
    if (plan?.kind !== 'plan' || !('shared' in plan)) faults.add('bijection', at, 'a start of no plan');
    else if (!Object.hasOwn(plan.arms, value.arm))
      faults.add('bijection', at, `${value.arm} is no arm of its plan`);
    else if (plan.shared.family['/'] !== studies[0]?.cid)
      faults.add('bijection', at, 'a start of the plan of another study');
    if (study !== undefined && value.attempt > study.value.attempts) {
      faults.add('bijection', at, `attempt ${value.attempt}, ${study.value.attempts} registered`);
    }
  }
}

function checkReceipts(starts: Starts, receipts: Receipts, faults: Faults): void {
  const known = new Set(starts.map(({ cid }) => cid));
  const counted = tally(receipts.map(({ value }) => value.start['/']));
  for (const { index, cid, value } of starts) {
    const own = counted.get(cid) ?? 0;
    if (own !== 1) faults.add('bijection', `leaf ${index}`, `start of ${value.arm} has ${own} receipts`);
  }
  for (const { index, value } of receipts) {
    if (!known.has(value.start['/'])) faults.add('bijection', `leaf ${index}`, 'a receipt of no start');
  }
}

/** How often each stands in a list. */
function tally(cids: readonly (Cid | undefined)[]): ReadonlyMap<Cid | undefined, number> {
  const counted = new Map<Cid | undefined, number>();
  for (const cid of cids) counted.set(cid, (counted.get(cid) ?? 0) + 1);
  return counted;
}

/** The leaf of the first receipt that voids each attempt, by plan and number. */
type Voids = ReadonlyMap<string, number>;
const attemptKey = (plan: Cid, attempt: number): string => `${plan} ${attempt}`;

function voidsOf(starts: Starts, receipts: Receipts): Voids {
  const byCid = new Map(starts.map(({ cid, value }) => [cid, value]));
  const voids = new Map<string, number>();
  for (const { index, value } of receipts) {
    const start = byCid.get(value.start['/']);
    if (start === undefined || !isVoid(value.status)) continue;
    const key = attemptKey(start.plan['/'], start.attempt);
    if (!voids.has(key)) voids.set(key, index);
  }
  return voids;
}

/** A further attempt follows a void one; a void receipt ends its attempt at once (DESIGN section 2, Attempts). */
function checkAttempt({ index, value }: Place<'start'>, voids: Voids, faults: Faults): void {
  const { plan, attempt } = value;
  const voided = (number: number): boolean =>
    (voids.get(attemptKey(plan['/'], number)) ?? Number.POSITIVE_INFINITY) < index;
  if (attempt > 1 && !voided(attempt - 1))
    faults.add('bijection', `leaf ${index}`, `attempt ${attempt} follows one that is not void`);
  if (voided(attempt))
    faults.add('bijection', `leaf ${index}`, `attempt ${attempt} was void before this start`);
}

function checkDecided(receipts: Receipts, admissions: readonly Place<'admission'>[], faults: Faults): void {
  const known = new Set(receipts.map(({ cid }) => cid));
  const counted = tally(inEffect<Admission>(admissions).map(({ value }) => receiptOfDecision(value)));
  for (const { index, cid } of receipts) {
    const own = counted.get(cid) ?? 0;
    if (own !== 1) faults.add('bijection', `leaf ${index}`, `receipt ${cid} has ${own} decisions in effect`);
  }
  for (const { index, value } of admissions) {
    const receipt = receiptOfDecision(value);
    if (receipt !== undefined && !known.has(receipt))
      faults.add('bijection', `leaf ${index}`, `a decision about ${receipt}, which is no receipt here`);
  }
}

function checkAdmission(
  { index, value }: Place<'admission'>,
  log: ReplayedLog,
  library: Library,
  faults: Faults,
): void {
  const at = `leaf ${index}`;
  const { subject, decision, reason } = value;
  if ((decision === 'admitted') !== (reason === undefined)) {
    faults.add('bijection', at, 'an exclusion needs a reason, an admission has none');
  }
  const study = library.records.get(value.study['/']);
  if (reason !== undefined && study?.kind === 'study' && !study.exclusionReasons.includes(reason)) {
    faults.add('bijection', at, `excluded for ${reason}, which is not registered`);
  }
  if (!('receipt' in subject)) return;
  const judged = library.records.get(subject.eligibility['/']);
  if (judged?.kind !== 'eligibility' || !('eligible' in judged)) return;
  if (judged.receipt['/'] !== subject.receipt['/']) {
    faults.add('bijection', at, 'the eligibility is of another receipt');
  }
  if (decision === 'admitted' && !judged.eligible) {
    faults.add('bijection', at, `admitted though ineligible: ${judged.reasons.join(', ')}`);
  }
  if (reason !== undefined && !bornOut(reason, judged, log, library)) {
    faults.add('bijection', at, `excluded for ${reason}, which no record bears out`);
  }
}

/** Whether the records show what an exclusion gives as its reason. A defect is a person's finding: it is printed. */
function bornOut(
  reason: NonNullable<Admission['reason']>,
  judged: Full<Eligibility>,
  log: ReplayedLog,
  library: Library,
): boolean {
  const logged = (kind: 'task_exclusion' | 'amendment') => placesOf(kind, log, library).length > 0;
  switch (reason) {
    case 'ineligible':
      return !judged.eligible;
    case 'void':
      return judged.reasons.includes('void-status');
    case 'certification-finding':
    case 'parity-finding':
      return judged.reasons.includes(reason);
    case 'audit-mutation':
      return mutatedOutside(judged.receipt['/'], library);
    case 'task-excluded':
      return logged('task_exclusion');
    case 'withdrawn-by-amendment':
      return logged('amendment');
    case 'registered-defect':
      return true;
  }
}

function mutatedOutside(cid: Cid, { records }: Library): boolean {
  const receipt = records.get(cid);
  const link = receipt?.kind === 'receipt' ? receipt.audit?.['/'] : undefined;
  const audit = link === undefined ? undefined : records.get(link);
  return audit?.kind === 'audit' && 'outside' in audit && audit.outside > 0;
}

function checkOverrides(log: ReplayedLog, library: Library, faults: Faults): void {
  for (const { index, value } of placesOf('override', log, library)) {
    const admission = library.records.get(value.admission['/']);
    if (admission?.kind !== 'admission') continue;
    const { subject } = admission;
    const of = 'receipt' in subject ? subject.receipt['/'] : subject.plan['/'];
    if (of !== value.subject['/'])
      faults.add('bijection', `leaf ${index}`, 'an override of a decision about another subject');
  }
}

/** Every standing plan is done, exhausted, or excluded by a decision. */
async function checkPlans(
  { value }: Input<Close>,
  admissions: readonly Place<'admission'>[],
  view: View,
  faults: Faults,
): Promise<void> {
  const study = await view.record(value.study['/']).catch(() => undefined);
  if (study?.kind !== 'study') return;
  const first = study.family?.['/'] ?? value.study['/'];
  const standing = await standingPlans(first, { cid: value.study['/'], value: study }, view);
  const excluded = new Set(
    inEffect<Admission>(admissions).flatMap(({ value: each }) =>
      'plan' in each.subject && each.decision === 'excluded' ? [each.subject.plan['/']] : [],
    ),
  );
  for (const plan of standing.plans) {
    const progress = await progressOf(plan, study, view);
    const over = progress.state === 'done' || progress.state === 'exhausted';
    if (!over && !excluded.has(plan.cid)) {
      const detail = `planned, and ${progress.state} at the close, with no decision to exclude it`;
      faults.add('bijection', plan.cid, detail);
    }
  }
}
