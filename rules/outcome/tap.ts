/**
 * Reads the TAP version 13 report of `node --test --test-reporter=tap`.
 * Promises: every result line with its full name (levels joined by ` > `), and the runner's own closing counts.
 * Does not promise: other TAP producers. What a program under test prints reaches the report only behind `# `, so it
 * can forge comments but no result line.
 */

export interface TapResult {
  /** Full name: names of the enclosing levels and its own, joined by ` > `. */
  readonly id: string;
  readonly ok: boolean;
  /** `# SKIP` or `# TODO`: it did not count. */
  readonly directive: 'skip' | 'todo' | undefined;
  readonly suite: boolean;
  /** It has results below it. */
  readonly parent: boolean;
}

export interface TapReport {
  readonly results: readonly TapResult[];
  /** The runner's closing counts; absent where the report was cut. */
  readonly counts: { readonly tests: number; readonly pass: number; readonly fail: number } | undefined;
}

interface Line {
  depth: number;
  name: string;
  ok: boolean;
  directive: 'skip' | 'todo' | undefined;
  suite: boolean;
  parents: string[];
  parent: boolean;
}

const RESULT = /^((?: {4})*)(not ok|ok) \d+ - (.*)$/;
const TYPE = /^((?: {4})*) {2}type: 'suite'$/;
const COUNT = /^# (tests|pass|fail) (\d+)$/;
/** The closing block of the runner: nothing but counts may follow the last plan line. */
const PLAN = /^1\.\.\d+$/;

/** Reads a report. Never throws: what it cannot read is not a result. O(length). */
export function readTap(text: string): TapReport {
  const lines = text.split('\n');
  const found: Line[] = [];
  for (const line of lines) {
    const result = RESULT.exec(line);
    const last = found.at(-1);
    if (result !== null) addResult(found, resultLine(result));
    else if (last !== undefined && isSuiteMark(line, last.depth)) last.suite = true;
  }
  return { results: found.map(toResult), counts: closingCounts(lines) };
}

function isSuiteMark(line: string, depth: number): boolean {
  const mark = TYPE.exec(line);
  return mark !== null && (mark[1] as string).length === depth * 4;
}

function resultLine([, indent, verdict, rest]: RegExpExecArray): Line {
  const directive = / # (SKIP|TODO)\b.*$/.exec(rest as string);
  const name = directive === null ? (rest as string) : (rest as string).slice(0, directive.index);
  return {
    depth: (indent as string).length / 4,
    name: name.replace(/\\([\\#])/g, '$1'),
    ok: verdict === 'ok',
    directive: directive === null ? undefined : directive[1] === 'SKIP' ? 'skip' : 'todo',
    suite: false,
    parents: [],
    parent: false,
  };
}

// A level's own line comes after the lines below it: it takes in all deeper lines since the last one of its depth.
function addResult(found: Line[], line: Line): void {
  for (let i = found.length - 1; i >= 0; i--) {
    const below = found[i] as Line;
    if (below.depth <= line.depth) break;
    below.parents.unshift(line.name);
    line.parent = true;
  }
  found.push(line);
}

function toResult({ parents, name, ok, directive, suite, parent }: Line): TapResult {
  return { id: [...parents, name].join(' > '), ok, directive, suite, parent };
}

function closingCounts(lines: readonly string[]): TapReport['counts'] {
  const plan = lines.findLastIndex((line) => PLAN.test(line));
  const counts: Record<string, number> = {};
  for (const line of plan < 0 ? [] : lines.slice(plan + 1)) {
    const count = COUNT.exec(line);
    if (count !== null) counts[count[1] as string] = Number(count[2]);
  }
  const { tests, pass, fail } = counts;
  if (tests === undefined || pass === undefined || fail === undefined) return undefined;
  return { tests, pass, fail };
}
