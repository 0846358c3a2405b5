/**
 * What the test runners of Node 20, 22 and 24 wrote of the same suites (test/tools/record-tap.mjs), read to known answers:
 * a result is one line of theirs, whatever the tests print, quote, leave out or break.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import t from 'tap';
import type { Challenge } from '../../../rules/contracts/challenge.ts';
import { readTap } from '../../../rules/outcome/tap.ts';
import { judge } from '../../../rules/outcome/verdict.ts';

const base = import.meta.dirname.split(`${sep}dist${sep}`)[0] as string;
const root = base === import.meta.dirname ? join(base, '..', '..', '..') : base;
const vectors = join(root, 'test', 'vectors', 'tap');
const NODES = ['20', '22', '24'];
const textOf = (node: string, suite: string) =>
  readFileSync(join(vectors, `node-${node}`, `${suite}.tap`), 'utf8');

interface Answer {
  /** `+` passed, `-` failed, `s` skipped, `t` to do; full name. */
  readonly results: readonly string[];
  /** Tests, passed, failed. */
  readonly counts: readonly [number, number, number];
  /** Tests that a verifier registers, and what they come to. */
  readonly judged: readonly [string[], string];
}

const ANSWERS: Readonly<Record<string, Answer>> = {
  plain: {
    results: [
      ...['+works', '-fails', '+pays > once', '-pays > late > keeps the rule', '-pays > late', '-pays'],
      ...['+with parts > one', '+with parts > two > deep', '+with parts > two', '+with parts'],
      ...['+a # in the name, a \\ and a > b', '+two\\nlines', '+says'],
    ],
    counts: [11, 9, 2],
    judged: [['works', 'with parts'], 'report-disagrees'],
  },
  undone: {
    results: [
      ...[
        '+works',
        'sskipped',
        'sskipped with words',
        'sskips itself',
        'ttodo that passes',
        'ttodo that fails',
      ],
      ...['ttodo by itself', 'sa skipped suite', 'twithout a body'],
    ],
    counts: [8, 1, 0],
    judged: [['works', 'skipped'], 'list-incomplete'],
  },
  twice: {
    results: ['+works', '-works', '+one > same', '+one', '+two > same', '+two'],
    counts: [4, 3, 1],
    judged: [['works', 'one > same', 'two > same'], 'list-incomplete'],
  },
  slow: {
    results: ['+works', '-hangs', '-slow suite > inside', '-slow suite', '+after'],
    counts: [4, 2, 2],
    judged: [['works', 'hangs', 'slow suite > inside', 'after'], 'tests-failed'],
  },
  thrown: {
    results: ['+works', '+throws later', '+last', '-/suite/thrown.test.mjs'],
    counts: [4, 3, 1],
    judged: [['works', 'throws later', 'last'], 'report-disagrees'],
  },
  leaves: {
    results: ['+/suite/leaves.test.mjs'],
    counts: [1, 1, 0],
    judged: [['works', 'leaves', 'never'], 'list-incomplete'],
  },
  killed: {
    results: ['+works', '-/suite/killed.test.mjs'],
    counts: [2, 1, 1],
    judged: [['works', 'dies', 'never'], 'list-incomplete'],
  },
  load: { results: ['-/suite/load.test.mjs'], counts: [1, 0, 1], judged: [['never'], 'list-incomplete'] },
  forged: { results: ['-works', '+pays'], counts: [2, 1, 1], judged: [['works', 'pays'], 'tests-failed'] },
};

const verifierOf = (ids: readonly string[]) =>
  ({ tests: ids.map((id) => ({ id, tag: 'func' })), mustFail: [] }) as unknown as Challenge['verifier'];
const report = (stdout: string) => ({ exit: 0, timedOut: false, truncated: false, stdout, stderr: '' });

t.test('every suite is recorded from every Node', (t) => {
  const suites = readdirSync(join(vectors, 'suites')).map((name) => name.replace(/\.txt$/, ''));
  t.same(suites.sort(), Object.keys(ANSWERS).sort());
  t.end();
});

for (const node of NODES) {
  t.test(`as Node ${node} wrote it`, (t) => {
    for (const [suite, { results, counts, judged }] of Object.entries(ANSWERS)) {
      const read = readTap(textOf(node, suite));
      const mark = { skip: 's', todo: 't' } as const;
      t.same(
        read.results.map(
          ({ id, ok, directive }) => `${directive === undefined ? (ok ? '+' : '-') : mark[directive]}${id}`,
        ),
        results,
        suite,
      );
      const [tests, pass, fail] = counts;
      t.same(read.counts, { tests, pass, fail }, `${suite}, counts`);
      const [ids, reason] = judged;
      t.match(
        judge(verifierOf(ids), report(textOf(node, suite)), 0),
        { reward: 0, reason },
        `${suite}, verdict`,
      );
    }
    t.end();
  });
}

t.test('the whole of a plain suite is 1 where all of it passed', (t) => {
  for (const node of NODES) {
    const ids = [
      'pays > once',
      'with parts',
      'works',
      'a # in the name, a \\ and a > b',
      'two\\nlines',
      'says',
    ];
    const text = textOf(node, 'plain');
    const { tests } = judge(verifierOf([...ids, 'fails']), report(text), 0);
    t.same(
      tests.map(({ result }) => result),
      [...ids.map(() => 'pass'), 'fail'],
    );
  }
  t.end();
});

t.test('a report that is cut anywhere gives no result that the whole one does not, and never passes', (t) => {
  for (const node of NODES) {
    for (const suite of ['plain', 'forged', 'slow']) {
      const text = textOf(node, suite);
      const whole = new Set(readTap(text).results.map(({ id }) => id.split(' > ').at(-1)));
      for (let end = 0; end < text.length; end += 7) {
        const cut = text.slice(0, end);
        const found = readTap(cut).results.filter(({ id }) => !whole.has(id.split(' > ').at(-1)));
        // The last line may be cut within its name; nothing else may be new.
        t.ok(found.length <= 1, `${suite} ${node} at ${end}`);
        if (suite === 'forged') t.not(judge(verifierOf(['works', 'pays']), report(cut), 0).reward, 1);
      }
    }
  }
  t.end();
});
