/** Everything of the API but the gateway: what it takes, what it refuses, what it tells. */
import { statSync } from 'node:fs';
import t from 'tap';
import { buildApi, openApi, openOwnApi } from '../../../daemon/api/api.ts';
import { connectOwner, openRemote } from '../../../daemon/api/client.ts';
import { lines, openConnection } from '../../../daemon/api/http.ts';
import { socketOf } from '../../../daemon/api/socket.ts';
import { exportBlocks, exportCar } from '../../../store/car.ts';
import { openCheckpoint } from '../../../store/format/checkpoint.ts';
import { type Cid, cidOf, link } from '../../../store/format/cid.ts';
import { encodeBlock } from '../../../store/format/codec.ts';
import { ERRORS, type ErrorCode } from '../../../store/format/errors.ts';
import { leafHash, rootAt } from '../../../store/format/merkle.ts';
import { parseVerifierKey } from '../../../store/format/note.ts';
import { bundleEntries, tilePath, tileReader } from '../../../store/format/tile.ts';
import type { Store } from '../../../store/store.ts';
import { newPlace, quickFolder } from '../../store/place.ts';
import { collect, filled } from '../../suite/blocks.ts';
import { all, serve, socketPath, TOKEN } from './kit.ts';

const MIB = 1 << 20;
const bearer = { authorization: `Bearer ${TOKEN}` };
const json = { 'content-type': 'application/json' };
const car = { 'content-type': 'application/vnd.ipld.car' };

/** A root over a small, an empty and a big file. */
async function tree(store: Store): Promise<{ root: Cid; cids: readonly Cid[] }> {
  const files = [filled(5000, 1), new Uint8Array(), filled(MIB + 9, 2)];
  const cids: Cid[] = [];
  for (const bytes of files) cids.push(await store.put(bytes));
  const { bytes } = encodeBlock({ files: cids.map(link) });
  const root = await store.put(bytes, 'dag-json');
  return { root, cids: [root, ...cids] };
}

async function answered(response: Response): Promise<{ status: number; code: string }> {
  const body = (await response.json()) as { code: ErrorCode; sentence: string };
  if (body.sentence !== ERRORS[body.code].sentence)
    throw new Error(`another sentence: ${JSON.stringify(body)}`);
  return { status: response.status, code: body.code };
}

t.test('have names what is missing, up to a cap', async (t) => {
  const { store, api, close } = await serve(t, { limits: { cids: 5 } });
  const { cids } = await tree(store);
  const absent = cidOf('raw', Buffer.from('absent'));
  const ask = (cids: readonly string[], more: object = {}) =>
    fetch(`${api.url}/v1/have`, { method: 'POST', headers: json, body: JSON.stringify({ cids, ...more }) });
  t.same(await (await ask([absent, ...cids])).json(), { missing: [absent] });
  t.same(await (await ask([])).json(), { missing: [] });
  t.same(await answered(await ask([...cids, ...cids])), { status: 413, code: 'E_TOO_LARGE' });
  t.same(await answered(await ask(['x'])), { status: 400, code: 'E_CID' });
  t.same(await answered(await ask([], { x: 1 })), { status: 400, code: 'E_REQUEST' });
  await close();
});

t.test('an import is a closure or a refusal that names the first bad block', async (t) => {
  const from = await (await newPlace(quickFolder(t))).open();
  const { root, cids } = await tree(from);
  const bytes = await collect(exportCar(from, [root]));
  const send = (base: string, body: Uint8Array) =>
    fetch(`${base}/v1/import`, { method: 'POST', headers: { ...bearer, ...car }, body: Buffer.from(body) });
  const flipped = Buffer.from(bytes);
  const at = bytes.indexOf(filled(5000, 1).subarray(0, 64)) + 20;
  flipped[at] = (flipped[at] as number) ^ 1;
  const cut = await collect(exportBlocks(from, [root], cids.slice(0, -1)));
  const wrong = await collect(
    exportBlocks(
      { ...from, stream: () => from.stream(cids[1] as Cid), size: async () => 5000 },
      [],
      [cids[3] as Cid],
    ),
  );
  const [, small, , big] = cids as [Cid, Cid, Cid, Cid];
  // What came in, how it is refused, and the block that is named and not here.
  const refusals: readonly (readonly [string, Uint8Array, number, string, Cid])[] = [
    ['a flipped byte', flipped, 422, 'E_DIGEST', small],
    ['cut between two blocks', cut, 422, 'E_INCOMPLETE', big],
    ['cut within a block', bytes.subarray(0, bytes.length - 9), 400, 'E_CAR', big],
    ['cut within the header', bytes.subarray(0, 20), 400, 'E_CAR', root],
    ['a block under another’s name', wrong, 422, 'E_DIGEST', big],
    ['nothing', new Uint8Array(), 400, 'E_CAR', root],
  ];
  for (const [says, body, status, code, named] of refusals) {
    const { store, api, close } = await serve(t);
    const response = await send(api.url, body);
    const text = await response.clone().text();
    t.same(await answered(response), { status, code }, says);
    if (code !== 'E_CAR') t.ok(text.includes(named), `${says}: named in ${text}`);
    t.equal(await store.has(named), false, `${says}: what came wrong is not here`);
    t.equal((await all(store.since())).length, 0, 'blocks are no records');
    const again = (await (await send(api.url, bytes)).json()) as { roots: Cid[]; blocks: number };
    t.same([again.roots, again.blocks], [[root], 4], 'going on finishes it');
    t.same(await collect(exportCar(store, [root])), bytes);
    t.same(
      await (await send(api.url, bytes)).json(),
      { roots: [root], blocks: 4, added: 0 },
      'again adds none',
    );
    await close();
  }
  await from.close();
});

t.test('no write without the token, and none to a read-only server', async (t) => {
  const { store, api, close } = await serve(t);
  const writes: readonly (readonly [string, string, string])[] = [
    ['POST', '/v1/import', 'application/vnd.ipld.car'],
    ['POST', '/v1/blocks', 'application/octet-stream'],
    ['POST', '/v1/blocks/batch', 'application/vnd.ipld.car'],
    ['POST', '/v1/records', 'application/vnd.ipld.dag-json'],
    ['PUT', '/v1/names/a', 'application/json'],
    ['POST', `/v1/logs?origin=a&family=b&vkey=c&checkpoint=d`, 'application/octet-stream'],
  ];
  const tokens: readonly (readonly [string, Record<string, string>])[] = [
    ['none', {}],
    ['another', { authorization: `Bearer ${TOKEN}x` }],
    ['a prefix', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
  ];
  const free = await openApi(store, { listen: { port: 0 } });
  const readOnly = await openApi(store, { listen: { port: 0 }, token: TOKEN, readOnly: true });
  for (const [method, path, type] of writes) {
    const send = (base: string, headers: Record<string, string>) =>
      fetch(base + path, { method, headers: { 'content-type': type, ...headers }, body: '{}' });
    for (const [says, headers] of tokens) {
      const response = await send(api.url, headers);
      t.equal(response.headers.get('www-authenticate'), 'Bearer realm="ashlar"');
      t.same(await answered(response), { status: 401, code: 'E_UNAUTHORIZED' }, `${path}, token: ${says}`);
    }
    t.same(
      await answered(await send(free.url, bearer)),
      { status: 401, code: 'E_UNAUTHORIZED' },
      `${path}, no token set`,
    );
    t.same(await answered(await send(readOnly.url, bearer)), { status: 403, code: 'E_READ_ONLY' }, path);
  }
  t.equal((await all(store.since())).length, 0);
  await Promise.all([free.close(), readOnly.close()]);
  await close();
});

t.test('limits: size of bodies, of uploads, rate', async (t) => {
  const limits = { bodyBytes: 1000, uploadBytes: 5000, recordBytes: 2000, requestsPerMinute: 12 };
  const { store, api, close } = await serve(t, { limits });
  const post = (path: string, type: string, body: Uint8Array) =>
    fetch(api.url + path, {
      method: 'POST',
      headers: { ...bearer, 'content-type': type },
      body: Buffer.from(body),
    });
  const much = { status: 413, code: 'E_TOO_LARGE' };
  t.same(await answered(await post('/v1/have', 'application/json', filled(1001, 1))), much);
  t.same(await answered(await post('/v1/records', 'application/vnd.ipld.dag-json', filled(2001, 1))), much);
  t.same(await answered(await post('/v1/blocks', 'application/octet-stream', filled(5001, 1))), much);
  const { cid } = (await (await post('/v1/blocks', 'application/octet-stream', filled(5000, 1))).json()) as {
    cid: Cid;
  };
  t.equal(await store.size(cid), 5000, 'what is within is taken');
  t.equal(await store.has(cidOf('raw', filled(5001, 1))), false);
  let refused: Response | undefined;
  for (let i = 0; i < 20 && refused === undefined; i++) {
    const response = await fetch(`${api.url}/healthz`);
    if (response.status === 429) refused = response;
    else await response.arrayBuffer();
  }
  t.ok(Number(refused?.headers.get('retry-after')) > 0, 'and when to come again');
  t.same(refused && (await answered(refused)), { status: 429, code: 'E_RATE' });
  await close();
});

t.test('a server with more to do than it can says when to come again', async (t) => {
  const { store, close } = await serve(t);
  // The shortest delay that there is: every loop of every machine is slower.
  const app = await buildApi(store, { listen: { port: 0 }, limits: { loopMilliseconds: 1e-9 } });
  await app.ready();
  let response = await app.inject({ url: '/healthz' });
  while (response.statusCode === 200) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    response = await app.inject({ url: '/healthz' });
  }
  t.same([response.statusCode, response.json().code], [503, 'E_OVERLOADED']);
  t.equal(response.headers['retry-after'], '10');
  await app.close();
  await close();
});

t.test('unknown paths, methods and fields are refused in the catalogue’s words', async (t) => {
  const { store, close } = await serve(t);
  const app = await buildApi(store, { listen: { port: 0 }, token: TOKEN });
  const family = cidOf('dag-json', Buffer.from('{}'));
  const rows: readonly (readonly [string, number, string])[] = [
    ['/nowhere', 404, 'E_NOT_FOUND'],
    ['/v1/pending', 404, 'E_NOT_FOUND'],
    ['/healthz?x=1', 400, 'E_REQUEST'],
    ['/metrics?x=1', 400, 'E_REQUEST'],
    ['/v1/records?x=1', 400, 'E_REQUEST'],
    ['/v1/records?kind=a&after=b', 400, 'E_REQUEST'],
    [`/v1/records?linksTo=${family}&derivation=${'0'.repeat(64)}`, 400, 'E_REQUEST'],
    ['/v1/records?linksTo=x', 400, 'E_CID'],
    ['/v1/records?evidence=sha256:12', 400, 'E_CID'],
    ['/v1/records?derivation=12', 400, 'E_CID'],
    [`/v1/records/${family}`, 404, 'E_NOT_FOUND'],
    ['/v1/names?x=1', 400, 'E_REQUEST'],
    ['/v1/names/..', 404, 'E_NOT_FOUND'],
    ['/v1/names/a b', 422, 'E_CONTRACT'],
    ['/v1/names/never', 404, 'E_NOT_FOUND'],
    [`/v1/closure/${family}`, 404, 'E_NOT_FOUND'],
    [`/log/${family}/checkpoint`, 404, 'E_NOT_FOUND'],
    [`/log/${family}/tile/0/000`, 404, 'E_NOT_FOUND'],
    [`/log/${family}/tile/0/0`, 400, 'E_PATH'],
    ['/log/x/checkpoint', 400, 'E_CID'],
    ['/v1/logs/root?origin=a', 400, 'E_REQUEST'],
    ['/v1/logs/root?origin=a&size=1', 404, 'E_NOT_FOUND'],
    ['/v1/logs/root?origin=a&size=-1', 400, 'E_REQUEST'],
  ];
  for (const [url, status, code] of rows) {
    const response = await app.inject({ url: encodeURI(url) });
    t.same([response.statusCode, response.json().code], [status, code], url);
  }
  const broken = await app.inject({ method: 'POST', url: '/v1/have', headers: json, payload: '{"cids":' });
  t.same([broken.statusCode, broken.json().code], [400, 'E_REQUEST']);
  const typed = await app.inject({
    method: 'POST',
    url: '/v1/have',
    headers: { 'content-type': 'text/x' },
    payload: 'x',
  });
  t.same([typed.statusCode, typed.json().code], [400, 'E_REQUEST']);
  const form = await app.inject({
    method: 'POST',
    url: '/v1/records',
    headers: { ...bearer, ...json },
    payload: '{}',
  });
  t.same([form.statusCode, form.json().code], [400, 'E_REQUEST']);
  const spelled = { ...bearer, 'content-type': 'application/vnd.ipld.dag-json' };
  const loose = await app.inject({
    method: 'POST',
    url: '/v1/records',
    headers: spelled,
    payload: '{ "kind":"note"}',
  });
  t.same([loose.statusCode, loose.json().code], [400, 'E_CODEC'], 'only the canonical spelling is a record');
  await app.close();
  await close();
});

t.test('a fault of ours leaves without its inside', async (t) => {
  const { store, close } = await serve(t);
  const seen: unknown[] = [];
  const boom = new Error('secret inside');
  const pending = () => Promise.reject(boom);
  const app = await buildApi(store, {
    listen: { port: 0 },
    pending,
    onInternal: (error) => seen.push(error),
  });
  const response = await app.inject({ url: '/v1/pending' });
  t.same(
    [response.statusCode, response.json()],
    [500, { code: 'E_INTERNAL', sentence: ERRORS.E_INTERNAL.sentence }],
  );
  t.same(seen, [boom]);
  await app.close();
  await close();
});

t.test('closure, export, pending and why say what the parts know', async (t) => {
  const subject = cidOf('raw', Buffer.from('plan'));
  const reason = { subject, reason: 'ready', detail: 'attempt 1' };
  const { store, api, close } = await serve(t, {
    pending: async () => [{ plan: link(subject), arms: ['a'] }],
    why: async (cid) => [{ ...reason, subject: cid }],
  });
  const { root, cids } = await tree(store);
  const text = async (path: string) => (await fetch(api.url + path)).text();
  const members = (await text(`/v1/closure/${root}`))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.same(
    members.map(({ cid }) => cid),
    cids,
  );
  t.same(
    members.slice(1).map(({ size }) => size),
    [5000, 0, MIB + 9],
  );
  t.equal(await text('/v1/pending'), `{"arms":["a"],"plan":{"/":"${subject}"}}\n`);
  t.same(JSON.parse(await text(`/v1/why/${subject}`)), reason);
  const ask = (cids: readonly Cid[]) =>
    fetch(`${api.url}/v1/export`, { method: 'POST', headers: json, body: JSON.stringify({ cids }) });
  t.same(
    Buffer.from(await (await ask(cids)).arrayBuffer()),
    await collect(exportBlocks(store, [], cids)),
    'just the blocks asked for',
  );
  t.same(await answered(await ask([cidOf('raw', Buffer.from('x'))])), { status: 404, code: 'E_NOT_FOUND' });
  await close();
});

t.test('a family log is served as tiles that prove its checkpoint; the store log is not', async (t) => {
  const { store, api, close } = await serve(t);
  const { cid: study } = await store.record({ kind: 'study', text: 's' });
  for (let i = 0; i < 300; i++)
    void store.record({ kind: 'entry', text: `e${i}`, study: link(study), unique: `u${i}` });
  await store.record({ kind: 'note', text: 'in the store log' });
  const listed = (await (await fetch(`${api.url}/v1/logs`)).json()) as {
    family: Cid;
    vkey: string;
    origin: string;
  }[];
  t.same(
    listed.map(({ family }) => family),
    [study],
  );
  const bytes = async (path: string) =>
    new Uint8Array(await (await fetch(`${api.url}/log/${study}/${path}`)).arrayBuffer());
  const { checkpoint } = openCheckpoint(await bytes('checkpoint'), parseVerifierKey(listed[0]?.vkey ?? ''));
  t.equal(checkpoint.size, 301);
  const root = await rootAt(
    301,
    tileReader(301, (tile) => bytes(tilePath(tile))),
  );
  t.same(Buffer.from(root), Buffer.from(checkpoint.root), 'the tiles have the signed root');
  const entries = [
    ...bundleEntries(await bytes('tile/entries/000'), 256),
    ...bundleEntries(await bytes('tile/entries/001.p/45'), 45),
  ];
  t.equal(entries.length, 301);
  const own = (await store.logs.list()).find(({ family }) => family === null);
  t.ok(own);
  const query = new URLSearchParams({ origin: own?.origin ?? '' });
  t.same(await answered(await fetch(`${api.url}/v1/logs/leaves?${query}`)), {
    status: 404,
    code: 'E_NOT_FOUND',
  });
  const tile = await bytes('tile/0/000');
  t.same(Buffer.from(tile.subarray(0, 32)), Buffer.from(leafHash(entries[0] as Uint8Array)));
  await close();
});

t.test('events tell every record after a cursor, old and new', async (t) => {
  const { store, api, close } = await serve(t, { limits: { listeners: 1 } });
  await store.record({ kind: 'note', text: 'before' });
  const [first] = await all(store.since());
  const b = await store.record({ kind: 'note', text: 'b' });
  const connection = openConnection(api.url);
  const answer = await connection.call({ path: `/v1/events?after=${first?.cursor}` });
  t.equal(answer.headers['content-type'], 'text/event-stream');
  t.same(await answered(await fetch(`${api.url}/v1/events`)), { status: 503, code: 'E_OVERLOADED' });
  const seen: string[] = [];
  const c = store.record({ kind: 'note', text: 'c' });
  for await (const line of lines(answer.body)) {
    const text = line.toString();
    if (text.startsWith('data: ')) seen.push(JSON.parse(text.slice(6)).cid);
    if (seen.length === 2) break;
  }
  t.same(seen, [b.cid, (await c).cid]);
  connection.close();
  await close();
});

t.test('health, metrics and the description of the whole', async (t) => {
  const { store, api, close } = await serve(t);
  const { cid: study } = await store.record({ kind: 'study', text: 's' });
  t.same(await (await fetch(`${api.url}/healthz`)).json(), { ok: true });
  t.same(
    await (await fetch(`${api.url}/v1/store`)).json(),
    { path: null, writable: true },
    'a path is nobody’s business',
  );
  const text = await (await fetch(`${api.url}/metrics`)).text();
  t.match(text, /^ashlar_answers_total\{route="\/healthz",method="GET",status="200"\} 1$/m);
  t.match(text, new RegExp(`^ashlar_log_leaves\\{family="${study}"\\} 1$`, 'm'));
  t.ok(text.endsWith('# EOF\n'));
  const api1 = (await (await fetch(`${api.url}/openapi.json`)).json()) as { paths: Record<string, unknown> };
  const paths = Object.keys(api1.paths);
  for (const path of [
    '/ipfs/{cid}',
    '/v1/have',
    '/v1/import',
    '/v1/records',
    '/log/{family}/checkpoint',
    '/v1/events',
  ])
    t.ok(paths.includes(path), path);
  await close();
});

t.test('only this user reaches a store’s own socket', async (t) => {
  const place = await newPlace(quickFolder(t));
  const store = await place.open();
  const runtime = quickFolder(t);
  const api = await openOwnApi(store, { XDG_RUNTIME_DIR: runtime });
  const path = api.url.slice('unix:'.length);
  t.equal(path, socketOf(store.path, { XDG_RUNTIME_DIR: runtime }));
  t.ok(path.startsWith(runtime) && Buffer.byteLength(path) < 100);
  t.equal(statSync(path).mode & 0o777, 0o600);
  const long = socketOf(store.path, { XDG_RUNTIME_DIR: `${runtime}/${'x'.repeat(80)}` });
  t.ok(Buffer.byteLength(long) < 100, 'a long runtime folder is passed over');
  const command = await place.open({ connect: connectOwner });
  t.equal(command.writable, true);
  t.equal(
    (await command.logs.list()).length,
    (await store.logs.list()).length,
    'the owner sees the store log',
  );
  await t.rejects(openOwnApi(command, { XDG_RUNTIME_DIR: runtime }), { code: 'E_STORE_BUSY' });
  t.equal(
    await command.has(cidOf('raw', Buffer.from('x'))),
    false,
    'a client does not take the owner’s socket',
  );
  await command.close();
  await api.close();
  const second = await openOwnApi(store, { XDG_RUNTIME_DIR: runtime });
  t.equal(second.url, api.url, 'a socket left behind is replaced');
  await second.close();
  await store.close();
});

t.test('a taken or impossible address is a fault of configuration', async (t) => {
  const { store, api, close } = await serve(t);
  const port = Number(new URL(api.url).port);
  t.equal(new URL(api.url).hostname, '127.0.0.1', 'loopback unless told otherwise');
  await t.rejects(openApi(store, { listen: { port } }), { code: 'E_CONFIG' });
  await t.rejects(openApi(store, { listen: { socket: '/nonexistent/s' } }), { code: 'E_CONFIG' });
  await t.rejects(openRemote('ftp://127.0.0.1/'), { code: 'E_CONFIG' });
  await t.rejects(openRemote(`unix:${socketPath(t)}`), { code: 'E_REMOTE' });
  await close();
});
