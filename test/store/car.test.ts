import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CarReader } from '@ipld/car';
import t from 'tap';
import { exportBlocks, exportCar, importCar, readCar } from '../../store/car.ts';
import { type Cid, cidOf, link } from '../../store/format/cid.ts';
import { closure, linksOf } from '../../store/format/closure.ts';
import { encodeBlock } from '../../store/format/codec.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import { snapshotBlock, treeBlock } from '../../store/format/tree.ts';
import { carHeader, readHeader, readVarint, varint } from '../../store/frame.ts';
import type { Store } from '../../store/store.ts';
import { collect, filled } from '../suite/blocks.ts';
import { newPlace, quickFolder } from './place.ts';

async function* pieces(bytes: Uint8Array, size = 1 << 16): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** A record over a snapshot of two folders, one of them with a big file and a file that stands twice. */
async function filledStore(store: Store): Promise<{ root: Cid; members: number }> {
  const small = await store.put(filled(5000, 1));
  const big = await store.put(filled((1 << 20) + 5, 2));
  const empty = await store.put(new Uint8Array());
  const file = (name: string, cid: Cid, size: number) =>
    ({ name, type: 'file', mode: 0o644, cid: link(cid), size }) as const;
  const inner = treeBlock([file('big', big, (1 << 20) + 5), file('same', small, 5000)]);
  const outer = treeBlock([
    file('a', small, 5000),
    { name: 'dir', type: 'dir', mode: 0o755, cid: link(inner.cid) },
    file('empty', empty, 0),
  ]);
  const shot = snapshotBlock({ mode: 0o755, tree: link(outer.cid) });
  await store.putMany([inner, outer, shot].map(({ bytes, cid }) => ({ bytes, expect: cid })));
  const { cid } = await store.record({ kind: 'note', links: [link(shot.cid)], want: ['snapshot'] });
  return { root: cid, members: 7 };
}

t.test('an export is a CAR that a stock reader reads, and comes in whole', async (t) => {
  const base = quickFolder(t);
  const [from, to] = [await (await newPlace(base)).open(), await (await newPlace(base)).open()];
  const { root, members } = await filledStore(from);
  const car = await collect(exportCar(from, [root]));
  t.same(await collect(exportCar(from, [root])), car, 'the same bytes every time');
  const stock = await CarReader.fromBytes(car);
  t.same((await stock.getRoots()).map(String), [root]);
  let seen = 0;
  for await (const { cid, bytes } of stock.blocks()) {
    seen++;
    t.equal(sha256Hex(bytes), Buffer.from(cid.multihash.digest).toString('hex'), String(cid));
  }
  t.equal(seen, members);
  const first = await importCar(to, pieces(car, 1000));
  t.same({ ...first }, { roots: [root], blocks: members, added: members });
  t.same(
    { ...(await importCar(to, pieces(car, 7))) },
    { roots: [root], blocks: members, added: 0 },
    'the second time adds 0',
  );
  t.equal(await to.kindOf(root), null, 'blocks are no records');
  t.equal((await to.record(await to.value(root), { imported: true })).added, true);
  t.same(await collect(exportCar(to, [root])), car);
  await Promise.all([from.close(), to.close()]);
});

t.test('a CAR cut anywhere, or changed in any byte, is refused; going on finishes it', async (t) => {
  const base = quickFolder(t);
  const from = await (await newPlace(base)).open();
  const { root, members } = await filledStore(from);
  const car = await collect(exportCar(from, [root]));
  const ends: number[] = [];
  const source = await readCar(pieces(car));
  let at = carHeader([root]).length;
  for await (const { length } of source.sections) {
    const head = readVarint(car, at);
    at += (head?.length ?? 0) + (head?.value ?? 0);
    ends.push(at);
    t.ok(length >= 0);
  }
  t.equal(ends.at(-1), car.length);
  const to = await (await newPlace(base)).open();
  for (const end of [carHeader([root]).length, ...ends.slice(0, -1)]) {
    await t.rejects(
      importCar(to, pieces(car.subarray(0, end))),
      { code: 'E_INCOMPLETE' },
      `cut between blocks at ${end}`,
    );
  }
  for (const end of [0, 1, 20, ...ends.slice(0, -1).map((n) => n + 3), car.length - 1]) {
    await t.rejects(importCar(to, pieces(car.subarray(0, end))), { code: 'E_CAR' }, `cut inside at ${end}`);
  }
  const whole = await importCar(to, pieces(car));
  t.ok(whole.added < members, `only ${whole.added} of ${members} were left to add`);
  await to.close();
  const flips = Array.from({ length: 60 }, (_, i) => (i < 30 ? i * 8 : (i * 7919) % car.length));
  for (const flip of flips) {
    const bad = Buffer.from(car);
    bad[flip] = (bad[flip] as number) ^ 1;
    const target = await (await newPlace(base)).open();
    const result = await importCar(target, pieces(bad)).catch((error) => error.code);
    t.match(result, /^E_(DIGEST|CAR|CID|INCOMPLETE|CODEC)$/, `byte ${flip} flipped: ${result}`);
    await target.close();
  }
  await from.close();
});

t.test('a block under another name is never kept', async (t) => {
  const store = await (await newPlace(quickFolder(t))).open();
  const bytes = filled(100, 1);
  const wrong = cidOf('raw', Buffer.from('other'));
  const lying = {
    get: async () => bytes,
    has: async () => true,
    size: async () => 100,
    stream: () => pieces(bytes),
  };
  await t.rejects(importCar(store, exportBlocks(lying, [], [wrong])), { code: 'E_DIGEST' });
  t.equal(await store.has(wrong), false);
  t.equal(await store.has(cidOf('raw', bytes)), false);
  await store.close();
});

t.test('a segment is a valid CARv1 whose blocks a stock reader finds', async (t) => {
  const place = await newPlace(quickFolder(t));
  const store = await place.open();
  const stored = await store.putMany(Array.from({ length: 20 }, (_, i) => ({ bytes: filled(i * 100, i) })));
  await store.record({ kind: 'note' });
  await store.close();
  const [name] = readdirSync(join(place.path, 'segments'));
  const reader = await CarReader.fromBytes(readFileSync(join(place.path, 'segments', name as string)));
  t.same((await reader.getRoots()).map(String), ['bafkqaaa']);
  const found = new Set<string>();
  for await (const { cid, bytes } of reader.blocks()) {
    t.equal(sha256Hex(bytes), Buffer.from(cid.multihash.digest).toString('hex'));
    found.add(cid.toString());
  }
  for (const { cid } of stored) t.ok(found.has(cid));
});

t.test('the closure follows links, not evidence, stops where told, and names what is missing', async (t) => {
  const store = await (await newPlace(quickFolder(t))).open();
  const [a, b] = [await store.put(Buffer.from('a')), await store.put(Buffer.from('b'))];
  const inner = encodeBlock({ links: [link(b)] });
  await store.put(inner.bytes, 'dag-json');
  const gone = cidOf('raw', Buffer.from('gone'));
  const value = {
    x: [link(a), { y: link(inner.cid) }],
    e: `sha256:${sha256Hex(Buffer.from('z'))}`,
    z: link(a),
  };
  t.same([...linksOf(value)], [a, inner.cid, a]);
  const outer = encodeBlock(value);
  await store.put(outer.bytes, 'dag-json');
  const walk = async (root: Cid, options = {}) => {
    const found: Cid[] = [];
    for await (const { cid } of closure(store, [root], options)) found.push(cid);
    return found;
  };
  t.same(await walk(outer.cid), [outer.cid, a, inner.cid, b]);
  t.same(await walk(outer.cid, { stop: (cid: Cid) => cid === inner.cid }), [outer.cid, a, inner.cid]);
  const holed = encodeBlock({ a: link(gone), b: link(a) });
  await store.put(holed.bytes, 'dag-json');
  await t.rejects(walk(holed.cid), { code: 'E_NOT_FOUND' });
  const missing: Cid[] = [];
  t.same(await walk(holed.cid, { onMissing: (cid: Cid) => missing.push(cid) }), [holed.cid, a]);
  t.same(missing, [gone]);
  await store.close();
});

t.test('varints and headers have one spelling', async (t) => {
  for (const n of [0, 1, 127, 128, 300, 16_384, 2 ** 32, Number.MAX_SAFE_INTEGER]) {
    t.same(readVarint(varint(n), 0), { value: n, length: varint(n).length });
  }
  t.equal(readVarint(Uint8Array.of(0x80, 0x00), 0), null, 'a longer form');
  t.equal(readVarint(Uint8Array.of(0x80), 0), null, 'a cut one');
  const roots = Array.from({ length: 300 }, (_, i) =>
    cidOf(i % 2 === 0 ? 'raw' : 'dag-json', Buffer.from(`${i}`)),
  );
  for (const some of [[], roots.slice(0, 1), roots.slice(0, 23), roots.slice(0, 24), roots]) {
    const header = carHeader(some);
    const { length } = readVarint(header, 0) ?? { length: 0 };
    t.same(readHeader(header.subarray(length)), some);
    t.throws(() => readHeader(header.subarray(length, -1)), { code: 'E_CAR' });
  }
});
