/** The import law of the design: each violation, planted, is a lint error; its legal twin is not. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const IMPORT = 'lint/style/noRestrictedImports';
const GLOBAL = 'lint/style/noRestrictedGlobals';
const PROPERTY = 'lint/nursery/noJsRestrictedProperties';
const PLUGIN = 'plugin';

/** What purity and the layers are made of; other rules of the linter are not asked here. */
const LAW = [IMPORT, GLOBAL, PROPERTY, PLUGIN];

interface Case {
  readonly file: string;
  /** One line of code. */
  readonly code: string;
  /** The lint category that must be reported on that line; none for a legal twin. */
  readonly wanted?: string;
}

const load = (specifier: string) => `import '${specifier}';`;
const illegal = (file: string, ...specifiers: string[]): Case[] =>
  specifiers.map((specifier) => ({ file, code: load(specifier), wanted: IMPORT }));
const legal = (file: string, ...specifiers: string[]): Case[] =>
  specifiers.map((specifier) => ({ file, code: load(specifier) }));

const LAYERS: readonly Case[] = [
  ...illegal(
    'store/format/a.ts',
    'node:fs',
    'node:crypto',
    'crypto',
    'level',
    '../store.ts',
    '../../rules/rule.ts',
  ),
  ...illegal('store/format/a.ts', 'zod/mini', 'multiformats-x'),
  ...legal('store/format/a.ts', './cid.ts', 'multiformats/cid', '@ipld/dag-json', 'zod'),
  ...illegal('store/format/crypto.ts', 'node:fs', 'node:child_process', '../store.ts'),
  ...legal('store/format/crypto.ts', 'node:crypto', './errors.ts'),
  ...illegal(
    'store/a.ts',
    '../rules/rule.ts',
    '../daemon/x.ts',
    '../cli/x.ts',
    '../challenges/x.mjs',
    '../test/x.ts',
  ),
  ...illegal(
    'store/git/a.ts',
    '../../rules/contracts/study.ts',
    'node:crypto',
    'level',
    'isomorphic-git',
    '@ipld/car',
  ),
  ...illegal('store/git/a.ts', 'zod', 'fs', 'dockerode', 'fastify'),
  ...legal('store/git/a.ts', 'node:fs', 'node:fs/promises', './b.ts', '../store.ts', '../format/cid.ts'),
  ...illegal('store/catalog/level.ts', 'isomorphic-git', 'node:crypto', '../../rules/rule.ts'),
  ...legal('store/catalog/level.ts', 'level', '../format/cid.ts', 'node:path'),
  ...illegal('store/git/isomorphic.ts', 'level'),
  ...legal('store/git/isomorphic.ts', 'isomorphic-git', 'node:fs'),
  ...illegal('store/car.ts', 'level'),
  ...legal('store/car.ts', '@ipld/car', './format/cid.ts'),
  ...illegal(
    'rules/a.ts',
    'node:fs',
    'node:path',
    'node:crypto',
    '../store/store.ts',
    '../store/git/x.ts',
    '../daemon/x.ts',
  ),
  ...illegal(
    'rules/redact/a.ts',
    '../../store/store.ts',
    '../../daemon/x.ts',
    '../../cli/x.ts',
    '../../test/x.ts',
    'level',
  ),
  ...legal('rules/redact/a.ts', '../../store/format/cid.ts', '../contracts/study.ts', './b.ts', 'zod'),
  ...illegal(
    'rules/contracts/a.ts',
    '../redact/v1.ts',
    '../rule.ts',
    'node:fs',
    '../../store/store.ts',
    'level',
  ),
  ...legal('rules/contracts/a.ts', './kit.ts', '../../store/format/cid.ts', 'zod'),
  ...illegal(
    'daemon/a.ts',
    'dockerode',
    'fastify',
    'tar-stream',
    'level',
    'node:crypto',
    '../cli/x.ts',
    '../test/x.ts',
  ),
  ...legal('daemon/a.ts', 'node:net', 'zod', '../rules/rule.ts', '../store/store.ts', './execute/run.ts'),
  ...illegal('daemon/api/a.ts', 'dockerode', 'level', '../../cli/x.ts'),
  ...legal(
    'daemon/api/a.ts',
    'fastify',
    '@fastify/swagger',
    'fastify-type-provider-zod',
    'zod',
    '../schedule.ts',
  ),
  ...illegal('daemon/executors/docker/engine.ts', 'fastify', 'tar-stream', '../../../cli/x.ts'),
  ...legal('daemon/executors/docker/engine.ts', 'dockerode', 'node:stream', './tar.ts'),
  ...illegal('daemon/executors/docker/tar.ts', 'dockerode'),
  ...legal('daemon/executors/docker/tar.ts', 'tar-stream'),
  ...illegal('daemon/executors/docker/a.ts', 'dockerode', 'tar-stream'),
  ...illegal('cli/a.ts', '../test/x.ts', 'dockerode', 'fastify', 'isomorphic-git', 'level', 'node:crypto'),
  ...legal(
    'cli/a.ts',
    '@stricli/core',
    'node:util',
    '../daemon/x.ts',
    '../rules/rule.ts',
    '../store/store.ts',
  ),
  ...illegal('cli/bootstrap.mjs', '@stricli/core', '../dist/cli/main.js', 'zod'),
  ...legal('cli/bootstrap.mjs', 'node:child_process'),
  ...illegal('test/run.mjs', 'tap', '../store/store.ts'),
  ...legal('test/run.mjs', './tools/engine.mjs', 'node:fs', '../cli/bootstrap.mjs'),
  ...illegal('test/tools/a.mjs', '../../store/store.ts', 'tap'),
  ...legal('test/tools/a.mjs', '../../cli/bootstrap.mjs', './files.mjs', 'node:http'),
  ...illegal('challenges/a.mjs', 'zod', '../store/format/cid.ts', '../rules/rule.ts', '../daemon/x.ts'),
  ...legal('challenges/a.mjs', './b.mjs', 'node:test'),
  ...legal('test/store/a.ts', 'tap', 'level', '../../cli/x.ts', 'node:crypto'),
];

const impure = (wanted: string, ...lines: string[]): Case[] =>
  ['rules/audit/a.ts', 'rules/contracts/a.ts', 'store/format/a.ts'].flatMap((file) =>
    lines.map((line) => ({ file, code: `use(${line});`, wanted })),
  );

const PURITY: readonly Case[] = [
  ...impure(
    GLOBAL,
    'Date.now()',
    'new Date()',
    'performance.now()',
    'setTimeout(() => 1, 1)',
    'process.env.HOME',
  ),
  ...impure(
    GLOBAL,
    'crypto.randomUUID()',
    'globalThis.Date',
    'fetch("x")',
    'console.log(1)',
    'new Intl.Collator()',
  ),
  ...impure(GLOBAL, 'new Function("return 1")', 'new WeakRef({})'),
  ...impure(
    PROPERTY,
    'Math.random()',
    'Math.pow(2, 0.5)',
    'Math.exp(1)',
    'Math.log(2)',
    'Math.sin(1)',
    'Math["cos"](1)',
  ),
  ...impure(
    PROPERTY,
    '"a".localeCompare("b")',
    '(1).toLocaleString()',
    '"a".toLocaleUpperCase()',
    '"é".normalize("NFC")',
  ),
  ...impure(PROPERTY, '"A".toLowerCase()', '["b", "a"].sort((a, b) => a?.localeCompare(b) ?? 0)'),
  ...impure(PLUGIN, 'import.meta.url', 'await import("./b.ts")'),
  { file: 'rules/a.ts', code: 'const { random } = Math;', wanted: PROPERTY },
  { file: 'rules/a.ts', code: "export { it } from 'node:fs';", wanted: IMPORT },
  { file: 'rules/a.ts', code: "export * from 'node:fs';", wanted: IMPORT },
  { file: 'rules/a.ts', code: "import type { it } from 'node:fs';", wanted: IMPORT },
  { file: 'rules/a.ts', code: "use(require('node:fs'));", wanted: GLOBAL },
  ...[
    'Math.floor(Math.sqrt(2))',
    '["b", "a"].sort()',
    '["b", "a"].sort((a, b) => (a < b ? -1 : 1))',
    '2n ** 64n',
    '(Date: number) => Date',
  ].map((line) => ({ file: 'rules/a.ts', code: `use(${line});` })),
  { file: 'daemon/a.ts', code: 'use(Date.now(), Math.random(), process.pid);' },
];

t.test('each planted violation is an error of its own rule, and no legal twin is', async (t) => {
  const cases = [...LAYERS, ...PURITY];
  const folder = planted(t, {});
  const files = new Map<string, Case[]>();
  for (const each of cases) files.set(each.file, [...(files.get(each.file) ?? []), each]);
  for (const [file, each] of files) put(folder, file, each.map(({ code }) => `${code}\n`).join(''));
  const found = await lint(folder);
  for (const [file, each] of files) {
    each.forEach(({ code, wanted }, i) => {
      const categories = (found.get(`${file}:${i + 1}`) ?? []).filter((category) => LAW.includes(category));
      t.same([...new Set(categories)], wanted === undefined ? [] : [wanted], `${file}: ${code}`);
    });
  }
  t.ok(cases.length > 200, `${cases.length} cases`);
});

t.test('long functions, floating promises and import cycles are errors', async (t) => {
  const long = (calls: number) => `export function it() {\n${'  it();\n'.repeat(calls)}}\n`;
  const folder = planted(t, {
    'daemon/long.ts': long(70),
    'daemon/short.ts': long(58),
    'daemon/floating.ts': 'export async function it(): Promise<void> {\n  it();\n}\n',
    'daemon/awaited.ts': 'export async function it(): Promise<void> {\n  await it();\n}\n',
    'rules/a.ts': "import { b } from './b.ts';\n\nexport const a = () => b;\n",
    'rules/b.ts': "import { a } from './a.ts';\n\nexport const b = () => a;\n",
  });
  const found = [...(await lint(folder))].map(([at, categories]) => `${at} ${categories.join()}`).sort();
  t.same(found, [
    'daemon/floating.ts:2 lint/nursery/noFloatingPromises',
    'daemon/long.ts:1 lint/complexity/noExcessiveLinesPerFunction',
    'rules/a.ts:1 lint/suspicious/noImportCycles',
    'rules/b.ts:1 lint/suspicious/noImportCycles',
  ]);
});

/** A folder with the repository's lint configuration and these files. */
function planted(t: Test, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-law-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const name of ['biome.json', '.gitignore', 'test/tools/pure.grit']) {
    put(folder, name, readFileSync(join(root, name), 'utf8'));
  }
  for (const [file, text] of Object.entries(files)) put(folder, file, text);
  return folder;
}

function put(folder: string, file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** `file:line` -> the categories reported as errors there. */
async function lint(folder: string): Promise<Map<string, string[]>> {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const args = [biome, 'lint', '--reporter=github', '--max-diagnostics=none', '--error-on-warnings', '.'];
  const found = new Map<string, string[]>();
  const { stdout } = await run(process.execPath, args, { cwd: folder, maxBuffer: 1 << 26 }).catch(failed);
  for (const [, category = '', file = '', line] of stdout.matchAll(
    /^::error title=(.*?),file=(.*?),line=(\d+),/gm,
  )) {
    const at = `${relative(folder, file)}:${line}`;
    found.set(at, [...(found.get(at) ?? []), category]);
  }
  return found;
}

/** A linter that found errors ends with 1; one that could not run is a fault of the test. */
function failed(error: { code?: number; stdout: string }): { stdout: string } {
  if (error.code !== 1 || !error.stdout.includes('::error')) throw error;
  return error;
}
