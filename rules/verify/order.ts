/**
 * Order in time as the log gives it, and the bijections: plan, start, receipt, admission.
 * Promises: a run that was planned, started or decided has its counterpart or is named; a start before its study, an
 * attempt too many, an arm that is not the plan's: each is named.
 */
import type { Cid } from '../../store/format/cid.ts';
import { inEffect, receiptOfDecision } from '../close/members.ts';
import type { Admission } from '../contracts/admission.ts';
import type { Close } from '../contracts/close.ts';
import type { AnyRecord, Kind, RecordOf } from '../contracts/table.ts';
import type { Input, View } from '../rule.ts';
import { isVoid } from '../runs.ts';
import { progressOf } from '../schedule/progress.ts';
import { standingPlans } from '../schedule/standing.ts';
import type { Faults } from './fault.ts';
import type { Library } from './library.ts';
import type { ReplayedLog } from './log.ts';

interface Place<K extends Kind> extends Input<RecordOf<K>> {
  readonly index: number;
}

/** The log's records of one kind with their leaf numbers. */
function placesOf<K extends Kind>(kind: K, log: ReplayedLog, library: Library): Place<K>[] {
  return log.leaves.flatMap((leaf, index) => {
    const record = library.records.get(leaf.cid);
    return leaf.kind === kind && record?.kind === kind
      ? [{ index, cid: leaf.cid, value: record as RecordOf<K> }]
      : [];
  });
}

export async function checkOrder(
  log: ReplayedLog,
  close: Input<Close>,
  library: Library,
  faults: Faults,
): Promise<void> {
  const studies = placesOf('study', log, library);
  const [first] = studies;
  if (first?.index !== 0 || first.value.family !== undefined) {
    faults.add('order', 'leaf 0', 'the log does not begin with the first version of its study');
  }
  const starts = placesOf('start', log, library);
  const [earliest] = starts;
  if (earliest !== undefined && (log.c0 === undefined || log.c0.size > earliest.index)) {
    faults.add(
      'order',
      `leaf ${earliest.index}`,
      'no checkpoint covers the study and stands before the first start',
    );
  }
  checkBefore(log, library, faults);
  checkClose(log, close, faults);
  checkStarts(starts, studies, library, faults);
  checkReceipts(starts, placesOf('receipt', log, library), faults);
  checkAdmissions(placesOf('receipt', log, library), placesOf('admission', log, library), library, faults);
  await checkPlans(close, placesOf('admission', log, library), library.view, faults);
}

/** Every family-log record that a record links stands before it. */
function checkBefore({ leaves }: ReplayedLog, library: Library, faults: Faults): void {
  const indexOf = new Map<Cid, number>(leaves.map(({ cid }, i) => [cid, i]));
  for (const [i, { cid, kind }] of leaves.entries()) {
    for (const target of linkedInLog(library.records.get(cid))) {
      const at = indexOf.get(target);
      if (at === undefined)
        faults.add('order', `leaf ${i}`, `a ${kind} before ${target}, which is not in the log`);
      else if (at >= i)
        faults.add('order', `leaf ${i}`, `a ${kind} stands before leaf ${at}, which it follows from`);
    }
  }
}

function linkedInLog(record: AnyRecord | undefined): Cid[] {
  switch (record?.kind) {
    case 'start':
      return [record.study['/']];
    case 'receipt':
      return [record.start['/']];
    case 'amendment':
      return [record.before['/'], record.after['/']];
    case 'admission':
      return 'receipt' in record.subject
        ? [record.study['/'], record.subject.receipt['/']]
        : [record.study['/']];
    case 'override':
      return [record.study['/'], record.admission['/']];
    case 'close':
    case 'deviation':
    case 'addendum':
    case 'task_exclusion':
      return [record.study['/']];
    default:
      return [];
  }
}

function checkClose({ leaves, lines }: ReplayedLog, { cid, value }: Input<Close>, faults: Faults): void {
  const at = leaves.findIndex((leaf) => leaf.cid === cid);
  if (at < 0) faults.add('order', 'close', `${cid} has no leaf below C1`);
  else if (at < value.size)
    faults.add('order', `leaf ${at}`, `the close covers ${value.size} leaves and stands at ${at}`);
  else if (at !== lines.length - 1)
    faults.add('order', `leaf ${at}`, 'records stand after the close and below C1');
}

type Starts = readonly Place<'start'>[];

function checkStarts(
  starts: Starts,
  studies: readonly Place<'study'>[],
  library: Library,
  faults: Faults,
): void {
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
    if (study !== undefined && value.attempt > study.value.attempts) {
      faults.add('bijection', at, `attempt ${value.attempt}, ${study.value.attempts} registered`);
    }
  }
}

function checkReceipts(starts: Starts, receipts: readonly Place<'receipt'>[], faults: Faults): void {
  for (const { index, cid, value } of starts) {
    const own = receipts.filter((receipt) => receipt.value.start['/'] === cid);
    if (own.length !== 1)
      faults.add('bijection', `leaf ${index}`, `start of ${value.arm} has ${own.length} receipts`);
    const earlier = starts.filter(
      (each) => each.value.plan['/'] === value.plan['/'] && each.value.attempt === value.attempt - 1,
    );
    const voided = earlier.some((each) =>
      receipts.some((receipt) => receipt.value.start['/'] === each.cid && isVoid(receipt.value.status)),
    );
    if (value.attempt > 1 && !voided) {
      faults.add('bijection', `leaf ${index}`, `attempt ${value.attempt} follows one that is not void`);
    }
  }
  for (const { index, value } of receipts) {
    if (!starts.some(({ cid }) => cid === value.start['/']))
      faults.add('bijection', `leaf ${index}`, 'a receipt of no start');
  }
}

function checkAdmissions(
  receipts: readonly Place<'receipt'>[],
  admissions: readonly Place<'admission'>[],
  library: Library,
  faults: Faults,
): void {
  const effective = inEffect<Admission>(admissions);
  for (const { index, cid } of receipts) {
    const own = effective.filter(({ value }) => receiptOfDecision(value) === cid);
    if (own.length !== 1)
      faults.add('bijection', `leaf ${index}`, `receipt ${cid} has ${own.length} decisions in effect`);
  }
  for (const { index, value } of admissions) {
    const { subject, decision, reason } = value;
    if ((decision === 'admitted') !== (reason === undefined)) {
      faults.add('bijection', `leaf ${index}`, 'an exclusion needs a reason, an admission has none');
    }
    if (!('receipt' in subject)) continue;
    const judged = library.records.get(subject.eligibility['/']);
    if (judged?.kind !== 'eligibility' || !('eligible' in judged)) continue;
    if (judged.receipt['/'] !== subject.receipt['/']) {
      faults.add('bijection', `leaf ${index}`, 'the eligibility is of another receipt');
    }
    if (decision === 'admitted' && !judged.eligible) {
      faults.add('bijection', `leaf ${index}`, `admitted though ineligible: ${judged.reasons.join(', ')}`);
    }
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
    admissions.flatMap(({ value: each }) => ('plan' in each.subject ? [each.subject.plan['/']] : [])),
  );
  for (const plan of standing.plans) {
    const progress = await progressOf(plan, study, view);
    const over = progress.state === 'done' || progress.state === 'exhausted';
    if (!over && !excluded.has(plan.cid)) {
      faults.add(
        'bijection',
        plan.cid,
        `planned, and ${progress.state} at the close, with no decision to exclude it`,
      );
    }
  }
}
