/** The test command's own promises: no file can look passed without having asserted, and old Nodes are told. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';

const root = join(import.meta.dirname, '../../..');
interface Ran {
  readonly counts: { readonly pass: number };
  readonly problems: readonly string[];
}
const load = (path: string) => import(pathToFileURL(join(root, path)).href);
const { runCompiled } = (await load('test/tools/files.mjs')) as {
  runCompiled: (path: string) => Promise<Ran>;
};
const { checkNode } = (await load('cli/bootstrap.mjs')) as { checkNode: (version?: string) => void };

// What a test file may do -> why it did not pass.
const BODIES: Record<string, { body: string; problem?: RegExp }> = {
  passes: { body: 't.ok(true);' },
  fails: { body: 't.ok(true); t.ok(false);', problem: /^1 failed; ended with 1$/ },
  skips: { body: 't.ok(true); t.skip("not here");', problem: /1 skipped/ },
  'skips a subtest': {
    body: 't.ok(true); await t.test("y", { skip: true }, async () => {});',
    problem: /1 skipped/,
  },
  'has work to do': { body: 't.ok(true); t.todo("later");', problem: /1 still to do/ },
  'leaves early with status 0': { body: 't.ok(true); process.exit(0);', problem: /failed|ended/ },
  throws: { body: 't.ok(true); throw new Error("x");', problem: /1 failed/ },
  'throws later': {
    body: 't.ok(true); setImmediate(() => { throw new Error("x"); });',
    problem: /ended with 1/,
  },
  'is killed': { body: 'process.kill(process.pid, "SIGKILL");', problem: /ended with SIGKILL/ },
  'never settles': { body: 'await new Promise(() => {});', problem: /1 failed|ended/ },
  'breaks its plan': { body: 't.plan(2); t.ok(true);', problem: /failed/ },
  'asserts nothing': { body: '', problem: /./ },
};

t.test('a file passes only when it asserted and nothing was wrong', async (t) => {
  mkdirSync(join(root, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(root, 'dist/planted-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const [name, { body, problem }] of Object.entries(BODIES)) {
    const file = join(folder, 'planted.mjs');
    writeFileSync(file, `import t from 'tap';\nt.test('x', async (t) => { ${body} });\n`);
    const { problems } = await runCompiled(file);
    if (problem === undefined) t.same(problems, [], name);
    else t.match(problems.join('; '), problem, name);
  }
  writeFileSync(join(folder, 'empty.mjs'), 'console.log("ok 1 - fine");\n');
  t.match((await runCompiled(join(folder, 'empty.mjs'))).problems.join(), /no assertion was counted/);
  t.match((await runCompiled(join(folder, 'absent.mjs'))).problems.join(), /no assertion was counted/);
});

t.test('a Node that is too old is told so', async (t) => {
  for (const version of ['20.19.0', '20.20.2', '22.12.0', '24.0.0', '100.0.0'])
    t.doesNotThrow(() => checkNode(version));
  for (const version of ['20.18.9', '18.20.4', '0.12.0'])
    t.throws(() => checkNode(version), /Node 20\.19 or newer/);
});
