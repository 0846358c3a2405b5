/**
 * Reads the TAP version 13 report of `node --test --test-reporter=tap`.
 * Promises: every result line with its full name (levels joined by ` > `), and the runner's own closing counts.
 * Does not promise: other TAP producers. What a program under test prints reaches the report behind `# `, or, quoted by
 * an assertion, indented within the block of a result: neither can be taken for a result line or a count.
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
  /** The runner's closing counts, cancelled tests among the failed; absent where the report was cut. */
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
const COUNT = /^# (tests|pass|fail|cancelled) (\d+)$/;
/** The closing block of the runner: nothing but counts may follow the last plan line. */
const PLAN = /^1\.\.\d+$/;

/** Reads a report. Never throws: what it cannot read is not a result. O(length). */
export function readTap(text: string): TapReport {
  const lines = withoutBlocks(text.split('\n'));
  const found: Line[] = [];
  for (const line of lines) {
    const result = RESULT.exec(line);
    const last = found.at(-1);
    if (result !== null) addResult(found, resultLine(result));
    else if (last !== undefined && line === SUITE) last.suite = true;
  }
  return { results: found.map(toResult), counts: closingCounts(lines) };
}

/** Stands for the block of a suite, which says so in a field of its own. */
const SUITE = '  suite';

/**
 * The lines without the YAML block that may follow a result. A block ends at the dots of its own indent, which no text
 * quoted in it can have: it stands deeper.
 */
function withoutBlocks(lines: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    kept.push(line);
    const indent = RESULT.exec(line)?.[1];
    if (indent === undefined || lines[i + 1] !== `${indent}  ---`) continue;
    const from = i + 2;
    const end = lines.indexOf(`${indent}  ...`, from);
    const block = lines.slice(from, end < 0 ? lines.length : end);
    if (block.includes(`${indent}  type: 'suite'`)) kept.push(SUITE);
    i = from + block.length;
  }
  return kept;
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
  // A test that ran out of its own time is counted apart and stands as a failed result.
  const { tests, pass, fail, cancelled = 0 } = counts;
  if (tests === undefined || pass === undefined || fail === undefined) return undefined;
  return { tests, pass, fail: fail + cancelled };
}
