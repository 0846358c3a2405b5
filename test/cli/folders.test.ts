/** The gates that need no store: redaction, certification and audit of plain folders, and exact statistics. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ERRORS } from '../../store/format/errors.ts';
import { lines, openDesk, root } from './kit.ts';

const desk = openDesk();
t.teardown(desk.clear);
const at = (...names: string[]) => join(desk.folder, ...names);

function write(path: string, text: string): void {
  mkdirSync(join(at(path), '..'), { recursive: true });
  writeFileSync(at(path), text);
}

t.test('redact names what it takes out, and changes nothing', async (t) => {
  // Put together here: no tool may find such a file in our own tree.
  for (const path of [`CLAUDE${'.md'}`, `src/AGENTS${'.md'}`, `.cursor/${'rules'}/x.mdc`])
    write(`repo/${path}`, 'x\n');
  write('repo/src/main.mjs', 'export {};\n');
  const found = lines<{ finding: string; path: string }>(await desk.ok('redact', 'repo', '--json'));
  const removed = found.filter(({ finding }) => finding === 'removed').map(({ path }) => path);
  t.same(removed.sort(), ['.cursor/rules/x.mdc', 'CLAUDE.md', 'src/AGENTS.md']);
  await desk.ok('redact', 'repo', '--out', 'clean');
  t.equal(await desk.ok('redact', 'clean'), '', 'what was redacted once has nothing left to take out');
  t.equal(readFileSync(at('clean/src/main.mjs'), 'utf8'), 'export {};\n');
  t.match(await desk.ok('redact', 'repo'), /removed +CLAUDE\.md {2}\(/);
});

t.test('certify finds in a folder what gives a benchmark away', async (t) => {
  t.equal(await desk.ok('certify', 'clean'), 'no findings');
  write('dirty/.env', 'A=1\n');
  write('dirty/notes.md', ['diff --git a/x b/x', '@@ -1,2 +1,2 @@', '-a', '+b', ''].join('\n'));
  const { code, out, err } = await desk.ashlar(['certify', 'dirty', '--json']);
  t.equal(code, ERRORS.E_GATE.exit);
  t.match(JSON.parse(err), { code: 'E_GATE' });
  const kinds = lines<{ kind: string; path: string }>(out).map(({ kind, path }) => `${kind} ${path}`);
  t.ok(kinds.includes('suspicious-metadata .env'));
  t.ok(kinds.includes('patch-or-diff notes.md'));
});

t.test('audit lists every difference, and fails on one outside', async (t) => {
  cpSync(at('clean'), at('after'), { recursive: true });
  write('after/src/main.mjs', 'export const a = 1;\n');
  t.equal(await desk.ok('audit', 'clean', 'after', '--allow', 'src'), 'inside  content  src/main.mjs');
  write('after/package.json', '{}\n');
  rmSync(at('after/src/main.mjs'));
  const { code, out } = await desk.ashlar(['audit', 'clean', 'after', '--allow', 'src', '--json']);
  t.equal(code, ERRORS.E_GATE.exit);
  t.same(lines(out), [
    { path: 'package.json', change: 'added', inside: false },
    { path: 'src/main.mjs', change: 'removed', inside: true },
  ]);
  t.equal((await desk.ashlar(['audit', 'clean', 'after', '--allow', '../x'])).code, ERRORS.E_PATH.exit);
});

interface Case {
  readonly id: string;
  readonly function: string;
  readonly input: unknown;
  readonly expected: Record<string, unknown>;
}

t.test('stats answers one, or a line each, and a bad line spoils no other', async (t) => {
  const { cases } = JSON.parse(readFileSync(join(root, 'test/vectors/cases/stats.json'), 'utf8')) as {
    cases: Case[];
  };
  const asked = cases.filter((each) => each.function === 'mcnemar');
  t.ok(asked.length > 3, `${asked.length} cases`);
  const input = `${asked.map(({ expected: _, ...rest }) => JSON.stringify(rest)).join('\n')}\nnot json\n`;
  const { code, out } = await desk.ashlar(['stats', '-'], { input });
  t.equal(code, ERRORS.E_STATS_INPUT.exit);
  const answers = lines<{ id: string; result?: Record<string, unknown>; error?: { code: string } }>(out);
  t.equal(answers.length, asked.length + 1);
  for (const { id, expected } of asked) {
    const { result } = answers.find((each) => each.id === id) ?? {};
    t.ok(result, id);
    if ('pExact' in expected) t.equal(result?.pExact, expected.pExact, id);
  }
  t.equal(answers.at(-1)?.error?.code, 'E_JSON');
  const one = JSON.parse(await desk.ok('stats', 'mcnemar', '{"b":9,"c":2}')) as { pExact: string };
  t.equal(one.pExact, '67/1024');
});

interface Answer {
  readonly id: unknown;
  readonly line?: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: string; readonly found?: string };
}

t.test(
  'stats -: blank lines, CRLF, a missing last line end, equal ids, and lines that are no question',
  async (t) => {
    const ask = (id: unknown, b: number) => JSON.stringify({ id, function: 'mcnemar', input: { b, c: 0 } });
    const bad = [
      '5',
      'null',
      '[1]',
      '{"id":"no function","input":{}}',
      '{"id":"stray","function":"mcnemar","input":{"b":1,"c":2},"extra":1}',
      '{"id":"twice","id":"twice","function":"mcnemar","input":{}}',
      '{"id":"float","function":"signTest","input":{"diffs":[0.5]}}',
      '{"id":7,"function":"toString","input":{}}',
      '\u{feff}{}',
    ];
    const text = ['', ask('a', 3), '  \t', `${ask('a', 4)}\r`, '\r', ...bad, ask(null, 5)].join('\n');
    const { code, out, err } = await desk.ashlar(['stats', '-'], { input: text });
    t.equal(code, ERRORS.E_STATS_INPUT.exit);
    t.match(err, /8 lines without a result/);
    const answers = lines<Answer>(out);
    t.same(
      answers.map(({ id, line, error }) => [id, line, error?.code]),
      [
        ['a', undefined, undefined],
        ['a', undefined, undefined],
        [null, 6, 'E_STATS_INPUT'],
        [null, 7, 'E_STATS_INPUT'],
        [null, 8, 'E_STATS_INPUT'],
        ['no function', undefined, 'E_STATS_INPUT'],
        ['stray', undefined, undefined],
        [null, 11, 'E_JSON'],
        ['float', undefined, 'E_STATS_INPUT'],
        [7, undefined, 'E_STATS_INPUT'],
        [null, 14, 'E_JSON'],
        [null, undefined, undefined],
      ],
    );
    t.same(
      answers.filter(({ result }) => result).map(({ result }) => result?.pExact),
      ['1/4', '1/8', '1/1', '1/16'],
    );
    t.equal((await desk.ashlar(['stats', '-'], { input: '' })).code, 0, 'nothing asked, nothing answered');
    const broken = Buffer.concat([
      Buffer.from(`${ask('x', 1)}\n{"id":"`),
      Buffer.from([0xff]),
      Buffer.from('"}\n'),
    ]);
    const utf8 = lines<Answer>((await desk.ashlar(['stats', '-'], { input: broken })).out);
    t.same(
      utf8.map(({ error }) => error?.code),
      [undefined, 'E_JSON'],
    );
  },
);

t.test('stats -: 100,000 lines and one of 100 MB stream through', async (t) => {
  const line = '{"id":1,"function":"mcnemar","input":{"b":9,"c":2}}\n';
  const many = await desk.ashlar(['stats', '-'], { input: line.repeat(100_000) });
  t.equal(many.code, 0);
  t.equal(many.out.split('\n').length, 100_001);
  const long = Buffer.alloc(100 << 20, 0x20);
  const input = Buffer.concat([Buffer.from(line), long, Buffer.from(`\n${line}`)]);
  // A line that had to be held would not fit into this heap twice, as a string and as bytes.
  const env = { NODE_OPTIONS: '--max-old-space-size=96' };
  const answers = lines<Answer>((await desk.ashlar(['stats', '-'], { input, env })).out);
  t.same(
    answers.map(({ id, line: number, error }) => [id, number, error?.code, error?.found]),
    [
      [1, undefined, undefined, undefined],
      [null, 2, 'E_JSON', String(100 << 20)],
      [1, undefined, undefined, undefined],
    ],
  );
});
