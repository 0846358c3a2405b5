/** Git tree ids from our own blocks, with and without removed entries; what must not pass does not. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { type Cid, link } from '../../../store/format/cid.ts';
import {
  commitTree,
  encodeGitTree,
  gitAlgorithmOf,
  gitObjectId,
  isGitOid,
  parseGitTree,
  tagTarget,
} from '../../../store/format/git-object.ts';
import {
  gitBlobOid,
  gitTreeOid,
  gitTreeOidWithRemoved,
  type OddTree,
  type RemovedEntry,
} from '../../../store/format/git-tree.ts';
import {
  type Entry,
  fileEntry,
  nameBytes,
  nameFromBytes,
  type TreePath,
  treeNode,
} from '../../../store/format/tree.ts';
import { type Blocks, openBlocks } from '../../rules/kit.ts';

const E_GIT = { code: 'E_GIT' };

t.test('ids are those of git hash-object', async (t) => {
  // git hash-object --stdin, git mktree, in a SHA-1 and a SHA-256 repository.
  const [none, hello] = [new Uint8Array(), Buffer.from('hello\n')];
  t.equal(gitObjectId('sha1', 'blob', none), 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391');
  t.equal(gitObjectId('sha1', 'blob', hello), 'ce013625030ba8dba906f756967f9e9ca394464a');
  t.equal(gitObjectId('sha1', 'tree', none), '4b825dc642cb6eb9a060e54bf8d69288fbee4904');
  const wide = '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813';
  t.equal(gitObjectId('sha256', 'blob', none), wide);
  const tree = '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321';
  t.equal(gitObjectId('sha256', 'tree', none), tree);
  const large = Buffer.alloc(3_000_000, 'z');
  const wanted = createHash('sha1').update(`blob ${large.length}\0`).update(large).digest('hex');
  t.equal(gitObjectId('sha1', 'blob', large), wanted);
  const blocks = openBlocks();
  t.equal(await gitBlobOid(blocks.reader, blocks.raw(large), large.length, 'sha1'), wanted, 'streamed');
  await t.rejects(gitBlobOid(blocks.reader, blocks.raw(large), large.length - 1, 'sha1'), { code: 'E_TREE' });
  await t.rejects(gitBlobOid(blocks.reader, blocks.raw('a'), 2, 'sha1'), { code: 'E_TREE' });
});

t.test('full ids only', async (t) => {
  for (const bad of [
    '',
    'v1',
    'a'.repeat(39),
    'a'.repeat(41),
    'A'.repeat(40),
    ` ${'a'.repeat(40)}`,
    'g'.repeat(40),
  ]) {
    t.notOk(isGitOid(bad), bad);
    t.throws(() => gitAlgorithmOf(bad), { code: 'E_GIT_REF' });
  }
  t.equal(gitAlgorithmOf('a'.repeat(40)), 'sha1');
  t.equal(gitAlgorithmOf('a'.repeat(64)), 'sha256');
  t.notOk(isGitOid('a'.repeat(64), 'sha1'));
});

t.test('commits and tags are read by their first lines only', async (t) => {
  const oid = 'a'.repeat(40);
  const raw = (text: string) => Buffer.from(text);
  t.equal(commitTree(raw(`tree ${oid}\nauthor x\n\ntree ${'b'.repeat(40)}\n`)), oid);
  t.same(tagTarget(raw(`object ${oid}\ntype commit\ntag v\n`)), { oid, type: 'commit' });
  for (const bad of [
    '',
    `tree ${oid}`,
    `tree ${oid.slice(1)}\n`,
    ` tree ${oid}\n`,
    `author x\ntree ${oid}\n`,
  ])
    t.throws(() => commitTree(raw(bad)), E_GIT, JSON.stringify(bad));
  t.throws(() => tagTarget(raw(`object ${oid}\ntag v\n`)), E_GIT);
});

t.test('cut trees are refused', async (t) => {
  const whole = encodeGitTree([
    { mode: '100644', name: Buffer.from('a'), oid: 'a'.repeat(40) },
    { mode: '40000', name: Buffer.from('a'), oid: 'b'.repeat(40) },
  ]);
  t.equal(parseGitTree(whole, 'sha1').length, 2);
  const first = '100644 a\0'.length + 20;
  for (let end = 1; end < whole.length; end++) {
    const cut = () => parseGitTree(whole.subarray(0, end), 'sha1');
    if (end === first) t.equal(cut().length, 1, 'between two lines');
    else t.throws(cut, E_GIT, `cut at ${end}`);
  }
  t.throws(() => parseGitTree(Buffer.from('x644 a\0'), 'sha1'), E_GIT);
});

/** A node of plain names: text is a file, a list is a folder. */
type Shape = { readonly [name: string]: string | Shape };

function folder(blocks: Blocks, shape: Shape): Cid {
  const entries = Object.entries(shape).map(([name, content]): Entry => {
    if (typeof content === 'string') return fileEntry(name, blocks.raw(content), content.length);
    return { name, type: 'dir', mode: 0o755, cid: link(folder(blocks, content)) };
  });
  return blocks.value(treeNode(entries));
}

const blobId = (text: string) => gitObjectId('sha1', 'blob', Buffer.from(text));
const gone = (path: TreePath, text: string, mode = 0o644): RemovedEntry => ({
  path,
  type: 'file',
  mode,
  oid: blobId(text),
});

t.test('removed entries come back where they stood, with the folders that held only them', async (t) => {
  const blocks = openBlocks();
  const whole = folder(blocks, {
    a: 'a',
    d: { x: 'x', e: { y: 'y' } },
    'd.txt': 'd',
    only: { deep: { z: 'z' } },
  });
  const wanted = await gitTreeOid(blocks.reader, whole, [], 'sha1');
  const clean = folder(blocks, { a: 'a', d: { x: 'x' } });
  const removed = [gone(['d', 'e', 'y'], 'y'), gone(['d.txt'], 'd'), gone(['only', 'deep', 'z'], 'z')];
  const again = (tree: Cid, list: readonly RemovedEntry[], odd: readonly OddTree[] = []) =>
    gitTreeOidWithRemoved(blocks.reader, tree, list, odd, 'sha1');
  t.equal(await again(clean, removed), wanted);
  const subtree = await gitTreeOid(blocks.reader, folder(blocks, { deep: { z: 'z' } }), [], 'sha1');
  const asDir: RemovedEntry = { path: ['only'], type: 'dir', mode: 0o755, oid: subtree };
  t.equal(await again(clean, [...removed.slice(0, 2), asDir]), wanted, 'a whole folder by its id');
  const all = ['a', 'x', 'y', 'd', 'z'].map((text, i) =>
    gone([['a'], ['d', 'x'], ['d', 'e', 'y'], ['d.txt'], ['only', 'deep', 'z']][i] as string[], text),
  );
  t.equal(await again(folder(blocks, {}), all), wanted, 'all of it');
  for (const [what, list] of Object.entries({
    'one left out': removed.slice(1),
    'another mode': [{ ...removed[0]!, mode: 0o755 }, ...removed.slice(1)],
    'another id': [{ ...removed[0]!, oid: blobId('other') }, ...removed.slice(1)],
    'another name': [{ ...removed[0]!, path: ['d', 'e', 'Y'] }, ...removed.slice(1)],
    'one too many': [...removed, gone(['d', 'new'], 'n')],
  }))
    t.not(await again(clean, list), wanted, what);
  for (const [what, list] of Object.entries({
    'one that is there': [...removed, gone(['a'], 'a')],
    'one twice': [...removed, removed[0]!],
    'one below a file': [...removed, gone(['a', 'b'], 'b')],
    'one below a removed one': [...removed, gone(['d.txt', 'b'], 'b')],
    'the root': [...removed, { ...asDir, path: [] }],
    'a short id': [{ ...removed[0]!, oid: 'abc' }, ...removed.slice(1)],
    'an id of the other algorithm': [{ ...removed[0]!, oid: 'a'.repeat(64) }, ...removed.slice(1)],
  }))
    await t.rejects(again(clean, list), E_GIT, what);
});

t.test('what Git cannot hold has no Git id', async (t) => {
  const blocks = openBlocks();
  const empty = folder(blocks, {});
  const entries: readonly Entry[] = [
    { name: 'a', type: 'dir', mode: 0o700, cid: link(empty) },
    { name: 'a', type: 'fifo', mode: 0 },
    { name: 'a', type: 'socket', mode: 0 },
    { name: 'a', type: 'device', mode: 0, rdev: 'c:1:3' },
    { name: 'a', type: 'submodule', mode: 0, oid: 'a'.repeat(64) },
    fileEntry('a', blocks.raw('a'), 1, 0o4755),
  ];
  for (const entry of entries)
    await t.rejects(
      gitTreeOid(blocks.reader, blocks.value({ entries: [entry] }), [], 'sha1'),
      E_GIT,
      entry.type,
    );
  await t.rejects(
    gitTreeOid(blocks.reader, blocks.value({ entries: [fileEntry('a', blocks.raw('a'), 2)] }), [], 'sha1'),
    {
      code: 'E_TREE',
    },
  );
});

t.test('an odd tree counts only where it says what the node says', async (t) => {
  const blocks = openBlocks();
  const tree = folder(blocks, { a: 'a', s: { b: 'b' } });
  const sub = await gitTreeOid(blocks.reader, folder(blocks, { b: 'b' }), [], 'sha1');
  const line = (mode: string, name: string, oid: string) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]);
  const odd = (path: TreePath, ...lines: Buffer[]): OddTree => {
    const raw = Buffer.concat(lines);
    return { path, oid: gitObjectId('sha1', 'tree', raw), cid: blocks.raw(raw) };
  };
  const good = odd([], line('040000', 's', sub), line('100644', 'a', blobId('a')));
  const id = (list: readonly OddTree[], removed: readonly RemovedEntry[] = [], of = tree) =>
    gitTreeOidWithRemoved(blocks.reader, of, removed, list, 'sha1');
  t.equal(await id([good]), good.oid);
  t.equal(
    await id([good], [gone(['a'], 'a')], folder(blocks, { s: { b: 'b' } })),
    good.oid,
    'with one removed',
  );
  const bad = {
    'a file less': odd([], line('040000', 's', sub)),
    'a file more': odd(
      [],
      line('040000', 's', sub),
      line('100644', 'a', blobId('a')),
      line('100644', 'c', sub),
    ),
    'other content': odd([], line('040000', 's', sub), line('100644', 'a', blobId('other'))),
    'another mode': odd([], line('040000', 's', sub), line('100755', 'a', blobId('a'))),
    'another id': { ...good, oid: 'a'.repeat(40) },
    'a place that is not there': { ...good, path: ['t'] },
    'a place that is a file': { ...good, path: ['a'] },
  };
  for (const [what, list] of Object.entries(bad)) await t.rejects(id([list]), E_GIT, what);
  await t.rejects(id([good, good]), E_GIT, 'twice');
});

const name = fc
  .uint8Array({ minLength: 1, maxLength: 6 })
  .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 0 || byte === 0x2f ? 0x61 : byte))))
  .filter((bytes) => !['.', '..'].includes(bytes.toString('latin1')))
  .map(nameFromBytes);

t.test('property: taking entries out and giving their ids changes no tree id', async (t) => {
  const seed = Date.now();
  t.comment(`seed ${seed}`);
  const paths = fc.uniqueArray(fc.array(name, { minLength: 1, maxLength: 4 }), {
    selector: (path) => path.map((each) => Buffer.from(nameBytes(each)).toString('hex')).join('/'),
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(paths, fc.infiniteStream(fc.boolean()), async (list, coins) => {
      const key = (path: TreePath) =>
        path.map((each) => Buffer.from(nameBytes(each)).toString('hex')).join('/');
      const files = list.filter((a) => !list.some((b) => a !== b && key(b).startsWith(`${key(a)}/`)));
      const removed = files.filter(() => coins.next().value);
      const blocks = openBlocks();
      const whole = await gitTreeOid(blocks.reader, treeOf(blocks, files), [], 'sha1');
      const clean = treeOf(
        blocks,
        files.filter((path) => !removed.includes(path)),
      );
      const taken = removed.map((path) => gone(path, key(path)));
      return whole === (await gitTreeOidWithRemoved(blocks.reader, clean, taken, [], 'sha1'));
    }),
    { seed },
  );
  t.pass('no counterexample');
});

/** A tree of these files; the content of each is its path in hex. */
function treeOf(blocks: Blocks, files: readonly TreePath[], at: readonly string[] = []): Cid {
  const hex = (each: TreePath[number]) => Buffer.from(nameBytes(each)).toString('hex');
  const groups = new Map<string, TreePath[]>();
  for (const path of files) {
    const head = hex(path[at.length]!);
    groups.set(head, [...(groups.get(head) ?? []), path]);
  }
  const entries = [...groups].map(([head, below]): Entry => {
    const own = below[0]!;
    const content = own.map(hex).join('/');
    if (own.length === at.length + 1) return fileEntry(own[at.length]!, blocks.raw(content), content.length);
    return {
      name: own[at.length]!,
      type: 'dir',
      mode: 0o755,
      cid: link(treeOf(blocks, below, [...at, head])),
    };
  });
  return blocks.value(treeNode(entries));
}
