/** The plain-text report: sections of lines, 100 columns, nothing that depends on a terminal. */
import { printPath } from '../../store/format/tree.ts';
import type { Close } from '../contracts/close.ts';
import type { Full } from '../contracts/kit.ts';
import type { Receipt } from '../contracts/receipt.ts';
import type { Redaction } from '../contracts/redaction.ts';
import type { Start } from '../contracts/start.ts';
import type { Study } from '../contracts/study.ts';
import type { Summary } from '../contracts/summary.ts';
import { decimalOfMicros } from '../cost.ts';
import { full, type Input } from '../rule.ts';
import { downTo, rateText, upTo } from './numbers.ts';
import { table } from './table.ts';

export interface ReportInputs {
  readonly close: Input<Close>;
  readonly summary: Input<Summary>;
  readonly study: Input<Study>;
  readonly redactions: readonly Input<Redaction>[];
  readonly starts: readonly Input<Start>[];
  readonly receipts: readonly Input<Receipt>[];
}

/** The whole report, ending in a line end. */
export function textReport(inputs: ReportInputs): string {
  const summary = full(inputs.summary);
  const sections = [
    header(inputs, summary),
    setting(inputs),
    runs(summary),
    outcomes(summary),
    comparisons(summary),
    limits(inputs.study.value),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function header({ study, close }: ReportInputs, { scripted }: Full<Summary>): string[] {
  const { id, stage, version } = study.value;
  const model = scripted
    ? 'SCRIPTED MODEL: answers come from data; nothing here measures a model'
    : 'real model';
  return [
    `study       ${id}, version ${version}, stage ${stage}`,
    `model       ${model}`,
    `study cid   ${study.cid}`,
    `close       ${close.cid}, log size ${close.value.size}`,
    ...study.value.hypotheses.map((text, i) => `${i === 0 ? 'hypotheses ' : '           '} ${text}`),
  ];
}

function setting({ study, redactions, starts, receipts }: ReportInputs): string[] {
  const removed = redactions.flatMap((each) => full(each).removed.map(({ path }) => printPath(path)));
  const executors =
    [...new Set(starts.map(({ value }) => value.executor))].sort().join(', ') || 'nothing ran';
  const spent = receipts.reduce((total, { value }) => total + value.spend.micros, 0);
  const { network, prices, builds, acceptances } = study.value;
  const named = Object.entries(builds).map(([name, build]) => `${name} ${build.version}`);
  return [
    'history     Git history is in no arm: a corpus is one commit without its repository',
    `redacted    ${removed.length === 0 ? 'nothing' : [...new Set(removed)].sort().join(', ')}`,
    `accepted    ${acceptances.length} findings accepted by a person`,
    `isolation   ${executors}; network ${network}`,
    `spend       ${decimalOfMicros(spent)} ${prices.currency}`,
    `builds      ${named.length === 0 ? 'none registered' : named.join(', ')}`,
  ];
}

function runs({ counts }: Full<Summary>): string[] {
  const rows = Object.entries(counts.arms).map(([arm, each]) => [
    arm,
    String(each.planned),
    String(each.started),
    listed(each.statuses),
    String(each.admitted),
    listed(each.excluded),
    String(each.undecided),
  ]);
  const head = ['arm', 'planned', 'started', 'statuses', 'admitted', 'excluded', 'undecided'];
  return [`runs        ${counts.planned} planned, ${counts.started} started`, ...table(head, rows)];
}

const listed = (counts: Readonly<Record<string, number | undefined>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ') || '-';

function outcomes({ tasks }: Full<Summary>): string[] {
  const rows = tasks.flatMap(({ challenge, arms }) =>
    Object.entries(arms).map(([arm, each]) => [
      challenge,
      arm,
      `${each.delivered}/${each.runs}`,
      `${each.used}/${each.runs}`,
      `${each.solved}/${each.runs}`,
      each.outcomes.map((outcome) => (outcome === null ? '.' : String(outcome))).join(' '),
    ]),
  );
  return ['outcomes by task', ...table(['task', 'arm', 'delivered', 'used', 'solved', 'by epoch'], rows)];
}

function comparisons({ comparisons: all }: Full<Summary>): string[] {
  return ['comparisons', ...all.flatMap((each) => ['', ...comparison(each)])];
}

function comparison(each: Full<Summary>['comparisons'][number]): string[] {
  const { both, treatmentOnly, controlOnly, neither } = each.table;
  const ends = ({ interval }: typeof each.treatmentRate) =>
    `[${downTo(interval.lo, 3)}, ${upTo(interval.hi, 3)}]`;
  const standing = each.standing === 'registered' ? 'registered' : 'not registered: exploratory';
  return [
    `comparison  ${each.id}: ${each.treatment} and ${each.control} (${standing})`,
    `units       ${each.tasks} tasks, ${each.pairs} pairs; ${each.informativeTasks} tasks informative`,
    `pass rate   ${rateText(each.treatmentRate)} and ${rateText(each.controlRate)}`,
    `            95% Clopper-Pearson ${ends(each.treatmentRate)} and ${ends(each.controlRate)}`,
    `difference  ${each.difference} per task`,
    `table       both ${both}, ${each.treatment} only ${treatmentOnly}, ${each.control} only ${controlOnly}, neither ${neither}`,
    `these tasks exact McNemar p = ${each.mcnemar.p}, mid-p ${each.mcnemar.midP}`,
  ];
}

function limits({ scopeLimits }: Study): string[] {
  return [
    'limits',
    ...scopeLimits.map((text) => `- ${text}`),
    '- The log shows that logged runs were not dropped, not that nobody ran outside it.',
  ];
}
