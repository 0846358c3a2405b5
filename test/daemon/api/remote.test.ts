/** The store at the other end of a socket or port is the same store: the block suite, and every other verb beside it. */
import { writeFileSync } from 'node:fs';
import t from 'tap';
import { openApi } from '../../../daemon/api/api.ts';
import { connectOwner, openRemote } from '../../../daemon/api/client.ts';
import { openCheckpoint } from '../../../store/format/checkpoint.ts';
import { type Cid, cidOf, type Digest, digestOf, evidence, link } from '../../../store/format/cid.ts';
import type { Value } from '../../../store/format/codec.ts';
import { parseVerifierKey } from '../../../store/format/note.ts';
import { tilesOf } from '../../../store/format/tile.ts';
import type { Store } from '../../../store/store.ts';
import { newPlace, quickFolder } from '../../store/place.ts';
import { blocksSuite, collect, filled } from '../../suite/blocks.ts';
import { all, serve, socketPath, TOKEN } from './kit.ts';

blocksSuite(t, {
  name: 'over a socket',
  async open() {
    const served = await serve(t, { listen: { socket: socketPath(t) } });
    const store = await openRemote(served.api.url, { token: TOKEN });
    return { store, close: () => store.close().then(served.close) };
  },
});

blocksSuite(t, {
  name: 'over http',
  async open() {
    const served = await serve(t);
    const store = await openRemote(served.api.url, { token: TOKEN });
    return { store, close: () => store.close().then(served.close) };
  },
});

const note = (text: string, more: object = {}): Value => ({ kind: 'note', text, ...more });
const key = (text: string): Digest => digestOf(cidOf('raw', Buffer.from(text)));

/** A store with a record of each sort; the study's cid. */
async function fill(store: Store): Promise<{ study: Cid; file: Cid }> {
  const file = await store.put(filled(3000, 1));
  const { cid: study } = await store.record({ kind: 'study', text: 's' });
  for (let i = 0; i < 5; i++)
    await store.record({ kind: 'entry', text: `e${i}`, study: link(study), unique: `u${i}` });
  await store.record(note('linked', { links: [link(file)], want: ['raw'] }));
  await store.record(note('proven', { evidence: [evidence(digestOf(file))] }));
  await store.record({ kind: 'made', text: 'm', derivation: key('d'), links: [link(study)] });
  await store.setName('a/one', file);
  await store.setName('a/two', study);
  await store.setName('b', null);
  return { study, file };
}

/** All that a store says about its records, names and logs. */
async function said(store: Store, study: Cid, file: Cid): Promise<unknown> {
  const list = [...(await store.logs.list())].sort((a, b) => (a.origin < b.origin ? -1 : 1));
  const logs = [];
  for (const { origin, size } of list) {
    const tiles = [];
    for (const tile of [...tilesOf(size), { level: 'entries' as const, index: 0, width: size }])
      tiles.push(Buffer.from(await store.logs.tile(origin, tile)).toString('hex'));
    logs.push({
      leaves: await all(store.logs.leaves(origin)),
      some: await all(store.logs.leaves(origin, { start: 1, end: 3 })),
      bytes: (await collect(store.logs.leafBytes(origin))).toString(),
      root: Buffer.from(await store.logs.root(origin, size)).toString('hex'),
      inclusion: (await store.logs.inclusion(origin, 1, size)).map((h) => Buffer.from(h).toString('hex')),
      consistency: (await store.logs.consistency(origin, 1, size)).map((h) => Buffer.from(h).toString('hex')),
      checkpoint: Buffer.from(await store.logs.checkpoint(origin)).toString(),
      tiles,
    });
  }
  const arrivals = await all(store.since());
  return {
    list,
    logs,
    arrivals,
    later: await all(store.since(arrivals[3]?.cursor)),
    notes: await all(store.byKind('note')),
    linkers: await all(store.linkers(study)),
    entries: await all(store.linkers(study, 'entry')),
    evidence: await all(store.evidenceOf(evidence(digestOf(file)))),
    derived: [await store.derived(key('d')), await store.derived(key('nothing'))],
    kinds: [await store.kindOf(study), await store.kindOf(file)],
    leaf: await store.leafOf(study),
    value: await store.value(study),
    family: [await store.logs.ofFamily(study), await store.logs.ofFamily(file)],
    names: await all(store.names()),
    some: await all(store.names('a/')),
    one: [await store.name('a/one'), await store.name('b'), await store.name('never')],
    writable: store.writable,
    path: store.path,
  };
}

t.test('every question has the same answer through a socket as on disk', async (t) => {
  const { store, api, close } = await serve(t, { listen: { socket: socketPath(t) } });
  const remote = await openRemote(api.url, { token: TOKEN });
  const { study, file } = await fill(remote);
  t.same(await said(remote, study, file), await said(store, study, file));
  await remote.close();
  await close();
});

t.test('writes are refused through a socket with the fault that the disk gives', async (t) => {
  const { store, api, close } = await serve(t, { listen: { socket: socketPath(t) } });
  const remote = await openRemote(api.url, { token: TOKEN });
  const { study, file } = await fill(remote);
  const absent = cidOf('raw', Buffer.from('absent'));
  const faults: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
    ['E_LINK', (s) => s.record(note('x', { links: [link(absent)] }))],
    ['E_LINK', (s) => s.record(note('x', { evidence: [evidence(digestOf(absent))] }))],
    ['E_KIND', (s) => s.record({ kind: 'unheard-of' })],
    ['E_DUPLICATE', (s) => s.record({ kind: 'entry', text: 'other', study: link(study), unique: 'u1' })],
    ['E_NAME_CONFLICT', (s) => s.setName('a/one', study, null)],
    ['E_CONTRACT', (s) => s.setName('../up', study)],
    ['E_NOT_FOUND', (s) => s.logs.checkpoint('no such log')],
    ['E_NOT_FOUND', (s) => s.get(absent)],
    ['E_CODEC', (s) => s.value(file)],
  ];
  for (const [code, act] of faults) {
    await t.rejects(act(store), { code }, `${code} on disk`);
    await t.rejects(act(remote), { code }, `${code} through the socket`);
  }
  const again = await remote.record(note('linked', { links: [link(file)], want: ['raw'] }));
  t.equal(again.added, false, 'a record that stands is answered with its place');
  const imported = await remote.record(note('i', { evidence: [evidence(digestOf(absent))] }), {
    imported: true,
  });
  t.equal(imported.added, true, 'an imported record needs no evidence');
  await remote.close();
  await close();
});

t.test('a log is adopted through a socket', async (t) => {
  const from = await (await newPlace(quickFolder(t))).open();
  const { study } = await fill(from);
  const info = await from.logs.ofFamily(study);
  t.ok(info);
  if (info === null) return;
  const { store, api, close } = await serve(t, { listen: { socket: socketPath(t) } });
  const remote = await openRemote(api.url, { token: TOKEN });
  const leaves = await collect(from.logs.leafBytes(info.origin));
  const checkpoint = await from.logs.checkpoint(info.origin);
  const copy = { origin: info.origin, family: study, vkey: info.vkey, leaves, checkpoint };
  await t.rejects(remote.logs.adopt(copy), { code: 'E_INCOMPLETE' }, 'its records must be there');
  for await (const { cid } of from.logs.leaves(info.origin))
    await remote.put(await from.get(cid), 'dag-json');
  const adopted = await remote.logs.adopt(copy);
  t.same({ ...adopted }, { ...info, writable: false });
  t.equal((await store.leafOf(study))?.log, info.origin);
  const opened = openCheckpoint(await remote.logs.checkpoint(info.origin), parseVerifierKey(info.vkey));
  t.equal(opened.checkpoint.size, info.size);
  await Promise.all([remote.close(), from.close()]);
  await close();
});

t.test('news of records come through a socket, also of one’s own', async (t) => {
  const { store, api, close } = await serve(t, { listen: { socket: socketPath(t) } });
  const remote = await openRemote(api.url, { token: TOKEN });
  const seen: string[] = [];
  let cursor: string | undefined;
  let done: () => void = () => undefined;
  const two = new Promise<void>((resolve) => {
    done = resolve;
  });
  const look = async () => {
    for await (const arrival of remote.since(cursor)) {
      cursor = arrival.cursor;
      if (!seen.includes(arrival.cid)) seen.push(arrival.cid);
    }
    if (seen.length >= 2) done();
  };
  const stop = remote.onRecords(() => void look());
  const a = await store.record(note('a'));
  const b = await remote.record(note('b'));
  await two;
  t.same(seen.slice().sort(), [a.cid, b.cid].sort());
  stop();
  await remote.close();
  await close();
});

t.test(
  'a command beside a daemon works through its socket; a dead owner’s hint is passed over',
  async (t) => {
    const base = quickFolder(t);
    const place = await newPlace(base);
    const daemon = await place.open();
    const api = await openApi(daemon, { listen: { socket: socketPath(t) } });
    await daemon.announce({ pid: process.pid, socket: api.url.slice('unix:'.length) });
    const [one, two] = await Promise.all([
      place.open({ connect: connectOwner }),
      place.open({ connect: connectOwner }),
    ]);
    t.equal(one.path, daemon.path);
    const results = await Promise.all([
      ...Array.from({ length: 20 }, (_, i) => one.record(note(`n${i}`))),
      ...Array.from({ length: 20 }, (_, i) => two.record(note(`n${i + 10}`))),
    ]);
    t.equal(results.filter(({ added }) => added).length, 30, 'each record once, whoever came first');
    t.equal((await all(daemon.byKind('note'))).length, 30);
    const bytes = filled((2 << 20) + 9, 4);
    const cid = await one.put(bytes);
    t.ok((await collect(two.stream(cid))).equals(bytes));
    await Promise.all([one.close(), two.close()]);
    await api.close();
    await t.rejects(place.open({ connect: connectOwner, patience: 100 }), { code: 'E_STORE_BUSY' });
    await daemon.close();
    writeFileSync(`${place.path}/owner.json`, '{"pid":1,"socket":"/nonexistent/s"}');
    const after = await place.open({ connect: connectOwner });
    t.equal((await all(after.byKind('note'))).length, 30);
    await after.close();
  },
);
