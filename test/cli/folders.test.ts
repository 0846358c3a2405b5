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
