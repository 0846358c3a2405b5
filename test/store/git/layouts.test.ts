/**
 * Repositories in every shape that Git makes: each is read, or refused with E_GIT_LAYOUT; the two back ends never
 * differ. Each is made by the program git, which is also asked what is in it.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { gitTreeOid } from '../../../store/format/git-tree.ts';
import { BACKENDS, type Backend, git, listing, take } from './kit.ts';

/** A repository with a nested folder, a link, an executable, odd names; its commit. */
function repository(root: string, ...options: string[]): string {
  const folder = join(root, 'r');
  mkdirSync(folder);
  git(folder, ['init', '-q', '-b', 'main', ...options]);
  mkdirSync(join(folder, 'd/e'), { recursive: true });
  for (const [path, text] of Object.entries({
    'd/y': 'x\n',
    'd/e/z': 'z\n',
    'd.txt': 'z\n',
    f: Array.from({ length: 900 }, (_, i) => i).join('\n'),
    'line\nbreak': 'n',
    'back\\slash.txt': 'b',
    '\u00e9\u0301': 'u',
    con: 'c',
    run: '#!/bin/sh\n',
    empty: '',
  }))
    writeFileSync(join(folder, path), text);
  writeFileSync(Buffer.concat([Buffer.from(join(folder, 'a')), Buffer.of(0xff)]), '1');
  writeFileSync(Buffer.concat([Buffer.from(join(folder, 'a')), Buffer.of(0xfe)]), '2');
  chmodSync(join(folder, 'run'), 0o755);
  symlinkSync('../elsewhere', join(folder, 'l'));
  commit(folder, 'one');
  return folder;
}

function commit(folder: string, message: string): string {
  git(folder, ['add', '-A', '-f']);
  git(folder, ['commit', '-q', '--allow-empty', '-m', message]);
  return head(folder);
}

const head = (folder: string): string => git(folder, ['rev-parse', 'HEAD']);

/** Git's own recursive listing: mode, type, id, path. */
const listed = (folder: string, id: string): number =>
  git(folder, ['ls-tree', '-r', '-z', id]).split('\0').filter(Boolean).length;

interface Shape {
  readonly what: string;
  /** Makes it below the empty folder; where it lies, and the commit asked for. */
  readonly make: (root: string) => { readonly at: string; readonly id: string };
  /** Back ends that refuse it. */
  readonly refusedBy?: readonly Backend[];
}

const edited = (root: string): string => {
  const folder = repository(root);
  for (let i = 0; i < 6; i++) {
    writeFileSync(join(folder, 'f'), `${readFileSync(join(folder, 'f'), 'utf8')}\nline ${i}`);
    commit(folder, `edit ${i}`);
  }
  return folder;
};
const packed = (folder: string, ...args: string[]): string => {
  git(folder, args);
  return folder;
};
const plain = (folder: string) => ({ at: folder, id: head(folder) });

const SHAPES: readonly Shape[] = [
  { what: 'loose objects', make: (root) => plain(repository(root)) },
  { what: 'offset deltas', make: (root) => plain(packed(edited(root), 'repack', '-adfq', '--depth=50')) },
  {
    what: 'reference deltas',
    make: (root) => plain(packed(edited(root), '-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq')),
  },
  {
    what: 'loose and packed at once',
    make: (root) => plain(packed(edited(root), 'repack', '-aq')),
  },
  {
    what: 'a multi-pack index and a commit graph',
    make: (root) => {
      const folder = packed(edited(root), 'repack', '-dq');
      commit(folder, 'two');
      packed(folder, 'repack', '-dq');
      packed(folder, 'multi-pack-index', 'write');
      return plain(packed(folder, 'commit-graph', 'write', '--reachable'));
    },
  },
  {
    what: 'pack index version 1',
    make: (root) => plain(packed(edited(root), '-c', 'pack.indexVersion=1', 'repack', '-adfq')),
    refusedBy: ['isomorphic'],
  },
  {
    what: 'pack index with 64-bit offsets',
    make: (root) => {
      const folder = packed(edited(root), 'repack', '-adfq');
      const packs = join(folder, '.git/objects/pack');
      const pack = readdirSync(packs).find((name) => name.endsWith('.pack')) as string;
      for (const end of ['.idx', '.rev']) rmSync(join(packs, pack.replace('.pack', end)), { force: true });
      git(packs, ['index-pack', '--index-version=2,0x40', pack]);
      return plain(folder);
    },
    refusedBy: ['isomorphic'],
  },
  {
    what: 'alternates',
    make: (root) => {
      const folder = repository(root);
      git(root, ['clone', '-q', '--shared', folder, 'a']);
      return { at: join(root, 'a'), id: head(folder) };
    },
    refusedBy: ['isomorphic'],
  },
  {
    what: 'a linked worktree',
    make: (root) => {
      const folder = repository(root);
      git(folder, ['worktree', 'add', '-q', '../w', '-b', 'w']);
      return { at: join(root, 'w'), id: head(folder) };
    },
  },
  {
    what: 'a bare clone',
    make: (root) => {
      const folder = repository(root);
      git(root, ['clone', '-q', '--bare', folder, 'b']);
      return { at: join(root, 'b'), id: head(folder) };
    },
  },
  {
    what: 'a shallow clone',
    make: (root) => {
      const folder = edited(root);
      git(root, ['clone', '-q', '--depth=1', `file://${folder}`, 's']);
      return { at: join(root, 's'), id: head(folder) };
    },
  },
  {
    what: 'a submodule, whose .git is a file',
    make: (root) => {
      const folder = repository(root);
      mkdirSync(join(root, 'o'));
      git(join(root, 'o'), ['init', '-q', '-b', 'main']);
      git(join(root, 'o'), ['submodule', '--quiet', 'add', folder, 'sub']);
      return { at: join(root, 'o/sub'), id: head(folder) };
    },
  },
  {
    what: 'SHA-256 object ids',
    make: (root) => plain(repository(root, '--object-format=sha256')),
    refusedBy: ['isomorphic'],
  },
  {
    what: 'an annotated tag and packed refs, HEAD detached',
    make: (root) => {
      const folder = repository(root);
      git(folder, ['tag', '-a', '-m', 'm', 'v1']);
      git(folder, ['pack-refs', '--all']);
      git(folder, ['checkout', '-q', '--detach']);
      return { at: folder, id: git(folder, ['rev-parse', 'v1']) };
    },
  },
  {
    what: 'a replacement of a blob, which is not looked at',
    make: (root) => {
      const folder = repository(root);
      const other = git(folder, ['hash-object', '-w', '--stdin'], 'replaced');
      git(folder, ['replace', git(folder, ['rev-parse', 'HEAD:d/y']), other]);
      return plain(folder);
    },
  },
];

for (const { what, make, refusedBy = [] } of SHAPES) {
  t.test(what, async (t) => {
    const { at, id } = make(t.testdir());
    const trees = new Map<Backend, string>();
    for (const backend of BACKENDS) {
      if (refusedBy.includes(backend)) {
        await t.rejects(take(at, id, backend), { code: 'E_GIT_LAYOUT' }, backend);
        continue;
      }
      const taken = await take(at, id, backend);
      trees.set(backend, taken.tree);
      t.equal(taken.entries, listed(at, id), `${backend}: as many entries as Git lists`);
      t.ok(
        (await listing(taken)).some((line) => line.startsWith('120000 ')),
        'a link is a link',
      );
      const algorithm = id.length === 40 ? 'sha1' : 'sha256';
      const wanted = git(at, ['rev-parse', `${id}^{tree}`]);
      t.equal(taken.treeOid, wanted);
      t.equal(await gitTreeOid(taken.blocks.reader, taken.tree, taken.oddTrees, algorithm), wanted);
    }
    t.equal(new Set(trees.values()).size, 1, 'one cid');
  });
}
