/** Repositories that lie, lack, or would have us run something: each is a named fault, and nothing is run or fetched. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { hasher } from '../../../store/format/crypto.ts';
import { gitObjectId } from '../../../store/format/git-object.ts';
import { gitTreeOid } from '../../../store/format/git-tree.ts';
import { importCommit } from '../../../store/git/import.ts';
import { openGit } from '../../../store/git/open.ts';
import { type GitObject, readWhole } from '../../../store/git/reader.ts';
import { BACKENDS, git, rawCommit, rawTree, take, writeLoose } from './kit.ts';

function repository(root: string, name = 'r', ...options: string[]): string {
  const folder = join(root, name);
  mkdirSync(folder);
  git(folder, ['init', '-q', '-b', 'main', ...options]);
  mkdirSync(join(folder, 'd'));
  writeFileSync(join(folder, 'd/y'), 'x\n');
  writeFileSync(join(folder, 'f'), 'f\n');
  git(folder, ['add', '-A']);
  git(folder, ['commit', '-q', '-m', 'one']);
  return folder;
}

const head = (folder: string): string => git(folder, ['rev-parse', 'HEAD']);
const loose = (folder: string, oid: string) => join(folder, '.git/objects', oid.slice(0, 2), oid.slice(2));

t.test('an object with other bytes under its name is E_DIGEST, with its path', async (t) => {
  for (const backend of BACKENDS) {
    const folder = repository(t.testdir());
    const id = head(folder);
    const oid = git(folder, ['rev-parse', 'HEAD:d/y']);
    const other = writeLoose(folder, 'blob', Buffer.from('tampered'));
    chmodSync(loose(folder, oid), 0o644);
    copyFileSync(loose(folder, other), loose(folder, oid));
    const message = new RegExp(`at d/y \\(Git object\\).*wanted ${oid}`);
    await t.rejects(take(folder, id, backend), { code: 'E_DIGEST', message }, backend);
  }
});

t.test('torn and damaged objects are faults, never other content', async (t) => {
  for (const backend of BACKENDS) {
    const folder = repository(t.testdir());
    const oid = git(folder, ['rev-parse', 'HEAD:f']);
    chmodSync(loose(folder, oid), 0o644);
    for (const bytes of [
      Buffer.alloc(0),
      readFileSync(loose(folder, oid)).subarray(0, 9),
      Buffer.from('no zlib'),
    ]) {
      writeFileSync(loose(folder, oid), bytes);
      await t.rejects(take(folder, head(folder), backend), { name: 'AshlarError' }, `${backend} loose`);
    }
    const second = repository(t.testdir());
    const id = head(second);
    git(second, ['repack', '-adfq']);
    const packs = join(second, '.git/objects/pack');
    const pack = join(packs, readdirSync(packs).find((name) => name.endsWith('.pack')) as string);
    const whole = readFileSync(pack);
    chmodSync(pack, 0o644);
    for (let at = 12; at < whole.length - 20; at += 23) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] as number) ^ 0x10;
      writeFileSync(pack, bytes);
      const taken = await take(second, id, backend).catch((error: { name?: string }) => error.name);
      if (typeof taken !== 'object') t.equal(taken, 'AshlarError', `${backend} byte ${at}`);
      else t.equal(taken.commit, id, `${backend} byte ${at}: what is read is right`);
    }
  }
});

t.test('nothing is fetched and no command of the repository runs', async (t) => {
  for (const backend of BACKENDS) {
    const root = t.testdir();
    const folder = repository(root);
    const marker = join(root, 'ran');
    const evil = join(root, 'evil.sh');
    writeFileSync(evil, `#!/bin/sh\ntouch ${marker}\nexec git-upload-pack "$@"\n`);
    chmodSync(evil, 0o755);
    git(folder, ['config', 'uploadpack.allowFilter', 'true']);
    git(root, ['clone', '-q', '--no-checkout', '--filter=blob:none', `file://${folder}`, 'p']);
    const partial = join(root, 'p');
    for (const [key, value] of [
      ['remote.origin.uploadpack', evil],
      ['core.sshCommand', evil],
      ['core.fsmonitor', evil],
      ['core.alternateRefsCommand', evil],
    ])
      git(partial, ['config', key as string, value as string]);
    const message = /at (d\/y|f) \([0-9a-f]{40}\)/;
    await t.rejects(take(partial, head(folder), backend), { code: 'E_GIT', message }, backend);
    t.notOk(existsSync(marker), `${backend}: the command did not run`);
    git(partial, ['config', 'remote.origin.url', `ext::${evil}`]);
    await t.rejects(take(partial, head(folder), backend), { code: 'E_GIT' }, backend);
    t.notOk(existsSync(marker), `${backend}: nor through ext::`);
  }
});

t.test("the caller's environment and parent folders decide nothing", async (t) => {
  const root = t.testdir();
  const folder = repository(root);
  const other = repository(root, 'other');
  writeFileSync(join(other, 'more'), 'm');
  git(other, ['add', '-A']);
  git(other, ['commit', '-q', '-m', 'two']);
  const saved = { ...process.env };
  t.teardown(() => {
    process.env = saved;
  });
  process.env.GIT_DIR = join(other, '.git');
  process.env.GIT_OBJECT_DIRECTORY = join(other, '.git/objects');
  process.env.GIT_ALTERNATE_OBJECT_DIRECTORIES = join(other, '.git/objects');
  for (const backend of BACKENDS) {
    t.equal((await take(folder, head(folder), backend)).entries, 2);
    await t.rejects(take(folder, head(other), backend), { code: 'E_GIT' }, 'not from the other one');
    await t.rejects(
      openGit(join(folder, 'd'), { backend }),
      { code: 'E_NOT_FOUND' },
      'a folder inside is none',
    );
    await t.rejects(openGit(join(root, 'absent'), { backend }), { code: 'E_NOT_FOUND' });
  }
  mkdirSync(join(root, 'bin'));
  process.env.PATH = join(root, 'bin');
  await t.rejects(openGit(folder, { backend: 'git' }), { code: 'E_GIT' }, 'no git on PATH');
  const reader = await openGit(folder);
  t.equal(reader.backend, 'isomorphic', 'the other back end serves');
  await reader.close();
});

t.test('a SHA-256 repository takes no 40-digit id, and the other way round', async (t) => {
  const root = t.testdir();
  const wide = repository(root, 'wide', '--object-format=sha256');
  const id = head(wide);
  await t.rejects(take(wide, id.slice(0, 40), 'git'), { code: 'E_GIT_REF' });
  const narrow = repository(root);
  await t.rejects(take(narrow, id, 'git'), { code: 'E_GIT_REF' });
  await t.rejects(take(narrow, head(narrow).toUpperCase(), 'git'), { code: 'E_GIT_REF' });
});

/** Trees with the paths at which each is odd. `f` is a file, `d` a folder. */
function oddShapes(folder: string, f: string, d: string) {
  const empty = rawTree(folder, []);
  const padded = rawTree(folder, [
    ['100644', f, 'g'],
    ['040000', d, 'z'],
  ]);
  return {
    'a zero-padded mode': {
      lines: [
        ['040000', d, 'd'],
        ['100644', f, 'f'],
      ],
      odd: [''],
    },
    'plain name order': {
      lines: [
        ['40000', d, 'd'],
        ['100644', f, 'd.txt'],
      ],
      odd: [''],
    },
    'reverse order': {
      lines: [
        ['100644', f, 'b'],
        ['100644', f, 'a'],
      ],
      odd: [''],
    },
    'an odd directory mode': { lines: [['40755', d, 'd']], odd: [''] },
    'an odd link mode': { lines: [['120777', f, 'l']], odd: [''] },
    'a legacy file mode': { lines: [['100664', f, 'f']], odd: [] },
    'a private file mode': { lines: [['100600', f, 'f']], odd: [] },
    'an empty directory': { lines: [['40000', empty, 'e']], odd: [] },
    'one odd tree in two places': {
      lines: [
        ['40000', padded, 'p'],
        ['40000', padded, 'q'],
      ],
      odd: ['p', 'q'],
    },
    'a plain twin beside it': {
      lines: [
        [
          '40000',
          rawTree(folder, [
            ['100644', f, 'g'],
            ['40000', d, 'z'],
          ]),
          'p',
        ],
        ['40000', padded, 'q'],
      ],
      odd: ['q'],
    },
  } as const;
}

t.test('odd trees are kept raw, and the tree id comes back', async (t) => {
  const folder = repository(t.testdir());
  const [f, d] = ['f', 'd'].map((path) => git(folder, ['rev-parse', `HEAD:${path}`])) as [string, string];
  const shapes = oddShapes(folder, f, d);
  for (const [what, { lines, odd }] of Object.entries(shapes)) {
    const tree = rawTree(folder, lines);
    const id = rawCommit(folder, tree);
    const cids = new Set<string>();
    for (const backend of BACKENDS) {
      const taken = await take(folder, id, backend);
      cids.add(`${taken.tree} ${JSON.stringify(taken.oddTrees)}`);
      t.same(
        taken.oddTrees.map((each) => each.path.join('/')),
        odd,
        what,
      );
      t.equal(taken.treeOid, tree);
      const again = await gitTreeOid(taken.blocks.reader, taken.tree, taken.oddTrees, 'sha1');
      t.equal(again, taken.treeOid, `${what}: recomputed`);
    }
    t.equal(cids.size, 1, 'one answer');
  }
});

t.test('trees that no folder can be are refused', async (t) => {
  const folder = repository(t.testdir());
  const [f, d] = ['f', 'd'].map((path) => git(folder, ['rev-parse', `HEAD:${path}`])) as [string, string];
  const bad = {
    'a name twice': {
      lines: [
        ['100644', f, 'a'],
        ['100755', f, 'a'],
      ],
      code: 'E_GIT',
    },
    'a file and a folder of one name': {
      lines: [
        ['100644', f, 'a'],
        ['40000', d, 'a'],
      ],
      code: 'E_GIT',
    },
    'a set-user-id file': { lines: [['104755', f, 'a']], code: 'E_GIT' },
    'a mode without a type': { lines: [['644', f, 'a']], code: 'E_GIT' },
    'a device': { lines: [['20644', f, 'a']], code: 'E_GIT' },
    'a file that is a tree': { lines: [['100644', d, 'a']], code: 'E_GIT' },
    'a folder that is a file': { lines: [['40000', f, 'a']], code: 'E_GIT' },
  } as const;
  for (const [what, { lines, code }] of Object.entries(bad))
    for (const backend of BACKENDS)
      await t.rejects(take(folder, rawCommit(folder, rawTree(folder, lines)), backend), { code }, what);
});

t.test('every spelling of .git is refused, and nothing that only looks like one', async (t) => {
  const folder = repository(t.testdir());
  const f = git(folder, ['rev-parse', 'HEAD:f']);
  // Spellings of one kind with the case corpus/dot-git-spellings: what Git refuses in verify_path and in fsck.
  const names = [
    '.Git',
    'GIT~1',
    '.git ',
    '.git...',
    '.git. .',
    '.git::$INDEX_ALLOCATION',
    'x\\.git',
    'a\\git~1\\b',
  ];
  const ignored = ['\u200b', '\u200d', '\u200e', '\u202a', '\u202e', '\u206a', '\u206f', '\ufeff'];
  const spelled = [
    ...names,
    ...ignored.slice(1).map((char) => Buffer.from(`.g${char}it`).toString('latin1')),
  ];
  for (const name of spelled)
    await t.rejects(
      take(folder, rawCommit(folder, rawTree(folder, [['100644', f, name]])), 'git'),
      { code: 'E_PATH' },
      name,
    );
  // And of those that are fine.
  const fine = [
    '.gitignore',
    '.github',
    'git~2',
    '.gitx',
    '..a',
    '...',
    'git',
    'a.git',
    '.git\u00ef',
    'x\\.gitx',
  ];
  for (const name of [...fine, Buffer.from(`.g${ignored[0]}it`).toString('latin1')])
    t.equal(
      (await take(folder, rawCommit(folder, rawTree(folder, [['100644', f, name]])), 'git')).entries,
      1,
      name,
    );
});

t.test('a large blob is streamed, and one that lies is caught at its end', async (t) => {
  const folder = repository(t.testdir());
  writeFileSync(join(folder, 'large'), Buffer.alloc(5_000_000, 'ashlar '));
  git(folder, ['add', '-A']);
  git(folder, ['commit', '-q', '-m', 'two']);
  for (const backend of BACKENDS) {
    const taken = await take(folder, head(folder), backend);
    t.equal(taken.counts.bytes, 5_000_004);
    t.equal(await gitTreeOid(taken.blocks.reader, taken.tree, [], 'sha1'), taken.treeOid);
  }
  const reader = await openGit(folder, { backend: 'git' });
  const oid = git(folder, ['rev-parse', 'HEAD:large']);
  const running = hasher('sha1');
  running.update(Buffer.from('blob 5000000\0'));
  await reader.objects([oid], async ({ body }: GitObject) => {
    t.notOk(body instanceof Uint8Array, 'in pieces');
    for await (const part of body as AsyncIterable<Uint8Array>) running.update(part);
  });
  t.equal(running.hex(), oid);
  await reader.close();
  const other = writeLoose(folder, 'blob', Buffer.alloc(5_000_000, 'tampered'));
  chmodSync(loose(folder, oid), 0o644);
  copyFileSync(loose(folder, other), loose(folder, oid));
  for (const backend of BACKENDS)
    await t.rejects(take(folder, head(folder), backend), { code: 'E_DIGEST', message: /at large/ });
});

t.test('a reader left early, in the middle of a body or by a fault, still answers rightly', async (t) => {
  const folder = repository(t.testdir());
  const large = writeLoose(folder, 'blob', Buffer.alloc(3_000_000, 1));
  const ids = ['HEAD:f', 'HEAD:d/y', 'HEAD^{tree}'].map((name) => git(folder, ['rev-parse', name]));
  const reader = await openGit(folder, { backend: 'git' });
  await reader.objects([large, ...ids], async ({ oid, body }) => {
    if (oid === large) for await (const _ of body as AsyncIterable<Uint8Array>) break;
  });
  const stop = () => {
    throw new Error('enough');
  };
  await t.rejects(reader.objects([...ids, large], stop), { message: 'enough' });
  const answers = await Promise.all(ids.map((id) => readWhole(reader, id)));
  const found = answers.map(({ type, body }) => gitObjectId('sha1', type, body));
  t.same(found, ids);
  await t.rejects(
    reader.objects([ids[0] as string, 'f'.repeat(40)], () => undefined),
    {
      code: 'E_GIT',
      message: /missing/,
    },
  );
  t.equal((await readWhole(reader, ids[0] as string)).type, 'blob');
  await reader.close();
});

t.test('a fault of the one who stores is passed on as it is', async (t) => {
  const folder = repository(t.testdir());
  for (const backend of BACKENDS) {
    const reader = await openGit(folder, { backend });
    let count = 0;
    const emit = async () => {
      count += 1;
      throw new Error('disk full');
    };
    await t.rejects(importCommit(reader, head(folder), emit), { message: 'disk full' });
    t.ok(count > 0);
    await reader.close();
  }
});

t.test('a tree whose listing never ends is refused before it is walked', async (t) => {
  const folder = repository(t.testdir());
  const f = git(folder, ['rev-parse', 'HEAD:f']);
  let tree = rawTree(
    folder,
    Array.from({ length: 10 }, (_, i) => ['100644', f, `f${i}`] as const),
  );
  for (let level = 0; level < 9; level++) {
    const below = tree;
    tree = rawTree(
      folder,
      Array.from({ length: 10 }, (_, i) => ['40000', below, `d${i}`] as const),
    );
  }
  const id = rawCommit(folder, tree);
  for (const backend of BACKENDS) await t.rejects(take(folder, id, backend), { code: 'E_TOO_LARGE' });
});
