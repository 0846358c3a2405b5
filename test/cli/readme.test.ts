/**
 * Every command that a page of ours shows is run. Blocks marked `sh run` are run here, in order, in one new folder with
 * `ashlar` on the PATH and ASHLAR_CHECKOUT as the checkout; any other shell command must be one that ELSEWHERE names.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import t from 'tap';
import { bin, openDesk, ran, root } from './kit.ts';
import { commandsOf, shellBlocks } from './readme.ts';

const PAGES = ['README.md', 'challenges/README.md'].filter((page) => existsSync(join(root, page)));

/** A command that no block can run here -> the file that runs it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'npm ci': 'cli/bootstrap.mjs',
  'npm run demo': 'cli/verbs/demo.ts',
  'npm test': 'test/run.mjs',
  'npm run bench': 'test/run.mjs',
  'npm run vectors': 'test/run.mjs',
  'ASHLAR_TEST_INSTALL_ENGINE=1 npm test': '.ci/run',
  'ASHLAR_TEST_WITHOUT_DOCKER=1 npm test': 'test/run.mjs',
};

t.test('blocks are found as they stand', async (t) => {
  const text = [
    'a',
    '```sh run',
    'ashlar init',
    '```',
    '~~~sh',
    '# why',
    'npm test  # all',
    '~~~',
    '```js',
    'x',
    '```',
  ];
  const blocks = shellBlocks(text.join('\n'));
  t.same(
    blocks.map(({ run, line }) => [run, line]),
    [
      [true, 2],
      [false, 5],
    ],
  );
  t.same(blocks.flatMap(commandsOf), ['ashlar init', 'npm test']);
});

t.test('the pages show no command that nothing runs', async (t) => {
  t.ok(PAGES.length > 0, 'there is a page');
  for (const page of PAGES) {
    for (const block of shellBlocks(readFileSync(join(root, page), 'utf8'))) {
      if (block.run) continue;
      for (const command of commandsOf(block)) {
        const runner = Object.hasOwn(ELSEWHERE, command) ? ELSEWHERE[command] : undefined;
        t.ok(runner !== undefined && existsSync(join(root, runner)), `${page}:${block.line} ${command}`);
      }
    }
  }
});

t.test('the marked blocks run, each from where the one before it ended', async (t) => {
  for (const page of PAGES) {
    const desk = openDesk();
    t.teardown(desk.clear);
    mkdirSync(join(desk.folder, 'bin'));
    const shim = join(desk.folder, 'bin/ashlar');
    writeFileSync(shim, `#!/bin/sh\nexec '${execPath}' '${bin}' "$@"\n`);
    chmodSync(shim, 0o755);
    const work = join(desk.folder, 'work');
    mkdirSync(work);
    const path = `${join(desk.folder, 'bin')}:${desk.env.PATH}`;
    const env = { ...desk.env, PATH: path, ASHLAR_CHECKOUT: root };
    for (const block of shellBlocks(readFileSync(join(root, page), 'utf8')).filter(({ run }) => run)) {
      const { code, out, err } = await ran('/bin/sh', ['-eu'], { input: block.text, cwd: work, env });
      t.equal(code, 0, `${page}:${block.line}\n${out}${err}`);
    }
  }
});
