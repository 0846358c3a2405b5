/** A mirror shows what is published and no more; a pull takes it, believes nothing, and goes on after any end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openRemote } from '../../../daemon/api/client.ts';
import { openPublished } from '../../../daemon/mirror/published.ts';
import { type PullOptions, pullMirror } from '../../../daemon/mirror/pull.ts';
import { filesOf } from '../../../daemon/mirror/roots.ts';
import { serveMirror } from '../../../daemon/mirror/serve.ts';
import { openSource, type Source } from '../../../daemon/mirror/source.ts';
import { blockPath } from '../../../rules/release/files.ts';
import { exportCar } from '../../../store/car.ts';
import { openCheckpoint, signCheckpoint } from '../../../store/format/checkpoint.ts';
import { type Cid, cidOf, digestOf, link } from '../../../store/format/cid.ts';
import { encodeBlock } from '../../../store/format/codec.ts';
import { generateKey } from '../../../store/format/crypto.ts';
import { fail } from '../../../store/format/errors.ts';
import { noteSigner, parseVerifierKey, printVerifierKey } from '../../../store/format/note.ts';
import type { Store } from '../../../store/store.ts';
import { testKinds } from '../../store/kinds.ts';
import { newPlace, quickFolder } from '../../store/place.ts';
import { collect } from '../../suite/blocks.ts';
import { all } from '../api/kit.ts';
import { fillOrigin } from './kit.ts';

const options: PullOptions = { mirror: 'm', kinds: testKinds };

/** Everything that must be the same on both sides. */
async function published(store: Store, studies: readonly Cid[]): Promise<unknown> {
  const logs = [];
  for (const study of studies) {
    const info = await store.logs.ofFamily(study);
    if (info === null) throw new Error(`no log of ${study}`);
    const { origin, size, vkey } = info;
    const leaves = await all(store.logs.leaves(origin));
    const root = Buffer.from(await store.logs.root(origin, size)).toString('hex');
    const places = await Promise.all(leaves.map(({ cid }) => store.leafOf(cid)));
    const closures = await collect(
      exportCar(
        store,
        leaves.map(({ cid }) => cid),
      ),
    );
    logs.push({ origin, size, vkey, leaves, root, places, closures: closures.toString('hex') });
  }
  return logs;
}

t.test('a pull makes the same families, closures, records and names; again it adds nothing', async (t) => {
  const base = quickFolder(t);
  const [from, to] = [await (await newPlace(base)).open(), await (await newPlace(base)).open()];
  const { studies, named, withheld, loose } = await fillOrigin(from, 5);
  const api = await serveMirror(from, { port: 0 });
  const source = openSource(api.url);
  const first = await pullMirror(to, source, options);
  t.same(
    first.families.map(({ family, size }) => [family, size]),
    studies.map((study) => [study, 6]),
  );
  t.equal(first.records, 2 + 10, 'plans and notes have leaves in the store log here');
  t.same([first.names, first.skipped], [1, []]);
  t.same(await published(to, studies), await published(from, studies));
  t.equal((await to.name('m/files/named'))?.target, named);
  t.equal(await to.name('m/gone'), null, 'a name that was withdrawn before is none');
  t.equal(await to.has(withheld), false, 'evidence stays home');
  t.equal(await to.has(loose), false);
  const notes = await all(to.byKind('note'));
  t.equal(notes.length, 12);
  t.not(
    (await to.leafOf(notes[0] as Cid))?.log,
    (await from.leafOf(notes[0] as Cid))?.log,
    'a leaf of its own',
  );
  const before = (await all(to.since())).length;
  const second = await pullMirror(to, source, options);
  t.same([second.blocks, second.bytes, second.records], [0, 0, 0]);
  t.equal((await all(to.since())).length, before);
  await t.rejects(to.record({ kind: 'entry', study: link(studies[0] as Cid), unique: 'mine' }), {
    code: 'E_READ_ONLY',
  });
  // What is new there comes with the next pull, and a withdrawn name goes.
  await from.record({ kind: 'entry', study: link(studies[0] as Cid), unique: 'later' });
  await from.setName('files/named', null);
  const third = await pullMirror(to, source, options);
  t.same([third.blocks, third.families[0]?.size, third.names], [1, 7, 0]);
  t.same(await published(to, studies), await published(from, studies));
  t.equal((await to.name('m/files/named'))?.target, null);
  source.close();
  await api.close();
  await Promise.all([from.close(), to.close()]);
});

t.test('a mirror of a mirror is the same, and one family can be had alone', async (t) => {
  const base = quickFolder(t);
  const [from, middle, last] = [
    await (await newPlace(base)).open(),
    await (await newPlace(base)).open(),
    await (await newPlace(base)).open(),
  ];
  const { studies } = await fillOrigin(from, 3);
  const api = await serveMirror(from, { port: 0 });
  await pullMirror(middle, openSource(api.url), options);
  await api.close();
  const second = await serveMirror(middle, { port: 0 });
  const [, wanted] = studies as [Cid, Cid];
  const pulled = await pullMirror(last, openSource(second.url), { ...options, families: [wanted] });
  t.same(
    pulled.families.map(({ family }) => family),
    [wanted],
  );
  t.same(await published(last, [wanted]), await published(from, [wanted]));
  t.equal((await last.name('m/m/files/named'))?.name, 'm/m/files/named');
  await t.rejects(
    pullMirror(last, openSource(second.url), { ...options, families: [cidOf('raw', Buffer.from('x'))] }),
    {
      code: 'E_NOT_FOUND',
    },
  );
  await second.close();
  await Promise.all([from.close(), middle.close(), last.close()]);
});

t.test('a pull that is killed goes on with what came', async (t) => {
  const base = quickFolder(t);
  const from = await (await newPlace(base)).open();
  const { studies } = await fillOrigin(from, 40);
  const api = await serveMirror(from, { port: 0 });
  const place = await newPlace(base);
  const script = fileURLToPath(new URL('pull-child.js', import.meta.url));
  const child = spawn(process.execPath, [script, api.url, place.path, place.logKey], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let steps = 0;
  for await (const text of child.stdout) {
    steps += String(text).split('blocks').length - 1;
    if (steps >= 4) break;
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.equal(child.signalCode, 'SIGKILL', 'it was at work');
  const to = await place.open();
  const all = new Set<Cid>();
  const asked: Cid[] = [];
  const source = openSource(api.url);
  const counting: Source = {
    ...source,
    blocks(cids) {
      asked.push(...cids);
      return source.blocks(cids);
    },
  };
  const had = async (cid: Cid) => to.has(cid);
  for (const study of studies) {
    const { origin } = (await from.logs.ofFamily(study)) ?? { origin: '' };
    for await (const { cid } of from.logs.leaves(origin)) if (await had(cid)) all.add(cid);
  }
  t.ok(all.size > 0, `${all.size} records had come`);
  const { blocks } = await pullMirror(to, counting, options);
  t.equal(blocks, asked.length);
  t.notOk(
    asked.some((cid) => all.has(cid)),
    'none of them was asked for again',
  );
  t.equal(new Set(asked).size, asked.length, 'and nothing twice');
  t.same(await published(to, studies), await published(from, studies));
  source.close();
  await api.close();
  await Promise.all([from.close(), to.close()]);
});

t.test('strangers see what is published and nothing else', async (t) => {
  const from = await (await newPlace(quickFolder(t))).open();
  const { withheld, loose, files, named, studies } = await fillOrigin(from, 2);
  const api = await serveMirror(from, { port: 0 });
  const open = await serveMirror(from, { port: 0, everything: true });
  const raw = (base: string, cid: Cid) =>
    fetch(`${base}/ipfs/${cid}?format=raw`).then(({ status }) => status);
  for (const cid of [...files, named, ...studies]) t.equal(await raw(api.url, cid), 200);
  for (const cid of [withheld, loose]) {
    t.equal(await raw(api.url, cid), 404, 'its digest is known, its bytes are not told');
    t.equal(await raw(open.url, cid), 200, 'unless everything is said');
  }
  const post = async (path: string, cids: readonly Cid[]) => {
    const headers = { 'content-type': 'application/json' };
    return fetch(api.url + path, { method: 'POST', headers, body: JSON.stringify({ cids }) });
  };
  t.same(
    await (await post('/v1/have', [withheld, named])).json(),
    { missing: [withheld] },
    'not even that it is here',
  );
  t.equal((await post('/v1/export', [withheld])).status, 404);
  const remote = await openRemote(api.url);
  const texts = [];
  for await (const cid of remote.byKind('note')) texts.push((await remote.value(cid)) as { text: string });
  t.equal(texts.length, 6);
  t.notOk(texts.some(({ text }) => text === 'unpublished record'));
  const arrivals = await all(remote.since());
  t.equal(arrivals.length, 2 + 2 + 4 + 4 + 2, 'plans, studies, notes, entries, heads of names');
  await t.rejects(remote.put(Buffer.from('x')), { code: 'E_READ_ONLY' });
  // What is recorded later is seen later.
  const file = await from.put(Buffer.from('later'));
  const note = await from.record({ kind: 'note', text: 'later', links: [link(file)] });
  t.equal(await raw(api.url, file), 404, 'a record of the store log publishes nothing');
  await from.record({
    kind: 'entry',
    study: link(studies[0] as Cid),
    unique: 'later',
    links: [link(note.cid)],
  });
  t.equal(await raw(api.url, file), 200);
  await remote.close();
  await Promise.all([api.close(), open.close()]);
  await from.close();
});

t.test('what a release lists by digest is published with it, by the same rule on both sides', async (t) => {
  const store = await (await newPlace(quickFolder(t))).open();
  const inner = await store.put(Buffer.from('linked by a listed block'));
  const block = encodeBlock({ file: link(inner) });
  const page = await store.put(Buffer.from('a page'));
  const release = {
    kind: 'release',
    files: [
      { path: blockPath(block.cid), digest: digestOf(block.cid), size: block.bytes.length },
      { path: 'pages/a', digest: digestOf(page), size: 6 },
    ],
  };
  t.same(filesOf(release), [block.cid, page]);
  t.same(filesOf({ kind: 'other', files: release.files }), []);
  await store.put(block.bytes, 'dag-json');
  const { cid, bytes } = encodeBlock(release);
  await store.put(bytes, 'dag-json');
  await store.setName('release', cid);
  const shown = await openPublished(store);
  for (const each of [cid, block.cid, page, inner]) t.equal(await shown.has(each), true);
  await shown.close();
  await store.close();
});

/** A source with one part replaced. */
const lying = (source: Source, lie: Partial<Source>): Source => ({ ...source, ...lie });

t.test('nothing that a source says is believed', async (t) => {
  const base = quickFolder(t);
  const from = await (await newPlace(base)).open();
  const { studies } = await fillOrigin(from, 3);
  const [study] = studies as [Cid];
  const info = await from.logs.ofFamily(study);
  if (info === null) throw new Error('no log');
  const api = await serveMirror(from, { port: 0 });
  const source = openSource(api.url);
  const honest = await collect(await source.blocks([study]));
  async function* bytes(of: Uint8Array) {
    yield of;
  }
  const flipped = Buffer.from(honest);
  flipped[flipped.length - 3] = (flipped[flipped.length - 3] as number) ^ 1;
  const { seed } = generateKey();
  const signer = noteSigner(info.origin, seed);
  const { checkpoint } = openCheckpoint(await source.checkpoint(study), parseVerifierKey(info.vkey));
  const forged = signCheckpoint(checkpoint, signer);
  const only = { families: [study] };
  const leaves = await collect(source.logs.leafBytes(info.origin));
  const short = leaves.subarray(0, leaves.indexOf(0x0a) + 1);
  const rows: readonly (readonly [string, Partial<Source>, string, Partial<PullOptions>])[] = [
    ['a flipped byte', { blocks: async () => bytes(flipped) }, 'E_DIGEST', {}],
    ['another block', { blocks: async () => source.blocks([studies[1] as Cid]) }, 'E_REMOTE', {}],
    ['too few blocks', { blocks: async (cids) => source.blocks(cids.slice(1)) }, 'E_REMOTE', {}],
    ['a cut answer', { blocks: async () => bytes(honest.subarray(0, honest.length - 2)) }, 'E_CAR', {}],
    ['another signature', { checkpoint: async () => forged }, 'E_SIGNATURE', {}],
    ['another key than pinned', {}, 'E_SIGNATURE', { keys: [printVerifierKey(signer.key)] }],
    ['leaves dropped', { logs: { ...source.logs, leafBytes: () => bytes(short) } }, 'E_PROOF', {}],
    ['blocks above the limit', {}, 'E_TOO_LARGE', { blockBytes: 1 << 20 }],
  ];
  for (const [says, lie, code, more] of rows) {
    const to = await (await newPlace(base)).open();
    await t.rejects(pullMirror(to, lying(source, lie), { ...options, ...only, ...more }), { code }, says);
    t.same(
      (await to.logs.list()).filter(({ family }) => family !== null),
      [],
      `${says}: no log was taken`,
    );
    t.equal((await all(to.since())).length, 0, `${says}: no record`);
    await to.close();
  }
  // A log that is known keeps its key and its beginning.
  const to = await (await newPlace(base)).open();
  await pullMirror(to, source, { ...options, ...only, keys: [info.vkey] });
  const other = { ...info, vkey: printVerifierKey(signer.key) };
  const logs = { ...source.logs, list: async () => [other] };
  await t.rejects(pullMirror(to, lying(source, { logs, checkpoint: async () => forged }), options), {
    code: 'E_SIGNATURE',
  });
  await to.close();
  source.close();
  await api.close();
  await from.close();
});

t.test('a damaged copy here is fetched again; a block that is missing there is named', async (t) => {
  const base = quickFolder(t);
  const [from, to] = [await (await newPlace(base)).open(), await (await newPlace(base)).open()];
  const { studies } = await fillOrigin(from, 2);
  const api = await serveMirror(from, { port: 0 });
  const source = openSource(api.url);
  await pullMirror(to, source, options);
  const [study] = studies as [Cid];
  let damaged = true;
  const torn: Store = {
    ...to,
    async get(cid) {
      if (cid === study && damaged) fail('E_DIGEST', { where: cid });
      return to.get(cid);
    },
    putMany: async (blocks) => {
      damaged = false;
      return to.putMany(blocks);
    },
  };
  await pullMirror(torn, source, options);
  t.equal(damaged, false, 'it was fetched again');
  const absent = cidOf('raw', Buffer.from('absent'));
  await t.rejects(pullMirror(to, source, { ...options, roots: [absent] }), { code: 'E_NOT_FOUND' });
  source.close();
  await api.close();
  await Promise.all([from.close(), to.close()]);
});

t.test('an answer that is cut in the middle is asked for again', async (t) => {
  const base = quickFolder(t);
  const [from, to] = [await (await newPlace(base)).open(), await (await newPlace(base)).open()];
  const { studies } = await fillOrigin(from, 5);
  const api = await serveMirror(from, { port: 0 });
  let cuts = 0;
  const proxy = createServer(async (request, response) => {
    const body = await collect(request as AsyncIterable<Uint8Array>);
    const method = request.method ?? 'GET';
    const answer = await fetch(api.url + request.url, {
      method,
      ...(method === 'GET' ? {} : { body, headers: { 'content-type': 'application/json' } }),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    if (request.url === '/v1/export' && cuts++ % 2 === 0) {
      response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
    } else response.end(bytes);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const source = openSource(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  await pullMirror(to, source, options);
  t.ok(cuts >= 2);
  t.same(await published(to, studies), await published(from, studies));
  source.close();
  proxy.closeAllConnections();
  proxy.close();
  await api.close();
  await Promise.all([from.close(), to.close()]);
});
