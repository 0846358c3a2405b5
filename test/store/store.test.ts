import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Fault } from '../../store/faults.ts';
import { realFiles } from '../../store/files.ts';
import { openCheckpoint } from '../../store/format/checkpoint.ts';
import { type Cid, cidOf, type Digest, digestOf, evidence, link } from '../../store/format/cid.ts';
import { encodeBlock, type Value } from '../../store/format/codec.ts';
import { leafHash, treeRoot, verifyConsistency, verifyInclusion } from '../../store/format/merkle.ts';
import { parseVerifierKey } from '../../store/format/note.ts';
import { bundleEntries, tilesOf } from '../../store/format/tile.ts';
import { snapshotBlock, treeBlock } from '../../store/format/tree.ts';
import { initStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { blocksSuite, collect, filled } from '../suite/blocks.ts';
import { newPlace, placeAt, quickFolder, type TestPlace } from './place.ts';

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};
const note = (text: string, more: object = {}): Value => ({ kind: 'note', text, ...more });
const key = (text: string): Digest => digestOf(cidOf('raw', Buffer.from(text)));
const origins = async (store: Store) =>
  new Map((await store.logs.list()).map((log) => [log.family, log.origin]));

blocksSuite(t, {
  name: 'on disk',
  async open() {
    const store = await (await newPlace(quickFolder(t))).open();
    return { store, close: () => store.close() };
  },
});

t.test('a record exists once it has a leaf, and putting it again adds none', async (t) => {
  const place = await newPlace(quickFolder(t));
  const store = await place.open();
  const first = await store.record(note('a'));
  t.equal(first.added, true);
  t.equal(first.cid, encodeBlock(note('a')).cid);
  t.same([first.index, first.at], [0, '2026-01-01T00:00:00.000Z']);
  const again = await store.record(note('a'));
  t.same({ ...again }, { ...first, added: false });
  const [x, y, z] = await Promise.all([
    store.record(note('b')),
    store.record(note('b')),
    store.record(note('c')),
  ]);
  t.same([x?.added, y?.added, z?.added], [true, false, true], 'also in one batch');
  t.equal((await store.logs.list())[0]?.size, 3);
  t.same(await all(store.byKind('note')), [first.cid, x?.cid, z?.cid], 'kinds in leaf order');
  t.equal(await store.kindOf(first.cid), 'note');
  t.equal(await store.kindOf(await store.put(Buffer.from('no record'))), null);
  t.same(await store.value(first.cid), note('a'));
  await store.close();
});

t.test('links must be there and of the kind that the record says', async (t) => {
  const store = await (await newPlace(quickFolder(t))).open();
  const file = await store.put(Buffer.from('file'));
  const tree = treeBlock([{ name: 'f', type: 'file', mode: 0o644, cid: link(file), size: 4 }]);
  const shot = snapshotBlock({ mode: 0o755, tree: link(tree.cid) });
  await store.putMany([
    { bytes: tree.bytes, expect: tree.cid },
    { bytes: shot.bytes, expect: shot.cid },
  ]);
  const plain = await store.put(encodeBlock(note('no leaf')).bytes, 'dag-json');
  const { cid: a } = await store.record(note('a'));
  const to = (cid: Cid, ...want: string[]) => store.record(note('to', { links: [link(cid)], want }));
  for (const [cid, kind] of [
    [file, 'raw'],
    [tree.cid, 'tree'],
    [shot.cid, 'snapshot'],
    [a, 'note'],
    [file, '*'],
  ] as const) {
    t.equal((await to(cid, kind)).added, true, `${kind} accepted`);
    for (const other of ['raw', 'tree', 'snapshot', 'note', 'study']) {
      if (other === kind || kind === '*') continue;
      await t.rejects(to(cid, other), { code: 'E_LINK' }, `${kind} is no ${other}`);
    }
  }
  await t.rejects(to(plain, 'note'), { code: 'E_LINK' }, 'a block without a leaf is no record');
  await t.rejects(to(cidOf('raw', Buffer.from('absent')), '*'), { code: 'E_LINK' });
  const both = await Promise.all([store.record(note('p')), to(encodeBlock(note('p')).cid, 'note')]);
  t.same(
    both.map(({ added }) => added),
    [true, true],
    'a link to a record of the same batch',
  );
  await t.rejects(store.record({ kind: 'unheard' }), { code: 'E_KIND' });
  const before = (await store.logs.list())[0]?.size;
  await t.rejects(to(cidOf('raw', Buffer.from('absent')), '*'));
  t.equal((await store.logs.list())[0]?.size, before, 'a refused record leaves no leaf');
  await store.close();
});

t.test('evidence is required where a record is made and not where it is imported', async (t) => {
  const store = await (await newPlace(quickFolder(t))).open();
  const reply = evidence(key('reply'));
  const value = note('with evidence', { evidence: [reply] });
  await t.rejects(store.record(value), { code: 'E_LINK' });
  const { cid } = await store.record(value, { imported: true });
  t.same(await all(store.evidenceOf(reply)), [cid]);
  await store.put(Buffer.from('reply'));
  t.equal((await store.record(note('other', { evidence: [reply] }))).added, true);
  await store.close();
});

t.test('unique keys hold within one log, derivation keys within the store', async (t) => {
  const store = await (await newPlace(quickFolder(t))).open();
  const one = await store.record({ kind: 'study', text: 'one' });
  const two = await store.record({ kind: 'study', text: 'two' });
  const entry = (study: Cid, text: string) =>
    store.record({ kind: 'entry', study: link(study), text, unique: 'k' });
  const first = await entry(one.cid, 'x');
  t.equal(first.log, one.log, 'the entry stands in the log of its study');
  t.not(one.log, two.log, 'each study has its own');
  await t.rejects(entry(one.cid, 'y'), { code: 'E_DUPLICATE' });
  t.equal((await entry(one.cid, 'x')).added, false, 'the same record is no duplicate');
  t.equal((await entry(two.cid, 'y')).added, true, 'another log');
  const pair = await Promise.allSettled(
    ['p', 'q'].map((text) => store.record({ kind: 'entry', study: link(one.cid), text, unique: 'k2' })),
  );
  t.same(
    pair.map(({ status }) => status),
    ['fulfilled', 'rejected'],
    'also within one batch',
  );
  const made = await store.record({ kind: 'made', text: '1', derivation: key('rule') });
  t.equal(await store.derived(key('rule')), made.cid);
  await t.rejects(store.record({ kind: 'made', text: '2', derivation: key('rule') }), {
    code: 'E_DUPLICATE',
  });
  t.equal(await store.derived(key('other')), null);
  t.same(
    (await store.logs.list()).map(({ family, size }) => [family, size]).sort(),
    [
      [null, 1],
      [one.cid, 3],
      [two.cid, 2],
    ].sort(),
  );
  await store.close();
});

t.test('queries: linkers, arrivals since a cursor, listeners', async (t) => {
  const place = await newPlace(quickFolder(t));
  let store = await place.open();
  let calls = 0;
  const stop = store.onRecords(() => calls++);
  const a = await store.record(note('a'));
  const b = await store.record(note('b', { links: [link(a.cid)] }));
  const s = await store.record({ kind: 'study', links: [link(a.cid)] });
  t.equal(calls, 3);
  stop();
  t.same((await all(store.linkers(a.cid))).sort(), [b.cid, s.cid].sort());
  t.same(await all(store.linkers(a.cid, 'study')), [s.cid]);
  const seen = await all(store.since());
  t.same(
    seen.map(({ cid }) => cid),
    [a.cid, b.cid, s.cid],
  );
  const cursor = seen[1]?.cursor as string;
  t.same(
    (await all(store.since(cursor))).map(({ cid }) => cid),
    [s.cid],
  );
  await store.close();
  store = await place.open();
  t.same(
    (await all(store.since(cursor))).map(({ cid }) => cid),
    [s.cid],
    'the cursor lives on',
  );
  const c = await store.record(note('c'));
  t.equal(calls, 3, 'a stopped listener is silent');
  t.same(
    (await all(store.since(seen[2]?.cursor))).map(({ cid }) => cid),
    [c.cid],
  );
  t.same((await all(store.since('another:7'))).length, 4, 'a foreign cursor means all');
  await store.close();
});

t.test('a name moves only from the head that the caller saw', async (t) => {
  const place = await newPlace(quickFolder(t));
  let store = await place.open();
  const [x, y] = [await store.put(Buffer.from('x')), await store.put(Buffer.from('y'))];
  t.equal(await store.name('corpus/main'), null);
  const first = await store.setName('corpus/main', x, null);
  t.same(await store.name('corpus/main'), { name: 'corpus/main', target: x, record: first.record });
  t.same(await store.setName('corpus/main', x, null), first, 'sending the head again succeeds');
  await t.rejects(store.setName('corpus/main', y, null), { code: 'E_NAME_CONFLICT' });
  const second = await store.setName('corpus/main', y, first.record);
  await t.rejects(
    store.setName('corpus/main', x, null),
    { code: 'E_NAME_CONFLICT' },
    'an old record is no head',
  );
  const both = await Promise.allSettled([
    store.setName('corpus/main', x, second.record),
    store.setName('corpus/main', null, second.record),
  ]);
  t.same(
    both.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  await Promise.all(Array.from({ length: 4 }, (_, i) => store.setName('busy', i % 2 === 0 ? x : y)));
  await store.setName('other', x);
  await store.close();
  store = await place.open();
  t.same(
    (await all(store.names())).map(({ name }) => name),
    ['busy', 'corpus/main', 'other'],
  );
  t.same(
    (await all(store.names('corpus/'))).map(({ target }) => target),
    [x],
  );
  await store.setName('other', null);
  t.equal((await store.name('other'))?.target, null, 'withdrawn');
  for (const bad of ['', '/a', 'a/', '../a', 'a b', '-a', 'ä'])
    await t.rejects(store.setName(bad, x), { code: 'E_CONTRACT' }, JSON.stringify(bad));
  await t.rejects(store.setName('gone', cidOf('raw', Buffer.from('absent'))), { code: 'E_LINK' });
  await store.close();
});

t.test('a log can be checked from outside: signatures, proofs, tiles', async (t) => {
  const place = await newPlace(quickFolder(t));
  let store = await place.open();
  const study = await store.record({ kind: 'study' });
  const log = study.log;
  const early = await store.logs.checkpoint(log);
  const entries = Array.from({ length: 300 }, (_, i) => ({
    kind: 'entry',
    study: link(study.cid),
    text: `${i}`,
  }));
  await Promise.all(entries.map((entry) => store.record(entry)));
  t.same(await store.logs.checkpoint(log, 1), early, 'a covered size is not signed again');
  const late = await store.logs.checkpoint(log);
  t.same(await store.logs.checkpoint(log), late);
  const info = await store.logs.ofFamily(study.cid);
  const vkey = parseVerifierKey(info?.vkey as string);
  const [c0, c1] = [openCheckpoint(early, vkey).checkpoint, openCheckpoint(late, vkey).checkpoint];
  t.same([c0.origin, c0.size, c1.size], [log, 1, 301]);
  const lines = (await collect(store.logs.leafBytes(log))).toString().split('\n').slice(0, -1);
  const hashes = lines.map((line) => leafHash(Buffer.from(line)));
  t.same(Buffer.from(treeRoot(hashes)), Buffer.from(c1.root), 'the root is that of the published lines');
  for (const index of [0, 1, 255, 256, 300])
    verifyInclusion({
      index,
      size: 301,
      leaf: hashes[index] as Uint8Array,
      root: c1.root,
      proof: await store.logs.inclusion(log, index, 301),
    });
  verifyConsistency({
    size1: 1,
    root1: c0.root,
    size2: 301,
    root2: c1.root,
    proof: await store.logs.consistency(log, 1, 301),
  });
  for (const tile of tilesOf(301)) t.equal((await store.logs.tile(log, tile)).length, 32 * tile.width);
  const bundle = await store.logs.tile(log, { level: 'entries', index: 1, width: 45 });
  t.same(
    bundleEntries(bundle, 45).map((entry) => Buffer.from(entry).toString()),
    lines.slice(256),
  );
  await t.rejects(store.logs.tile(log, { level: 0, index: 1, width: 46 }), { code: 'E_NOT_FOUND' });
  await t.rejects(store.logs.checkpoint(log, 302), { code: 'E_NOT_FOUND' });
  await t.rejects(store.logs.root('nowhere', 1), { code: 'E_NOT_FOUND' });
  t.same((await all(store.logs.leaves(log, { start: 299, end: 301 }))).length, 2);
  await store.close();
  store = await place.open();
  t.same(await store.logs.checkpoint(log), late, 'the same after opening again');
  await store.close();
});

t.test('without the key a store takes blocks and no records', async (t) => {
  const base = quickFolder(t);
  const place = await newPlace(base);
  let store = await place.open();
  const { cid, log } = await store.record(note('a'));
  await store.close();
  store = await place.open({ logKey: join(base, 'no', 'key') });
  await store.put(Buffer.from('block'));
  t.equal((await store.logs.list())[0]?.writable, false);
  await t.rejects(store.record(note('b')), { code: 'E_LOG_KEY' });
  await t.rejects(store.logs.checkpoint(log), { code: 'E_LOG_KEY' });
  t.equal(await store.kindOf(cid), 'note');
  await store.close();
  chmodSync(place.logKey, 0o644);
  await t.rejects(place.open(), { code: 'E_LOG_KEY' }, 'a key that others can read');
  chmodSync(place.logKey, 0o600);
  copyFileSync(place.logKey, join(place.path, 'quarantine', 'key'));
  await t.rejects(
    place.open({ logKey: join(place.path, 'quarantine', 'key') }),
    { code: 'E_LOG_KEY' },
    'a key inside the store',
  );
  const other = join(base, 'other.key');
  await initStore(place.path, { logKey: other });
  store = await place.open({ logKey: other });
  await t.rejects(store.record(note('b')), { code: 'E_LOG_KEY' }, 'another key cannot go on with the log');
  await store.close();
});

t.test('a log that went back is E_LOG_ROLLBACK', async (t) => {
  const base = quickFolder(t);
  const place = await newPlace(base);
  const rolledBack = async (where: TestPlace, what: string) => {
    const opened = await where.open();
    t.ok(Buffer.from(await opened.get(block)).equals(Buffer.from('block')), 'a block is read all the same');
    t.equal((await opened.putMany([{ bytes: Buffer.from(what) }]))[0]?.added, true, 'and put');
    const asked: readonly (() => unknown)[] = [
      () => opened.record(note('c')),
      () => opened.kindOf(block),
      () => opened.leafOf(block),
      () => opened.derived(digestOf(block)),
      () => opened.name('x'),
      () => opened.setName('x', block),
      () => opened.logs.list(),
      () => opened.logs.checkpoint('nowhere'),
      () => opened.since()[Symbol.asyncIterator]().next(),
      () => opened.byKind('note')[Symbol.asyncIterator]().next(),
      () => opened.linkers(block)[Symbol.asyncIterator]().next(),
      () => opened.names()[Symbol.asyncIterator]().next(),
    ];
    for (const ask of asked)
      await t.rejects(async () => ask(), { code: 'E_LOG_ROLLBACK' }, `${what}: ${ask}`);
    await opened.close();
  };
  let store = await place.open();
  const block = await store.put(Buffer.from('block'));
  await store.record(note('a'));
  await store.close();
  const old = join(base, 'old');
  cpSync(place.path, old, { recursive: true });
  store = await place.open();
  const { log } = await store.record(note('b'));
  await store.logs.checkpoint(log);
  await store.close();
  const leaves = join(place.path, 'logs', 'store', 'leaves');
  const bytes = readFileSync(leaves);
  writeFileSync(leaves, bytes.subarray(0, bytes.indexOf(10) + 1));
  await rolledBack(place, 'shorter than its last checkpoint');
  writeFileSync(leaves, bytes.toString().replace('note', 'nota'));
  rmSync(join(place.path, 'logs', 'store', 'hashes'));
  rmSync(join(place.path, 'level'), { recursive: true });
  await rolledBack(place, 'other leaves under the same checkpoint');
  await rolledBack(placeAt(old, place.logKey), 'an old copy, known beside the key');
});

t.test('a catalog rebuilt from nothing answers the same and adds 0 blocks and 0 leaves', async (t) => {
  const place = await newPlace(quickFolder(t));
  let store = await place.open();
  const study = await store.record({ kind: 'study' });
  const a = await store.record(note('a'));
  await store.record({ kind: 'entry', study: link(study.cid), unique: 'u' });
  await store.record({ kind: 'made', derivation: key('d'), links: [link(a.cid)] });
  await store.setName('n', a.cid);
  await store.putMany(Array.from({ length: 50 }, (_, i) => ({ bytes: filled(1000, i) })));
  await store.put(filled(1 << 20, 4));
  const picture = async () => ({
    logs: await store.logs.list(),
    kinds: await Promise.all(
      ['note', 'study', 'entry', 'made', 'name'].map((kind) => all(store.byKind(kind))),
    ),
    linkers: await all(store.linkers(a.cid)),
    derived: await store.derived(key('d')),
    names: await all(store.names()),
    arrivals: (await all(store.since())).map(({ cursor: _, ...rest }) => rest),
  });
  const before = await picture();
  await store.close();
  const files = () =>
    ['segments', 'big'].map((d) =>
      readdirSync(join(place.path, d)).map((f) => [f, statSync(join(place.path, d, f)).size]),
    );
  const sizes = files();
  rmSync(join(place.path, 'level'), { recursive: true });
  store = await place.open();
  t.same(await picture(), before);
  t.same(files(), sizes);
  t.equal((await store.put(filled(1000, 7))).length, 59);
  t.same(
    (await store.putMany([{ bytes: filled(1000, 7) }])).map(({ added }) => added),
    [false],
  );
  await t.rejects(store.record({ kind: 'entry', text: 'z', study: link(study.cid), unique: 'u' }), {
    code: 'E_DUPLICATE',
  });
  await store.close();
  store = await place.open({ readOnly: true });
  t.same(
    { ...(await picture()), logs: [] },
    { ...before, logs: [] },
    'and a read-only store answers the same from memory',
  );
  await t.rejects(store.put(Buffer.from('new')), { code: 'E_READ_ONLY' });
  await t.rejects(store.record(note('new')), { code: 'E_READ_ONLY' });
  await store.close();
  t.same(files(), sizes);
});

t.test('one owner: a second open waits, then is E_STORE_BUSY; readers need no lock', async (t) => {
  const place = await newPlace(quickFolder(t));
  const store = await place.open();
  const { cid } = await store.record(note('a'));
  await t.rejects(place.open({ patience: 50 }), { code: 'E_STORE_BUSY' });
  await store.announce({ pid: process.pid, socket: '/run/x.sock' });
  const seen: unknown[] = [];
  const reached = await place.open({
    connect: async (owner) => {
      seen.push(owner);
      return store;
    },
  });
  t.equal(reached, store, 'an owner that serves is used');
  t.same(seen, [{ pid: process.pid, socket: '/run/x.sock' }]);
  const reader = await place.open({ readOnly: true });
  t.same(await reader.value(cid), note('a'));
  await reader.close();
  const waiting = place.open({ patience: 5000 });
  await store.close();
  const second = await waiting;
  t.equal(await second.kindOf(cid), 'note');
  await second.close();
});

t.test(
  'a reader opens beside an owner that writes meanwhile, whatever lies between two of its looks',
  async (t) => {
    const base = quickFolder(t);
    const place = await newPlace(base);
    let store = await place.open();
    const first = await store.record(note('before'));
    for (const { origin } of await store.logs.list()) await store.logs.checkpoint(origin);
    await store.close();
    const [before, after] = [join(base, 'before'), join(base, 'after')];
    cpSync(place.path, before, { recursive: true });
    store = await place.open();
    const added = [first.cid];
    for (const text of ['a', 'b', 'c']) added.push((await store.record(note(text))).cid);
    for (const { origin } of await store.logs.list()) await store.logs.checkpoint(origin);
    await store.close();
    cpSync(place.path, after, { recursive: true });

    // An owner writes the blocks, then the leaves, then their hashes, then signs.
    const steps = [
      'segments/00000001.car',
      'logs/store/leaves',
      'logs/store/hashes',
      'logs/store/checkpoint',
    ];
    const contents = steps.map((step) => readFileSync(join(after, step)));
    let looks = 0;
    for (const atOnce of [true, false])
      for (let start = 0; start <= looks || start === 0; start++) {
        cpSync(before, place.path, { recursive: true });
        looks = 0;
        let step = 0;
        const write = () => {
          for (const last = atOnce ? steps.length : Math.min(step + 1, steps.length); step < last; step++)
            writeFileSync(join(place.path, steps[step] as string), contents[step] as Buffer);
        };
        const look =
          <A extends unknown[], R>(call: (...args: A) => R) =>
          (...args: A): R => {
            if (looks++ >= start) write();
            return call(...args);
          };
        const { size, read, list, openRead } = realFiles;
        const files = {
          ...realFiles,
          size: look(size),
          read: look(read),
          list: look(list),
          openRead: look(openRead),
        };
        const faults: unknown[] = [];
        const onFault = (fault: Fault) => {
          if (fault.kind !== 'torn') faults.push(fault);
        };
        const reader = await place.open({ readOnly: true, files, onFault });
        const seen: string[] = [];
        for (const cid of added) if ((await reader.kindOf(cid)) === 'note') seen.push(cid);
        t.same(seen, added.slice(0, seen.length), `look ${start}: the records of a prefix of the log`);
        for (const cid of seen) t.equal(((await reader.value(cid as Cid)) as { kind: string }).kind, 'note');
        t.same(faults, [], `look ${start}: no fault`);
        await reader.close();
      }
    t.ok(looks > 10);
  },
);

t.test('what is no store is said to be none, and a store is not made over something', async (t) => {
  const base = quickFolder(t);
  await t.rejects(placeAt(join(base, 'none'), join(base, 'k')).open(), { code: 'E_STORE_FORMAT' });
  mkdirSync(join(base, 'full'));
  writeFileSync(join(base, 'full', 'file'), 'x');
  await t.rejects(initStore(join(base, 'full'), { logKey: join(base, 'k') }), { code: 'E_STORE_EXISTS' });
  const place = await newPlace(base);
  await initStore(place.path, { logKey: place.logKey });
  writeFileSync(join(place.path, 'ashlar.json'), '{"format":2,"id":"x"}');
  await t.rejects(place.open(), { code: 'E_STORE_FORMAT' });
});

t.test(
  'where no store can be made, that is said at once and nothing is left',
  { timeout: 20_000 },
  async (t) => {
    const base = quickFolder(t);
    const logKey = join(base, 'k');
    writeFileSync(join(base, 'file'), 'mine');
    symlinkSync(join(base, 'nowhere'), join(base, 'dangling'));
    symlinkSync(join(base, 'loop'), join(base, 'loop'));
    const attempts: readonly (readonly [path: string, wanted: { code: string; found?: RegExp }])[] = [
      // Below /proc the system says ENOENT although the folder above is there.
      ['/proc/x', { code: 'E_IO', found: /ENOENT/ }],
      ['/proc/x/y/z', { code: 'E_IO', found: /ENOENT/ }],
      [join(base, 'file'), { code: 'E_STORE_EXISTS', found: /a file/ }],
      [join(base, 'file', 'below'), { code: 'E_IO', found: /ENOTDIR/ }],
      [join(base, 'dangling'), { code: 'E_STORE_EXISTS', found: /leads nowhere/ }],
      [join(base, 'dangling', 'below'), { code: 'E_IO', found: /ENOENT|EEXIST/ }],
      [join(base, 'loop'), { code: 'E_IO', found: /ELOOP/ }],
    ];
    for (const [path, { code, found }] of attempts) {
      await t.rejects(initStore(path, { logKey }), { code, data: { found } }, path);
      await t.rejects(placeAt(path, logKey).open(), { code: /E_STORE_FORMAT|E_IO/ }, path);
    }
    t.equal(readFileSync(join(base, 'file'), 'utf8'), 'mine');
    t.same(readdirSync(base).sort(), ['dangling', 'file', 'loop']);
    await t.rejects(
      initStore(join(base, 'ok'), { logKey: '/proc/x/key' }),
      { code: 'E_IO' },
      'nor a key there',
    );
    await t.rejects(placeAt(join(base, 'ok'), logKey).open(), { code: 'E_STORE_FORMAT' });
    symlinkSync(join(base, 'ok'), join(base, 'link'));
    await initStore(join(base, 'link'), { logKey });
    await (await placeAt(join(base, 'link'), logKey).open()).close();
  },
);

t.test('a family log of another store is kept under its origin, read-only', async (t) => {
  const base = quickFolder(t);
  const [home, away] = [await newPlace(base), await newPlace(base)];
  const source = await home.open();
  const target = await away.open();
  const study = await source.record({ kind: 'study' });
  const entry = { kind: 'entry', study: link(study.cid), unique: 'u' };
  await source.record(entry);
  const copy = async () => ({
    origin: study.log,
    family: study.cid,
    vkey: (await source.logs.ofFamily(study.cid))?.vkey as string,
    checkpoint: await source.logs.checkpoint(study.log),
    leaves: await collect(source.logs.leafBytes(study.log)),
  });
  const first = await copy();
  await t.rejects(target.logs.adopt(first), { code: 'E_INCOMPLETE' }, 'its records must be there');
  const carry = async () => {
    for await (const { cid } of source.since()) await target.put(await source.get(cid), 'dag-json');
  };
  await carry();
  await t.rejects(target.logs.adopt({ ...first, leaves: first.leaves.subarray(0, 0) }), {
    code: 'E_INCOMPLETE',
  });
  const swapped = Buffer.from(first.leaves.toString().replace('2026', '2027'));
  await t.rejects(target.logs.adopt({ ...first, leaves: swapped }), { code: 'E_PROOF' });
  const info = await target.logs.adopt(first);
  t.same([info.origin, info.size, info.writable], [study.log, 2, false]);
  t.equal((await target.record(entry)).added, false, 'its records need no other leaf');
  await t.rejects(target.record({ ...entry, text: 'mine', unique: 'v' }), { code: 'E_READ_ONLY' });
  await source.record({ ...entry, text: 'more', unique: 'w' });
  await carry();
  t.equal((await target.logs.adopt(await copy())).size, 3, 'a longer copy goes on');
  t.equal((await target.logs.adopt(first)).size, 3, 'a shorter one changes nothing');
  t.equal((await all(target.byKind('entry'))).length, 2);
  t.same(await origins(target), new Map([[study.cid, study.log]]));
  await Promise.all([source.close(), target.close()]);
});
