/**
 * From a number of a summary to the receipts behind it.
 * Promises: pure; every run whose receipt took part in the number, and those whose absence did (excluded, void, without
 * an outcome), each with its standing. A pointer that leads nowhere is E_NOT_FOUND.
 */
import type { Cid } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { pointed } from '../claims/pointer.ts';
import type { Full } from '../contracts/kit.ts';
import type { Summary } from '../contracts/summary.ts';

export interface Behind {
  readonly receipt: Cid;
  readonly grade: Cid | undefined;
  readonly challenge: string;
  readonly arm: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly standing: Full<Summary>['runs'][number]['standing'];
}

type Run = Full<Summary>['runs'][number];
type Keep = (run: Run) => boolean;

/** The runs behind the value at `pointer` (RFC 6901), in the order of their starts. */
export function behind(summary: Full<Summary>, pointer: string): Behind[] {
  if (pointed(summary as unknown as Value, pointer) === undefined)
    fail('E_NOT_FOUND', { where: pointer, wanted: 'a field of the summary' });
  const keep = keepOf(summary, pointer.split('/').slice(1).map(unescaped));
  return summary.runs.filter(keep).map(({ receipt, grade, challenge, arm, epoch, attempt, standing }) => ({
    receipt: receipt['/'],
    grade: grade?.['/'],
    ...{ challenge, arm, epoch, attempt, standing },
  }));
}

const REASONS: Readonly<Record<string, string>> = {
  design: 'it follows from the registration alone, before any run',
  decisions: 'it is a decision in the log, under its own leaf and record',
  multiplicity: 'this registered test was not run, and stays in the family',
};

/** Why no run stands behind the value at `pointer`. */
export function reasonWithoutRuns(pointer: string): string {
  const [section = ''] = pointer.split('/').slice(1);
  if (Object.hasOwn(REASONS, section)) return REASONS[section] as string;
  return HEAD.has(section)
    ? 'it names what the summary is of'
    : 'none of the runs that it counts has a receipt';
}

const HEAD: ReadonlySet<string> = new Set(['close', 'study', 'kind', 'v', 'derivation']);
const unescaped = (part: string): string => part.replace(/~1/g, '/').replace(/~0/g, '~');
const EVERY: Keep = () => true;
const NONE: Keep = () => false;

function keepOf(summary: Full<Summary>, [section = '', index = '', ...rest]: readonly string[]): Keep {
  switch (section) {
    case 'tasks':
      return taskRuns(summary, Number(index), rest);
    case 'comparisons':
    case 'withoutOverrides':
    case 'measures':
    case 'unmixed':
      return comparisonRuns(summary, section, Number(index), rest);
    case 'counts':
      return index === 'arms' && rest[0] !== undefined ? ({ arm }) => arm === rest[0] : EVERY;
    case 'multiplicity':
      return testRuns(summary, rest);
    case 'trends':
      return trendRuns(summary, Number(index), rest);
    case 'runs':
      return index === '' ? EVERY : (run) => run === summary.runs[Number(index)];
    case 'design':
    case 'decisions':
      return NONE;
    default:
      return HEAD.has(section) ? NONE : EVERY;
  }
}

function taskRuns({ tasks }: Full<Summary>, index: number, [field, name]: readonly string[]): Keep {
  const arm = field === 'arms' ? name : undefined;
  const key = tasks[index]?.key;
  return (run) => (key === undefined || run.key === key) && (arm === undefined || run.arm === arm);
}

const OF_TREATMENT: ReadonlySet<string> = new Set(['treatmentRate', 'treatmentResources', 'treatmentMean']);
const OF_CONTROL: ReadonlySet<string> = new Set(['controlRate', 'controlResources', 'controlMean']);

type Listed = 'comparisons' | 'withoutOverrides' | 'measures' | 'unmixed';

function comparisonRuns(
  summary: Full<Summary>,
  section: Listed,
  index: number,
  rest: readonly string[],
): Keep {
  const each = summary[section][index];
  if (each === undefined) return EVERY;
  const [field = '', at = ''] = rest;
  const byTask = 'byTask' in each && field === 'byTask' ? each.byTask[Number(at)]?.challenge : undefined;
  const keys = new Set('keys' in each ? each.keys : keysOf(summary, each.challenges));
  const arms = OF_TREATMENT.has(field)
    ? [each.treatment]
    : OF_CONTROL.has(field)
      ? [each.control]
      : [each.treatment, each.control];
  return (run) =>
    keys.has(run.key) && arms.includes(run.arm) && (byTask === undefined || run.challenge === byTask);
}

const keysOf = ({ tasks }: Full<Summary>, challenges: readonly string[]): string[] =>
  tasks.filter(({ challenge }) => challenges.includes(challenge)).map(({ key }) => key);

function testRuns(summary: Full<Summary>, [index]: readonly string[]): Keep {
  const id = index === undefined ? undefined : summary.multiplicity.tests[Number(index)]?.id;
  if (id === undefined) return EVERY;
  const at = summary.comparisons.findIndex((each) => each.id === id);
  if (at >= 0) return comparisonRuns(summary, 'comparisons', at, []);
  const measure = summary.measures.findIndex((each) => each.id === id);
  return measure >= 0 ? comparisonRuns(summary, 'measures', measure, []) : NONE;
}

function trendRuns({ trends }: Full<Summary>, index: number, [, point]: readonly string[]): Keep {
  const trend = trends[index];
  const keys = point === undefined ? undefined : trend?.points[Number(point)]?.keys;
  return (run) =>
    run.standing === 'counted' &&
    (trend === undefined || run.arm === trend.arm) &&
    (keys === undefined || keys.includes(run.key));
}
