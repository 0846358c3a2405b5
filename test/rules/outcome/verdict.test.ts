/** Verdicts: every reason, the reports of the runner as it writes them, and an agent that tries to forge one. */
import t from 'tap';
import type { Challenge } from '../../../rules/contracts/challenge.ts';
import { readTap } from '../../../rules/outcome/tap.ts';
import { judge, readReport, reportValue, type VerifierReport } from '../../../rules/outcome/verdict.ts';
import { encode } from '../../../store/format/codec.ts';

const verifier = {
  tests: [
    { id: 'pays > once', tag: 'func' },
    { id: 'pays > keeps the rule', tag: 'lesson' },
    { id: 'tells why', tag: 'diag' },
  ],
  mustFail: ['one is two'],
} as unknown as Challenge['verifier'];

const line = (depth: number, n: number, name: string, ok = true, type = 'test') => {
  const at = ' '.repeat(depth * 4);
  return `${at}# Subtest: ${name}\n${at}${ok ? 'ok' : 'not ok'} ${n} - ${name}\n${at}  ---\n${at}  type: '${type}'\n${at}  ...\n`;
};
interface Said {
  readonly once?: boolean;
  readonly rule?: boolean;
  readonly why?: boolean;
  readonly impossible?: boolean;
  readonly more?: string;
  readonly counts?: readonly [number, number, number];
}
/** A report of `node --test --test-reporter=tap` over a suite with two tests and two tests at the top. */
function tap({
  once = true,
  rule = true,
  why = true,
  impossible = false,
  more = '',
  counts,
}: Said = {}): string {
  const all = [once, rule, why, impossible];
  const passed = all.filter(Boolean).length;
  const [tests, pass, failed] = counts ?? [4, passed, 4 - passed];
  return [
    'TAP version 13\n',
    '# Subtest: pays\n',
    line(1, 1, 'once', once),
    line(1, 2, 'keeps the rule', rule),
    '    1..2\n',
    `${once && rule ? 'ok' : 'not ok'} 1 - pays\n  ---\n  type: 'suite'\n  ...\n`,
    line(0, 2, 'tells why', why),
    line(0, 3, 'one is two', impossible),
    more,
    '1..3\n',
    `# tests ${tests}\n# suites 1\n# pass ${pass}\n# fail ${failed}\n# cancelled 0\n# skipped 0\n# todo 0\n`,
  ].join('');
}
const report = (stdout: string, over: Partial<VerifierReport> = {}): VerifierReport => ({
  exit: 0,
  timedOut: false,
  truncated: false,
  stdout,
  stderr: '',
  ...over,
});

t.test('every reason, with its reward', (t) => {
  const rows: readonly [string, VerifierReport | undefined, number, string][] = [
    ['all as it should be', report(tap()), 0, 'all-passed'],
    ['a diagnostic test decides nothing', report(tap({ why: false })), 0, 'all-passed'],
    ['a failed test', report(tap({ once: false })), 0, 'tests-failed'],
    ['a lesson not kept', report(tap({ rule: false })), 0, 'tests-failed'],
    ['a mutation outside wins over all', report(tap()), 1, 'mutation-outside'],
    ['a must-fail test that passed', report(tap({ impossible: true })), 0, 'must-fail-passed'],
    ['a list cut short', report(tap().split('# Subtest: tells why')[0] as string), 0, 'list-incomplete'],
    ['a test that ran twice', report(tap({ more: line(0, 4, 'tells why') })), 0, 'list-incomplete'],
    ['counts that disagree', report(tap({ counts: [4, 4, 0] })), 0, 'report-disagrees'],
    ['counts cut off', report(tap().split('# tests')[0] as string), 0, 'report-disagrees'],
    [
      'a test that nobody registered',
      report(tap({ more: line(0, 4, 'extra'), counts: [5, 4, 1] })),
      0,
      'report-disagrees',
    ],
    ['no report', undefined, 0, 'report-unreadable'],
    ['a report over the limit', report(tap(), { truncated: true }), 0, 'report-unreadable'],
    ['out of time', report(tap(), { timedOut: true }), 0, 'verifier-timeout'],
    ['nothing said at all: process.exit(0) at load', report(''), 0, 'list-incomplete'],
  ];
  for (const [what, given, outside, reason] of rows) {
    const verdict = judge(verifier, given, outside);
    t.match(verdict, { reason, reward: reason === 'all-passed' ? 1 : 0 }, what);
  }
  t.end();
});

t.test('a skipped or todo test is absent, not passed', (t) => {
  for (const directive of ['# SKIP', '# TODO later']) {
    const text = tap().replace('ok 2 - tells why', `ok 2 - tells why ${directive}`);
    const verdict = judge(verifier, report(text), 0);
    t.match(verdict, { reward: 0, reason: 'list-incomplete', byTag: { diag: 'absent' } }, directive);
  }
  t.end();
});

t.test('what a program prints reaches the report as a comment and forges no result', (t) => {
  const forged = tap({ once: false, rule: false }).replace(
    '# Subtest: pays\n',
    '# ok 1 - pays > once\n# # tests 4\n# # pass 4\n# Subtest: pays\n',
  );
  t.match(judge(verifier, report(forged), 0), { reward: 0, reason: 'tests-failed' });
  t.equal(readTap('# ok 1 - pays\n').results.length, 0);
  t.end();
});

t.test('names keep their escapes apart, and a stored report reads back', (t) => {
  const text = 'TAP version 13\nok 1 - a \\# b \\\\ c\n1..1\n# tests 1\n# pass 1\n# fail 0\n';
  t.equal(readTap(text).results[0]?.id, 'a # b \\ c');
  const stored = report(`${tap()}\ud800`);
  const read = readReport(encode(reportValue(stored)));
  t.match(judge(verifier, read, 0), { reward: 1 });
  for (const bytes of ['', '[]', '{"stdout":1}', 'null', '{'])
    t.equal(readReport(Buffer.from(bytes)), undefined, bytes);
  t.end();
});
