/**
 * Order in time as the log gives it: the study and its checkpoint first, every record after what it follows from, every
 * start under the study version then in force and in the registered order of its arms, the close last.
 */
import type { Cid } from '../../store/format/cid.ts';
import { counted } from '../../store/format/words.ts';
import type { Close } from '../contracts/close.ts';
import type { AnyRecord } from '../contracts/table.ts';
import type { Input } from '../rule.ts';
import { boundFields, changedFields, fieldsOfPastRuns } from '../schedule/amend.ts';
import { seededOrder } from '../schedule/order.ts';
import type { Faults } from './fault.ts';
import type { Library } from './library.ts';
import type { ReplayedLog } from './log.ts';
import { type Place, placesOf } from './places.ts';

export function checkOrder(log: ReplayedLog, close: Input<Close>, library: Library, faults: Faults): void {
  const studies = placesOf('study', log, library);
  const starts = placesOf('start', log, library);
  const amendments = placesOf('amendment', log, library);
  checkVersions(studies, amendments, faults);
  checkAmendments(studies, amendments, starts, faults);
  checkExclusions(log, starts, library, faults);
  checkDeviations(log, library, faults);
  checkC0(log, starts, faults);
  checkBefore(log, library, faults);
  for (const start of starts) checkInForce(start.value.study['/'], start.index, studies, amendments, faults);
  checkInForce(close.value.study['/'], close.value.size, studies, amendments, faults);
  checkArms(starts, library, faults);
  checkClose(log, close, faults);
}

/** The first version at leaf 0; every later one of the same family, and led to by an amendment. */
function checkVersions(
  studies: readonly Place<'study'>[],
  amendments: readonly Place<'amendment'>[],
  faults: Faults,
): void {
  const [first, ...later] = studies;
  if (first?.index !== 0 || first.value.family !== undefined) {
    faults.add('order', 'leaf 0', 'the log does not begin with the first version of its study');
  }
  for (const { index, value } of later) {
    if (value.family?.['/'] !== first?.cid) faults.add('order', `leaf ${index}`, 'a study of another family');
    if (first?.value.derivation !== undefined && value.stage !== 'exploratory')
      faults.add('order', `leaf ${index}`, `an exploration of a fixture becomes ${value.stage}`);
  }
  for (const { index, value } of amendments) {
    const after = studies.find(({ cid }) => cid === value.after['/'])?.value;
    if (after !== undefined && after.previous?.['/'] !== value.before['/'])
      faults.add('order', `leaf ${index}`, 'an amendment to a version that follows another one');
  }
}

/** What results are computed by stands once a run has begun; what plans are bound to, always. */
function checkAmendments(
  studies: readonly Place<'study'>[],
  amendments: readonly Place<'amendment'>[],
  [earliest]: readonly Place<'start'>[],
  faults: Faults,
): void {
  const version = (cid: Cid) => studies.find((study) => study.cid === cid)?.value;
  for (const { index, value } of amendments) {
    const [before, after] = [version(value.before['/']), version(value.after['/'])];
    if (before === undefined || after === undefined) continue;
    const changed = changedFields(before, after);
    const late = earliest !== undefined && earliest.index < index;
    const fields = late ? fieldsOfPastRuns(changed) : boundFields(changed);
    const when = late ? 'after a run had begun' : 'to which plans are bound';
    if (fields.length > 0) faults.add('order', `leaf ${index}`, `changes ${fields.join(', ')} ${when}`);
  }
}

/** A task leaves the study before the first of its runs. */
function checkExclusions(
  log: ReplayedLog,
  starts: readonly Place<'start'>[],
  library: Library,
  faults: Faults,
): void {
  for (const { index, value } of placesOf('task_exclusion', log, library)) {
    const begun = starts.find((start) => {
      const plan = library.records.get(start.value.plan['/']);
      const of = plan?.kind === 'plan' && 'shared' in plan ? plan.shared.challenge['/'] : undefined;
      return start.index < index && of === value.challenge['/'];
    });
    if (begun !== undefined)
      faults.add('order', `leaf ${index}`, `a task leaves the study after leaf ${begun.index}, a run of it`);
  }
}

/** A deviation about a run stands before the close that follows the run. */
function checkDeviations(log: ReplayedLog, library: Library, faults: Faults): void {
  const indexOf = new Map<Cid, number>(log.leaves.map(({ cid }, i) => [cid, i]));
  const closes = placesOf('close', log, library);
  for (const { index, value } of placesOf('deviation', log, library)) {
    const about = indexOf.get((value.receipt ?? value.start)?.['/'] as Cid);
    const closed = closes.find((close) => about !== undefined && about < close.index && close.index < index);
    if (closed !== undefined)
      faults.add(
        'order',
        `leaf ${index}`,
        `a deviation about leaf ${about}, which leaf ${closed.index} closed before`,
      );
  }
}

function checkC0({ c0 }: ReplayedLog, [earliest]: readonly Place<'start'>[], faults: Faults): void {
  if (c0 !== undefined && c0.size < 1) faults.add('order', 'C0', 'covers no leaf: not the study either');
  if (earliest !== undefined && (c0 === undefined || c0.size > earliest.index)) {
    const at = `leaf ${earliest.index}`;
    faults.add('order', at, 'no checkpoint covers the study and stands before the first start');
  }
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
    case 'admission': {
      const superseded = record.supersedes === undefined ? [] : [record.supersedes['/']];
      const subject = 'receipt' in record.subject ? [record.subject.receipt['/']] : [];
      return [record.study['/'], ...subject, ...superseded];
    }
    case 'override': {
      const superseded = record.supersedes === undefined ? [] : [record.supersedes['/']];
      return [record.study['/'], record.admission['/'], ...superseded];
    }
    case 'close':
    case 'deviation':
    case 'addendum':
    case 'task_exclusion':
      return [record.study['/']];
    default:
      return [];
  }
}

/** The version that a record names is the one to which the amendments before it lead. */
function checkInForce(
  study: Cid,
  index: number,
  studies: readonly Place<'study'>[],
  amendments: readonly Place<'amendment'>[],
  faults: Faults,
): void {
  let current = studies[0]?.cid;
  for (const { value } of amendments.filter((each) => each.index < index))
    if (value.before['/'] === current) current = value.after['/'];
  if (current !== undefined && study !== current)
    faults.add('order', `leaf ${index}`, `under study ${study}, while ${current} was in force`);
}

/** The arms of one attempt begin in the order that the study's seed gives. */
function checkArms(starts: readonly Place<'start'>[], library: Library, faults: Faults): void {
  const reached = new Map<string, number>();
  for (const { index, value } of starts) {
    const plan = library.records.get(value.plan['/']);
    const study = library.records.get(value.study['/']);
    if (plan?.kind !== 'plan' || !('arms' in plan) || study?.kind !== 'study') continue;
    const order = seededOrder(study.orderSeed, value.plan['/'], Object.keys(plan.arms));
    const attempt = `${value.plan['/']} ${value.attempt}`;
    const place = order.indexOf(value.arm);
    if (place < (reached.get(attempt) ?? 0))
      faults.add('order', `leaf ${index}`, `${value.arm} begins after its turn: ${order.join(', ')}`);
    reached.set(attempt, Math.max(place, reached.get(attempt) ?? 0));
  }
}

function checkClose({ leaves, lines }: ReplayedLog, { cid, value }: Input<Close>, faults: Faults): void {
  const at = leaves.findIndex((leaf) => leaf.cid === cid);
  if (at < 0) faults.add('order', 'close', `${cid} has no leaf below C1`);
  else if (at !== value.size)
    faults.add(
      'order',
      `leaf ${at}`,
      `the close covers ${counted(value.size, 'leaf', 'leaves')} and stands at ${at}`,
    );
  else if (at !== lines.length - 1)
    faults.add('order', `leaf ${at}`, 'records stand after the close and below C1');
}
