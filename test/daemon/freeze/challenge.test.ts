/** What an author hands over as a challenge: read from its own folder only, as plain files, each name once. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { freezeChallenge } from '../../../daemon/freeze/challenge.ts';
import { KIND_TABLE } from '../../../rules/contracts/table.ts';
import type { ErrorCode } from '../../../store/format/errors.ts';
import { newPlace, quickFolder } from '../../store/place.ts';

const PASS = { func: 'pass', lesson: 'absent', diag: 'absent' };
const FAIL = { ...PASS, func: 'fail' };
const tests = (...ids: string[]) => ids.map((id) => ({ id, tag: 'func' }));
const verifier = { kind: 'script', runtime: 'node-test', asset: 'verifier', timeoutSeconds: 60 };
const solutions = [
  { name: 'oracle', tree: 'oracle', expected: PASS },
  { name: 'nothing', tree: null, expected: FAIL },
];
const CHALLENGE = {
  v: 1,
  id: 'small',
  taskFamily: 'memory-only',
  prompt: 'prompt.md',
  allowedOutputPaths: ['app.mjs'],
  agentTimeoutSeconds: 60,
  environment: { image: 'node', network: 'none', cpus: 1, memoryMb: 512, prebuildArgv: [] },
  verifier: { ...verifier, tests: tests('it-works'), mustFail: ['never'] },
  solutions,
  answerPhrases: [],
  lessons: [],
  graders: ['audit', 'verifier'],
};

const base = quickFolder(t);
const outside = join(base, 'outside.md');
writeFileSync(outside, 'not of the folder');
mkdirSync(join(base, 'aside'));
const store = await (await newPlace(base)).open({ kinds: KIND_TABLE });
t.teardown(() => store.close());
let count = 0;

/** A whole challenge, in which `change` does one thing wrong. */
function folderWith(change: (at: (path: string) => string) => void, over: object = {}): string {
  const folder = join(base, `challenge-${count++}`);
  const at = (path: string) => join(folder, path);
  for (const each of ['verifier', 'oracle']) mkdirSync(at(each), { recursive: true });
  writeFileSync(at('prompt.md'), 'Make it work.\n');
  writeFileSync(at('verifier/it.test.mjs'), '');
  writeFileSync(at('oracle/app.mjs'), '');
  writeFileSync(at('challenge.json'), JSON.stringify({ ...CHALLENGE, ...over }));
  change(at);
  return folder;
}
const prompt = (make: (path: string) => void) => (at: (path: string) => string) => {
  rmSync(at('prompt.md'));
  make(at('prompt.md'));
};
const none = () => undefined;
const fifo = (path: string) => void execFileSync('mkfifo', [path]);

const ROWS: readonly [string, string, ErrorCode, RegExp][] = [
  [
    'a prompt that a link leads out to',
    folderWith(prompt((p) => symlinkSync(outside, p))),
    'E_PATH',
    /a link out/,
  ],
  ['a prompt that is a pipe', folderWith(prompt(fifo)), 'E_NOT_FOUND', /wanted a plain file/],
  [
    'a prompt that is a folder',
    folderWith(prompt((p) => mkdirSync(p))),
    'E_NOT_FOUND',
    /wanted a plain file/,
  ],
  ['no prompt', folderWith(prompt(none)), 'E_NOT_FOUND', /prompt\.md/],
  ['a prompt of nothing', folderWith(prompt((p) => writeFileSync(p, ' \n'))), 'E_CONTRACT', /found nothing/],
  [
    'a prompt that is no text',
    folderWith(prompt((p) => writeFileSync(p, Buffer.from([0xff, 0xfe, 0x00])))),
    'E_CONTRACT',
    /wanted text in UTF-8/,
  ],
  [
    'a verifier behind a folder that a link leads out to',
    folderWith((at) => symlinkSync(base, at('away')), {
      verifier: { ...CHALLENGE.verifier, asset: 'away/aside' },
    }),
    'E_PATH',
    /a link out/,
  ],
  [
    'a pipe in the verifier',
    folderWith((at) => fifo(at('verifier/pipe'))),
    'E_TREE',
    /verifier\/pipe.*found a fifo/,
  ],
  ['a pipe in a solution', folderWith((at) => fifo(at('oracle/pipe'))), 'E_TREE', /oracle\/pipe/],
  [
    'a test twice',
    folderWith(none, { verifier: { ...CHALLENGE.verifier, tests: tests('a', 'b', 'a') } }),
    'E_CONTRACT',
    /each test once; found a twice/,
  ],
  [
    'a test that must fail and is one to pass',
    folderWith(none, { verifier: { ...CHALLENGE.verifier, mustFail: ['it-works'] } }),
    'E_CONTRACT',
    /each test once; found it-works twice/,
  ],
  [
    'a solution twice',
    folderWith(none, { solutions: [...solutions, solutions[0]] }),
    'E_CONTRACT',
    /each solution once; found oracle twice/,
  ],
  ['no solution', folderWith(none, { solutions: [] }), 'E_CONTRACT', /found no solution/],
  [
    'only what is rewarded',
    folderWith(none, { solutions: solutions.slice(0, 1) }),
    'E_CONTRACT',
    /found oracle/,
  ],
  ['only what is not', folderWith(none, { solutions: solutions.slice(1) }), 'E_CONTRACT', /found nothing/],
];

t.test('a whole one is frozen, and the same again is the same', async (t) => {
  const folder = folderWith((at) => {
    rmSync(at('prompt.md'));
    writeFileSync(at('text.md'), 'Make it work.\n');
    symlinkSync('text.md', at('prompt.md'));
  });
  t.equal(
    await freezeChallenge(store, folder),
    await freezeChallenge(store, folderWith(none)),
    'a link within',
  );
});

for (const [what, folder, code, said] of ROWS)
  t.test(`${what} is refused`, async (t) => {
    await t.rejects(freezeChallenge(store, folder), { code, message: said });
  });
