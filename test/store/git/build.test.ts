/** Repositories from dated steps: equal ids everywhere, clean for Git, and every bad plan named. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { buildRepository } from '../../../store/git/build.ts';
import { BACKENDS, git, take } from './kit.ts';

const PLAN = {
  v: 1,
  name: 'made',
  author: { name: 'A. Maker', email: 'a@example.invalid' },
  stored: { 'stored/root.txt': 'AGENTS.md', 'stored/dot': '.dot', 'stored/dot/deep': 'kept/deep' },
  steps: [
    { id: 's0', date: '2024-03-01T10:00:00Z', message: 'Base', folder: 'base', executable: ['bin/run'] },
    {
      id: 's1',
      date: '2024-03-02T10:00:00Z',
      message: 'Second\n\nWhy.\n\n',
      folder: 'steps/s1',
      delete: ['old', 'f'],
    },
    { id: 's2', date: '2024-03-02T10:00:00Z', message: 'Third', folder: 'steps/s2', executable: ['g'] },
  ],
};
const FILES: Readonly<Record<string, string>> = {
  'base/bin/run': '#!/bin/sh\n',
  'base/d/y': 'y\n',
  'base/d.txt': 'd\n',
  'base/f': 'f\n',
  'base/old/a': 'a\n',
  'base/old/b/c': 'c\n',
  'base/stored/root.txt': 'memory\n',
  'base/stored/dot/x': 'x\n',
  'base/stored/dot/deep/z': 'z\n',
  'base/\u00e9': 'e\n',
  'steps/s1/bin/run': '#!/bin/sh\necho 2\n',
  'steps/s1/f/now-a-folder': 'f\n',
  'steps/s1/g': 'g\n',
  'steps/s2/new': '',
};

function data(root: string, plan: unknown = PLAN, files = FILES): string {
  const source = join(root, 'source');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(source, path)), { recursive: true });
    writeFileSync(join(source, path), text);
  }
  for (const step of ['base', 'steps/s1', 'steps/s2']) mkdirSync(join(source, step), { recursive: true });
  writeFileSync(join(source, 'repository.json'), JSON.stringify(plan));
  return source;
}

t.test('the ids are those that Git gives to the same steps, and fsck finds nothing', async (t) => {
  const root = t.testdir();
  const source = data(root);
  symlinkSync('d/y', join(source, 'base/link'));
  const target = join(root, 'target');
  const built = buildRepository(source, target);
  t.equal(git(target, ['fsck', '--strict', '--full']), '');
  t.equal(git(target, ['rev-parse', 'HEAD']), built[2]?.commit);
  t.same(
    git(target, ['log', '--reverse', '--format=%H %T %at %ct %an <%ae> %cn %s']).split('\n'),
    built.map(({ commit, tree }, i) => {
      const step = PLAN.steps[i] as (typeof PLAN.steps)[number];
      const seconds = Date.parse(step.date) / 1000;
      const subject = step.message.split('\n')[0];
      return `${commit} ${tree} ${seconds} ${seconds} A. Maker <a@example.invalid> A. Maker ${subject}`;
    }),
  );
  t.match(git(target, ['cat-file', 'commit', `${built[1]?.commit}`]), /\n\nSecond\n\nWhy\.$/);
  const modes = (id: string) => git(target, ['-c', 'core.quotePath=false', 'ls-tree', '-r', id]).split('\n');
  const paths = (id: string) => modes(id).map((line) => `${line.slice(0, 6)} ${line.split('\t')[1]}`);
  t.same(paths(built[0]?.commit as string), [
    '100644 .dot/x',
    '100644 AGENTS.md',
    '100755 bin/run',
    '100644 d.txt',
    '100644 d/y',
    '100644 f',
    '100644 kept/deep/z',
    '120000 link',
    '100644 old/a',
    '100644 old/b/c',
    '100644 \u00e9',
  ]);
  t.same(paths(built[2]?.commit as string), [
    '100644 .dot/x',
    '100644 AGENTS.md',
    '100755 bin/run',
    '100644 d.txt',
    '100644 d/y',
    '100644 f/now-a-folder',
    '100755 g',
    '100644 kept/deep/z',
    '120000 link',
    '100644 new',
    '100644 \u00e9',
  ]);
  // The last tree by Git's own hand, from a checkout.
  git(root, ['clone', '-q', target, 'again']);
  const again = join(root, 'again');
  git(again, ['rm', '-r', '-q', '--cached', '.']);
  git(again, ['add', '-A', '-f']);
  t.equal(git(again, ['write-tree']), built[2]?.tree);
  for (const backend of BACKENDS) {
    const taken = await take(target, built[2]?.commit as string, backend);
    t.equal(taken.treeOid, built[2]?.tree);
  }
});

t.test('umask, modes, times and the environment of the one who builds change nothing', async (t) => {
  const root = t.testdir();
  const first = buildRepository(data(root), join(root, 'first'));
  t.same(
    first.map(({ commit }) => commit),
    [
      '01830e8be170e0d06fd8aa3eb1aded6c537f20c1',
      'a74f7626d36a472318deaa328e72839ba32f4711',
      '8145702642687240c055fe0ed0b13a8a8fe2c3f2',
    ],
    'the ids of every machine',
  );
  cpSync(join(root, 'source'), join(root, 'other'), { recursive: true });
  for (const path of Object.keys(FILES)) {
    chmodSync(join(root, 'other', path), 0o700);
    utimesSync(join(root, 'other', path), 1, 1);
  }
  const saved = { ...process.env };
  const umask = process.umask(0o077);
  t.teardown(() => {
    process.umask(umask);
    process.env = saved;
  });
  Object.assign(process.env, { PATH: '', GIT_DIR: '/nowhere', GIT_AUTHOR_NAME: 'x', TZ: 'Asia/Tokyo' });
  t.same(buildRepository(join(root, 'other'), join(root, 'second')), first, 'with no git on PATH');
});

t.test('bad plans are named, and leave nothing', async (t) => {
  const [s0, s1] = PLAN.steps;
  const step = (change: object) => ({ ...PLAN, steps: [{ ...s0, ...change }] });
  const bad: Readonly<
    Record<string, { readonly plan: unknown; readonly code: string; readonly says: RegExp }>
  > = {
    'another version': { plan: { ...PLAN, v: 2 }, code: 'E_CONFIG', says: /v; wanted 1/ },
    'an unknown field': { plan: { ...PLAN, branch: 'x' }, code: 'E_CONFIG', says: /branch/ },
    'an unknown field of a step': { plan: step({ exec: [] }), code: 'E_CONFIG', says: /steps\[0\].*exec/ },
    'no steps': { plan: { ...PLAN, steps: [] }, code: 'E_CONFIG', says: /steps/ },
    'one id twice': { plan: { ...PLAN, steps: [s0, { ...s1, id: 's0' }] }, code: 'E_CONFIG', says: /id/ },
    'time going back': { plan: { ...PLAN, steps: [s1, s0] }, code: 'E_CONFIG', says: /steps\[1\].date/ },
    'a date that is none': { plan: step({ date: '2024-02-30T00:00:00Z' }), code: 'E_CONFIG', says: /date/ },
    'a date with a zone': {
      plan: step({ date: '2024-02-03T00:00:00+01:00' }),
      code: 'E_CONFIG',
      says: /date/,
    },
    'a date before 1970': { plan: step({ date: '1969-02-03T00:00:00Z' }), code: 'E_CONFIG', says: /1970/ },
    'an empty message': { plan: step({ message: ' \n' }), code: 'E_CONFIG', says: /message/ },
    'a path that climbs': { plan: step({ folder: '../base' }), code: 'E_PATH', says: /\.\./ },
    'a folder that is not there': { plan: step({ folder: 'absent' }), code: 'E_IO', says: /ENOENT/ },
    'a delete of nothing': { plan: step({ delete: ['absent'] }), code: 'E_CONFIG', says: /s0.*absent/ },
    'an executable that is not there': {
      plan: step({ executable: ['absent'] }),
      code: 'E_CONFIG',
      says: /absent/,
    },
    'a name that Git refuses': {
      plan: { ...PLAN, stored: { 'd/y': '.git/y' } },
      code: 'E_PATH',
      says: /\.git/,
    },
    'two files for one path': {
      plan: { ...PLAN, stored: { 'd/y': 'f' } },
      code: 'E_CONFIG',
      says: /found f/,
    },
    'a file and a folder of one name': {
      plan: { ...PLAN, stored: { f: 'd' } },
      code: 'E_CONFIG',
      says: /both/,
    },
    'an author with a bracket': {
      plan: { ...PLAN, author: { name: 'a <b', email: 'c' } },
      code: 'E_CONFIG',
      says: /author.name/,
    },
    'an author over two lines': {
      plan: { ...PLAN, author: { name: 'a\nb', email: 'c' } },
      code: 'E_CONFIG',
      says: /author.name/,
    },
  };
  for (const [what, { plan, code, says }] of Object.entries(bad)) {
    const root = t.testdir();
    const source = data(root, plan);
    t.throws(() => buildRepository(source, join(root, 'target')), { code, message: says }, what);
    t.notOk(existsSync(join(root, 'target')), `${what}: nothing is left`);
  }
  const root = t.testdir({ there: { mine: 'mine' } });
  t.throws(() => buildRepository(data(root), join(root, 'there')), { code: 'E_STORE_EXISTS' });
  t.equal(readFileSync(join(root, 'there/mine'), 'utf8'), 'mine');
  writeFileSync(join(root, 'source/repository.json'), '{"v":1,"v":1}');
  t.throws(() => buildRepository(join(root, 'source'), join(root, 'target')), { code: 'E_JSON' });
});

t.test('every repository of the catalogue builds, and is clean for Git', async (t) => {
  // This module runs as dist/test/store/git/build.test.js.
  const catalogue = fileURLToPath(new URL('../../../../challenges/repositories', import.meta.url));
  const root = t.testdir();
  const names = readdirSync(catalogue);
  t.ok(names.length > 0);
  for (const name of names) {
    const built = buildRepository(join(catalogue, name), join(root, name));
    t.equal(git(join(root, name), ['fsck', '--strict', '--full']), '', name);
    t.equal(git(join(root, name), ['rev-list', '--count', 'HEAD']), String(built.length));
  }
});
