/**
 * From a verifier's report and an audit to a verdict (DESIGN section 2, Statuses; section 4, audit).
 * Promises: reward 1 only where the whole registered list ran once each, every func and lesson test passed, every
 * must-fail test failed, the report agrees with its own counts, and no mutation stands outside the allowed paths.
 * Does not promise: to tell why a test failed. An agent cannot void its own failure: whatever is wrong is reward 0.
 */
import { decode, type Value } from '../../store/format/codec.ts';
import { isFault } from '../../store/format/errors.ts';
import { type Challenge, TAGS, type Tag, type VerdictByTag } from '../contracts/challenge.ts';
import type { Verdict } from '../contracts/receipt.ts';
import { readTap, type TapReport, type TapResult } from './tap.ts';

/** The verifier's run as it is stored: canonical dag-json, so that one blob holds streams and status. */
export interface VerifierReport {
  readonly exit: number | null;
  readonly timedOut: boolean;
  /** Standard output was longer than the limit. */
  readonly truncated: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Reads a stored report; undefined where it is none. */
export function readReport(bytes: Uint8Array): VerifierReport | undefined {
  try {
    const value = decode(bytes) as unknown as VerifierReport | null;
    return typeof value?.stdout === 'string' && typeof value.timedOut === 'boolean' ? value : undefined;
  } catch (error) {
    if (isFault(error, 'E_CODEC')) return undefined;
    throw error;
  }
}

/** A report as a value that the codec takes: streams made well-formed. */
export function reportValue(report: VerifierReport): Value {
  return { ...report, stdout: report.stdout.toWellFormed(), stderr: report.stderr.toWellFormed() };
}

type Verifier = Challenge['verifier'];
type Reason = Verdict['reason'];

/** The verdict of one report. `outside` is the audit's number of mutations outside the allowed paths. */
export function judge(verifier: Verifier, report: VerifierReport | undefined, outside: number): Verdict {
  const tap = report === undefined ? undefined : readTap(report.stdout);
  const tests = testResults(verifier, tap);
  const byTag = verdictByTag(tests);
  const reason = outside > 0 ? 'mutation-outside' : reasonFor(report, tap, tests, verifier);
  return { reward: reason === 'all-passed' ? 1 : 0, reason, byTag, tests };
}

/**
 * A verdict that was written down, without its report: each registered test keeps its result (absent where none was
 * written), and reward, reason and tags must follow. A reason that only the report shows is kept: all of them are 0.
 */
export function rejudge(verifier: Verifier, written: Verdict, outside: number): Verdict {
  const tests = registeredTests(verifier).map(({ id, tag }) => {
    const result = written.tests.find((test) => test.id === id && test.tag === tag)?.result ?? 'absent';
    return { id, tag, result };
  });
  const fromReport = (['report-unreadable', 'verifier-timeout', 'report-disagrees'] as Reason[]).includes(
    written.reason,
  );
  const seen = fromReport ? written.reason : (incomplete(tests) ?? fromResults(tests));
  const reason = outside > 0 ? 'mutation-outside' : seen;
  return { reward: reason === 'all-passed' ? 1 : 0, reason, byTag: verdictByTag(tests), tests };
}

function registeredTests(verifier: Verifier) {
  return [
    ...verifier.tests.map(({ id, tag }) => ({ id, tag })),
    ...verifier.mustFail.map((id) => ({ id, tag: 'must-fail' as const })),
  ];
}

function testResults(verifier: Verifier, tap: TapReport | undefined): Verdict['tests'] {
  return registeredTests(verifier).map(({ id, tag }) => ({ id, tag, result: resultOf(id, tap) }));
}

function resultOf(id: string, tap: TapReport | undefined): 'pass' | 'fail' | 'absent' {
  const ran = (tap?.results ?? []).filter((result) => result.id === id);
  const [only] = ran;
  if (ran.length !== 1 || only === undefined || only.directive !== undefined) return 'absent';
  return only.ok ? 'pass' : 'fail';
}

function verdictByTag(tests: Verdict['tests']): VerdictByTag {
  const of = (tag: Tag) => {
    const results = tests.filter((test) => test.tag === tag).map(({ result }) => result);
    if (results.length === 0 || results.includes('absent')) return 'absent';
    return results.includes('fail') ? 'fail' : 'pass';
  };
  return { func: of('func'), lesson: of('lesson'), diag: of('diag') };
}

function reasonFor(
  report: VerifierReport | undefined,
  tap: TapReport | undefined,
  tests: Verdict['tests'],
  verifier: Verifier,
): Reason {
  if (report === undefined || tap === undefined || report.truncated) return 'report-unreadable';
  if (report.timedOut) return 'verifier-timeout';
  const missing = incomplete(tests);
  if (missing !== undefined) return missing;
  return disagrees(tap, tests, verifier) ? 'report-disagrees' : fromResults(tests);
}

const incomplete = (tests: Verdict['tests']): Reason | undefined =>
  tests.some(({ result }) => result === 'absent') ? 'list-incomplete' : undefined;

/** The reason where the whole list ran and the report agrees with itself. */
function fromResults(tests: Verdict['tests']): Reason {
  if (tests.some(({ tag, result }) => tag === 'must-fail' && result === 'pass')) return 'must-fail-passed';
  const counted = tests.filter(({ tag }) => tag === 'func' || tag === 'lesson');
  return counted.every(({ result }) => result === 'pass') ? 'all-passed' : 'tests-failed';
}

// The runner counts every result that is no suite; an unlisted result is one that the registration does not know.
function disagrees(tap: TapReport, tests: Verdict['tests'], verifier: Verifier): boolean {
  const counted = tap.results.filter((result) => !result.suite);
  const passed = counted.filter((result) => result.ok && result.directive === undefined);
  const failed = counted.filter((result) => !result.ok && result.directive === undefined);
  const { counts } = tap;
  if (counts === undefined || counts.tests !== counted.length) return true;
  if (counts.pass !== passed.length || counts.fail !== failed.length) return true;
  return counted.some((result) => !listed(result, tests)) || verifier.tests.length === 0;
}

function listed(result: TapResult, tests: Verdict['tests']): boolean {
  return result.parent || tests.some(({ id }) => id === result.id);
}

/** Whether two verdicts by tag are equal. */
export function sameVerdict(a: VerdictByTag, b: VerdictByTag): boolean {
  return TAGS.every((tag) => a[tag] === b[tag]);
}
