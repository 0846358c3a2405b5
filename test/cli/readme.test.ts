/**
 * Every command that a page of ours shows is run. Blocks marked `sh run` are run in order, in one new folder with `ashlar`
 * on the PATH (those of README.md by test/own-study/, because together they are a study); any other shell command must be
 * one that ELSEWHERE names.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openDesk, root } from './kit.ts';
import { commandsOf, missingLines, runBlocks, shellBlocks } from './readme.ts';

const OWN_STUDY = 'README.md';
const PAGES = [OWN_STUDY, 'challenges/README.md'];

/** A command that no block can run here -> the file that runs it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'npm ci': 'cli/bootstrap.mjs',
  'npm run build': 'test/run.mjs',
  'alias ashlar="node $PWD/dist/cli/main.js"': 'test/cli/readme.ts',
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
    '```sh run',
    'ashlar ls',
    '```',
    '```text',
    '12 records   here',
    'no records',
    '```',
  ];
  const blocks = shellBlocks(text.join('\n'));
  t.same(
    blocks.map(({ run, line }) => [run, line]),
    [
      [true, 2],
      [false, 5],
      [true, 12],
    ],
  );
  t.same(blocks.flatMap(commandsOf), ['ashlar init', 'npm test', 'ashlar ls']);
  const printed = { code: 0, out: 'a\n9 records here\n', err: '' };
  t.same(
    blocks.flatMap((block) => missingLines(block, printed)),
    ['no records'],
  );
});

t.test('the pages show no command that nothing runs', async (t) => {
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
  for (const page of PAGES.filter((each) => each !== OWN_STUDY)) {
    const desk = openDesk();
    t.teardown(desk.clear);
    const marked = shellBlocks(readFileSync(join(root, page), 'utf8')).filter(({ run }) => run).length;
    let count = 0;
    for await (const { block, ran } of runBlocks(desk, page)) {
      count += 1;
      t.equal(ran.code, 0, `${page}:${block.line}`, ran.code === 0 ? {} : { said: `${ran.out}${ran.err}` });
    }
    t.equal(count, marked, `${page}: every marked block ran`);
  }
});
