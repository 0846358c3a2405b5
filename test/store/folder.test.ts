/** Folders to trees and back: every kind of entry, odd names, faults, and what changes under the reader's hands. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { deviceNumber } from '../../store/folder/read.ts';
import { folderToTree, treeToFolder } from '../../store/folder.ts';
import { type Cid, cidOf, link } from '../../store/format/cid.ts';
import { toBytes } from '../../store/format/codec.ts';
import type { Emit } from '../../store/format/reader.ts';
import {
  type Entry,
  fileEntry,
  nameFromBytes,
  printPath,
  treeNode,
  walkTree,
} from '../../store/format/tree.ts';
import { openBlocks } from '../rules/kit.ts';

const mode = (path: string | Buffer) => lstatSync(path).mode & 0o7777;

/** path -> entry, of a whole tree. */
async function entriesOf(blocks: ReturnType<typeof openBlocks>, tree: Cid): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>();
  for await (const { path, entry } of walkTree(blocks.reader, tree)) found.set(printPath(path), entry);
  return found;
}

/** A folder with every kind of entry that can come back. */
function everything(root: string): string {
  const folder = join(root, 'in');
  mkdirSync(join(folder, 'a/b'), { recursive: true });
  writeFileSync(join(folder, 'a/b/deep'), 'deep');
  mkdirSync(join(folder, 'empty'));
  writeFileSync(join(folder, 'none'), '');
  writeFileSync(join(folder, 'large'), Buffer.alloc(3_500_001, 'large '));
  writeFileSync(join(folder, 'run'), '#!/bin/sh\n');
  writeFileSync(join(folder, 'line\nbreak \u00e9 \u{1f600}'), 'odd');
  writeFileSync(Buffer.concat([Buffer.from(join(folder, 'bytes')), Buffer.of(0xff, 0xfe)]), 'bytes');
  linkSync(join(folder, 'run'), join(folder, 'twin'));
  symlinkSync('../../outside', join(folder, 'up'));
  symlinkSync('/etc/hostname', join(folder, 'abs'));
  symlinkSync('self', join(folder, 'self'));
  symlinkSync('a', join(folder, 'dir'));
  symlinkSync(Buffer.of(0x66, 0xff), join(folder, 'odd-target'));
  for (const [path, bits] of [
    ['run', 0o755],
    ['none', 0o400],
    ['large', 0o2640],
    ['a/b', 0o1777],
    ['empty', 0o500],
    ['a', 0o2755],
  ] as const)
    chmodSync(join(folder, path), bits);
  chmodSync(folder, 0o750);
  return folder;
}

t.test('every kind of entry comes back, whatever the umask', async (t) => {
  const root = t.testdir();
  const folder = everything(root);
  const blocks = openBlocks();
  const umask = process.umask(0o077);
  t.teardown(() => process.umask(umask));
  const first = await folderToTree(folder, blocks.emit);
  t.equal(first.mode, 0o750);
  const target = join(root, 'out');
  const made = await treeToFolder(blocks.reader, first.snapshot, target);
  t.same([made.files, made.links, made.dirs, made.submodules], [7, 5, 3, []]);
  t.same(await folderToTree(target, blocks.emit), first, 'the same snapshot');
  t.not(statSync(join(target, 'run')).ino, statSync(join(target, 'twin')).ino, 'copies, not hard links');
  t.equal(mode(join(target, 'large')), 0o2640);
  const entries = await entriesOf(blocks, first.tree);
  t.match(entries.get('abs'), {
    type: 'link',
    mode: 0,
    size: 13,
    cid: link(cidOf('raw', Buffer.from('/etc/hostname'))),
  });
  t.match(entries.get('large'), { type: 'file', size: 3_500_001 });
  t.same([...entries.values()].filter((entry) => typeof entry.name !== 'string').length, 1);
  const bare = join(root, 'bare');
  await treeToFolder(blocks.reader, first.tree, bare, { mode: 0o711 });
  t.equal(mode(bare), 0o711, 'a tree takes the mode given');
});

t.test('fifo, socket and device are recorded, and refused on the way back', async (t) => {
  // The path of a socket is short.
  const root = t.testdir();
  const folder = join(root, 's');
  mkdirSync(folder);
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  const server = createServer();
  process.chdir(folder);
  await new Promise<void>((resolve) => server.listen('sock', resolve));
  const blocks = openBlocks();
  const { tree } = await folderToTree(folder, blocks.emit);
  const entries = await entriesOf(blocks, tree);
  t.same(entries.get('fifo'), { name: 'fifo', type: 'fifo', mode: 0 });
  t.same(entries.get('sock'), { name: 'sock', type: 'socket', mode: 0 });
  process.chdir(root);
  await new Promise((resolve) => server.close(resolve));
  const numbers = (path: string) => deviceNumber(lstatSync(path, { bigint: true }));
  t.same(['/dev/null', '/dev/zero', '/dev/tty'].map(numbers), ['c:1:3', 'c:1:5', 'c:5:0']);
  const device: Entry = { name: 'null', type: 'device', mode: 0, rdev: 'c:1:3' };
  for (const entry of [...entries.values(), device]) {
    const target = join(root, 'out');
    const cid = blocks.value({ entries: [fileEntry('a', cidOf('raw', Buffer.from('a')), 1), entry] });
    blocks.raw('a');
    await t.rejects(treeToFolder(blocks.reader, cid, target), {
      code: 'E_TREE',
      message: new RegExp(entry.type),
    });
    t.notOk(existsSync(target), 'nothing is left');
  }
});

t.test('the root is a folder, and no link is followed to one', async (t) => {
  const root = t.testdir({ file: 'x', folder: {} });
  symlinkSync('folder', join(root, 'link'));
  const { emit } = openBlocks();
  await t.rejects(folderToTree(join(root, 'link'), emit), { code: 'E_PATH', message: /a link/ });
  await t.rejects(folderToTree(join(root, 'file'), emit), { code: 'E_PATH' });
  await t.rejects(folderToTree(join(root, 'absent'), emit), { name: 'AshlarError' });
});

t.test('what changes while it is read is named', async (t) => {
  const changes: Readonly<Record<string, (folder: string) => void>> = {
    'a file grows': (folder) => writeFileSync(join(folder, 'large'), 'more', { flag: 'a' }),
    'a file shrinks': (folder) => truncateSync(join(folder, 'large'), 100),
    'a file is rewritten in place': (folder) => writeFileSync(join(folder, 'large'), 'x', { flag: 'r+' }),
    'a file gets another mode': (folder) => chmodSync(join(folder, 'large'), 0o600),
    'a file comes': (folder) => writeFileSync(join(folder, 'z'), 'z'),
    'a file goes': (folder) => rmSync(join(folder, 'later'), { recursive: true }),
    'a folder becomes a link': (folder) => {
      renameSync(join(folder, 'later'), join(folder, '../moved'));
      symlinkSync('/etc', join(folder, 'later'));
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    const folder = join(t.testdir(), 'in');
    mkdirSync(join(folder, 'later'), { recursive: true });
    writeFileSync(join(folder, 'large'), Buffer.alloc(3 << 20, 'x'));
    writeFileSync(join(folder, 'later/z'), 'z');
    utimesSync(join(folder, 'large'), 1, 1);
    let changed = false;
    const emit: Emit = async (bytes, codec = 'raw') => {
      if (bytes instanceof Uint8Array) return cidOf(codec, bytes);
      for await (const _ of bytes) {
        if (!changed) change(folder);
        changed = true;
      }
      return cidOf('raw', new Uint8Array());
    };
    await t.rejects(folderToTree(folder, emit), { code: 'E_CHANGED' }, what);
    t.ok(changed);
  }
});

t.test('nothing is overwritten, and nothing in the way is followed', async (t) => {
  const blocks = openBlocks();
  const large = Buffer.alloc(2 << 20, 'y');
  const entries = [fileEntry('a', blocks.raw('a'), 1), fileEntry('b', blocks.raw(large), large.length)];
  const tree = blocks.value({ entries });
  const root = t.testdir({ full: { x: 'mine' }, file: 'mine', empty: {}, outside: {} });
  symlinkSync('empty', join(root, 'link'));
  for (const target of ['full', 'file', 'link'])
    await t.rejects(
      treeToFolder(blocks.reader, tree, join(root, target)),
      { code: 'E_STORE_EXISTS' },
      target,
    );
  t.equal(readFileSync(join(root, 'full/x'), 'utf8'), 'mine');
  await treeToFolder(blocks.reader, tree, join(root, 'empty'));
  t.same(readdirSync(join(root, 'empty')), ['a', 'b'], 'an empty folder is taken');
  const target = join(root, 'out');
  const planted = {
    ...blocks.reader,
    get: async (cid: Cid) => {
      const bytes = await blocks.reader.get(cid);
      if (cid === cidOf('raw', Buffer.from('a')))
        symlinkSync(join(root, 'outside/escaped'), join(target, 'b'));
      return bytes;
    },
  };
  await t.rejects(treeToFolder(planted, tree, target), { code: 'E_PATH', message: /at b;.*EEXIST/ });
  t.notOk(existsSync(join(root, 'outside/escaped')), 'nothing was written through it');
  t.notOk(existsSync(target), 'and nothing is left');
});

t.test('what the target cannot hold, and what is not what it says, is refused whole', async (t) => {
  const blocks = openBlocks();
  const file = (name: Entry['name'], size = 1, bits = 0o644) => fileEntry(name, blocks.raw('a'), size, bits);
  const linkTo = (target: string): Entry => ({
    name: 'l',
    type: 'link',
    mode: 0,
    size: target.length,
    cid: link(blocks.raw(target)),
  });
  const bad: Readonly<Record<string, { readonly entry: Entry; readonly code: string }>> = {
    'a name of 256 bytes': { entry: file('n'.repeat(256)), code: 'E_PATH' },
    'a name of 256 odd bytes': { entry: file(toBytes(Buffer.alloc(256, 0xff))), code: 'E_PATH' },
    'a size that is not so': { entry: file('s', 2), code: 'E_TREE' },
    'an empty target': { entry: linkTo(''), code: 'E_PATH' },
    'a NUL in a target': { entry: linkTo('a\0b'), code: 'E_PATH' },
    'a target too long': { entry: linkTo('t'.repeat(5000)), code: 'E_PATH' },
    'bytes that are absent': {
      entry: fileEntry('m', cidOf('raw', Buffer.from('absent')), 6),
      code: 'E_NOT_FOUND',
    },
  };
  for (const [what, { entry, code }] of Object.entries(bad)) {
    const root = t.testdir();
    const closed = {
      name: 'a',
      type: 'dir',
      mode: 0,
      cid: link(blocks.value({ entries: [file('in', 1, 0)] })),
    };
    const cid = blocks.value({ entries: [closed, entry] });
    await t.rejects(treeToFolder(blocks.reader, cid, join(root, 'out')), { code }, what);
    t.same(readdirSync(root), [], `${what}: nothing is left`);
    mkdirSync(join(root, 'given'));
    await t.rejects(treeToFolder(blocks.reader, cid, join(root, 'given')), { code }, what);
    t.same(readdirSync(join(root, 'given')), [], 'a folder that was there is empty again');
  }
  await t.rejects(treeToFolder(blocks.reader, blocks.raw('a'), join(t.testdir(), 'out')), { code: 'E_TREE' });
});

t.test('a submodule becomes an empty folder, and is reported', async (t) => {
  const blocks = openBlocks();
  const sub: Entry = { name: 'dep', type: 'submodule', mode: 0, oid: '1'.repeat(40) };
  const cid = blocks.value({
    entries: [{ name: 'lib', type: 'dir', mode: 0o755, cid: link(blocks.value({ entries: [sub] })) }],
  });
  const target = join(t.testdir(), 'out');
  const { submodules } = await treeToFolder(blocks.reader, cid, target);
  t.same(submodules, [{ path: ['lib', 'dep'], oid: '1'.repeat(40) }]);
  t.same(readdirSync(join(target, 'lib/dep')), []);
});

t.test('a fault of the one who stores is passed on, and no put is left behind it', async (t) => {
  const folder = everything(t.testdir());
  for (const at of [0, 1, 5]) {
    let count = 0;
    const emit: Emit = async (bytes, codec = 'raw') => {
      if (count++ === at) throw new Error('disk full');
      if (bytes instanceof Uint8Array) return cidOf(codec, bytes);
      for await (const _ of bytes);
      return cidOf('raw', new Uint8Array());
    };
    await t.rejects(folderToTree(folder, emit), { message: 'disk full' });
  }
});

const nameBytesOf = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 0 || byte === 0x2f ? 0x78 : byte))))
  .filter((name) => !['.', '..'].includes(name.toString('latin1')));
const bits = fc.constantFrom(0o644, 0o755, 0o600, 0o444, 0, 0o4755, 0o1777);
type Plan = {
  readonly kind: 'file' | 'link' | 'dir';
  readonly name: Buffer;
  readonly bits: number;
  readonly below: readonly Plan[];
};
const plan = fc.letrec<{ plans: readonly Plan[] }>((tie) => ({
  plans: fc.uniqueArray(
    fc.record({
      kind: fc.constantFrom('file' as const, 'link' as const, 'dir' as const),
      name: nameBytesOf,
      bits,
      below: fc.oneof({ maxDepth: 3 }, fc.constant([] as readonly Plan[]), tie('plans')),
    }),
    { selector: (each) => each.name.toString('hex'), maxLength: 6 },
  ),
})).plans;

function build(blocks: ReturnType<typeof openBlocks>, plans: readonly Plan[]): Cid {
  const entries = plans.map((each): Entry => {
    const { kind, name, bits: mode, below } = each;
    const spelled = nameFromBytes(name);
    if (kind === 'file') return fileEntry(spelled, blocks.raw(name), name.length, mode);
    if (kind === 'link')
      return { name: spelled, type: 'link', mode: 0, cid: link(blocks.raw(name)), size: name.length };
    return { name: spelled, type: 'dir', mode, cid: link(build(blocks, below)) };
  });
  return blocks.value(treeNode(entries));
}

t.test('property: any tree of files, links and folders comes back with its cid', async (t) => {
  const root = t.testdir();
  const seed = Date.now();
  t.comment(`seed ${seed}`);
  let round = 0;
  await fc.assert(
    fc.asyncProperty(plan, async (plans) => {
      const blocks = openBlocks();
      const tree = build(blocks, plans);
      const target = join(root, String(round++));
      await treeToFolder(blocks.reader, tree, target);
      return (await folderToTree(target, blocks.emit)).tree === tree;
    }),
    { seed, numRuns: 60 },
  );
  t.equal(round, 60, 'every round ran');
});

t.test('a folder that is not there is named, not taken for one that changed', async (t) => {
  const path = join(t.testdir(), 'absent');
  const emit: Emit = async () => cidOf('raw', new Uint8Array());
  await t.rejects(folderToTree(path, emit), { code: 'E_NOT_FOUND', message: /absent; wanted a folder/ });
});
