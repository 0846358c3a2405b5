/**
 * The trustless gateway by rows (IPFS Trustless Gateway 2026-03, ipfs/gateway-conformance `trustless-gateway`): request,
 * then status, headers and body. Real curl and sha256sum ask the first question.
 */
import { execFile } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CarReader } from '@ipld/car';
import t, { type Test } from 'tap';
import { connectOwner, openRemote } from '../../../daemon/api/client.ts';
import { openConnection } from '../../../daemon/api/http.ts';
import { byteRange } from '../../../daemon/api/ipfs-request.ts';
import { exportCar } from '../../../store/car.ts';
import { type Cid, cidOf, digestOf, link } from '../../../store/format/cid.ts';
import { encodeBlock } from '../../../store/format/codec.ts';
import { sha256Hex } from '../../../store/format/crypto.ts';
import type { Store } from '../../../store/store.ts';
import { collect, filled } from '../../suite/blocks.ts';
import { serve } from './kit.ts';

const run = promisify(execFile);
const MIB = 1 << 20;
const RAW = 'application/vnd.ipld.raw';
const CAR = 'application/vnd.ipld.car';
const IMMUTABLE = 'public, max-age=29030400, immutable';

interface Fixture {
  readonly small: Cid;
  readonly big: Cid;
  /** Links `inner` twice and `small`. */
  readonly root: Cid;
  readonly inner: Cid;
  /** Links a block that is not there. */
  readonly torn: Cid;
  readonly absent: Cid;
}

async function fixture(store: Store): Promise<Fixture> {
  const small = await store.put(filled(5000, 1));
  const big = await store.put(filled(3 * MIB + 5, 2));
  const inner = encodeBlock({ file: link(small), big: link(big) });
  const root = encodeBlock({ a: link(inner.cid), b: [link(inner.cid), link(small)] });
  const absent = cidOf('raw', Buffer.from('absent'));
  const torn = encodeBlock({ a: link(small), b: link(absent) });
  for (const { bytes } of [inner, root, torn]) await store.put(bytes, 'dag-json');
  return { small, big, root: root.cid, inner: inner.cid, torn: torn.cid, absent };
}

interface Row {
  readonly says: string;
  readonly path: string;
  readonly method?: 'HEAD';
  readonly headers?: Record<string, string>;
  readonly status: number;
  readonly wanted?: Record<string, string | null>;
  /** SHA-256 of the body, or its length. */
  readonly body?: string | number;
  readonly code?: string;
}

async function check(t: Tester, base: string, row: Row): Promise<void> {
  const response = await fetch(base + row.path, {
    method: row.method ?? 'GET',
    headers: { accept: '*/*', ...row.headers },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  t.equal(response.status, row.status, `${row.says}: status`);
  for (const [name, value] of Object.entries(row.wanted ?? {}))
    t.equal(response.headers.get(name), value, `${row.says}: ${name}`);
  if (typeof row.body === 'string') t.equal(sha256Hex(bytes), row.body, `${row.says}: bytes`);
  if (typeof row.body === 'number') t.equal(bytes.length, row.body, `${row.says}: length`);
  if (row.code !== undefined) t.equal(JSON.parse(bytes.toString()).code, row.code, `${row.says}: code`);
}

type Tester = Pick<Test, 'equal'>;

const at = (cid: string) => `/ipfs/${cid}?format=raw`;

function wholeRows({ small, big, root, absent }: Fixture): Row[] {
  const digest = digestOf(small);
  return [
    {
      says: 'a raw block',
      path: at(small),
      status: 200,
      body: digest,
      wanted: {
        'content-type': RAW,
        'content-length': '5000',
        etag: `"${small}.raw"`,
        'cache-control': IMMUTABLE,
        'x-content-type-options': 'nosniff',
        'content-disposition': `attachment; filename="${small}.bin"`,
        'x-ipfs-path': `/ipfs/${small}`,
        'x-ipfs-roots': small,
        'content-location': null,
      },
    },
    {
      says: 'by Accept',
      path: `/ipfs/${small}`,
      headers: { accept: RAW },
      status: 200,
      body: digest,
      wanted: { 'content-type': RAW, 'content-location': `/ipfs/${small}?format=raw` },
    },
    { says: 'format wins over Accept', path: at(small), headers: { accept: CAR }, status: 200, body: digest },
    {
      says: 'the heavier of two',
      path: `/ipfs/${small}`,
      headers: { accept: `${CAR};q=0.5, ${RAW};q=0.9` },
      status: 200,
      body: digest,
    },
    { says: 'a digest is a spelling', path: at(`sha256:${digest}`), status: 200, body: digest },
    { says: 'a block of any codec', path: at(root), status: 200, body: digestOf(root) },
    { says: 'a big block', path: at(big), status: 200, body: digestOf(big) },
    {
      says: 'HEAD',
      path: at(big),
      method: 'HEAD',
      status: 200,
      body: 0,
      wanted: { 'content-length': String(3 * MIB + 5), etag: `"${big}.raw"`, 'accept-ranges': 'bytes' },
    },
    { says: 'HEAD of nothing', path: at(absent), method: 'HEAD', status: 404, body: 0 },
    {
      says: 'unchanged',
      path: at(small),
      headers: { 'if-none-match': `"other", W/"${small}.raw"` },
      status: 304,
      body: 0,
    },
    { says: 'the probe', path: at('bafkqaaa'), status: 200, body: 0, wanted: { 'content-type': RAW } },
    { says: 'HEAD of the probe', path: at('bafkqaaa'), method: 'HEAD', status: 200, body: 0 },
  ];
}

function refusedRows({ small, root, absent }: Fixture): Row[] {
  return [
    { says: 'neither format nor Accept', path: `/ipfs/${small}`, status: 400, code: 'E_REQUEST' },
    { says: 'another Accept', path: `/ipfs/${small}`, headers: { accept: 'text/html' }, status: 400 },
    { says: 'no CID', path: at('nonsense'), status: 400, code: 'E_CID' },
    { says: 'a CID with a wrong ending', path: at(`${small}a`), status: 400, code: 'E_CID' },
    { says: 'a root that is not here', path: at(absent), status: 404, code: 'E_NOT_FOUND' },
    {
      says: 'a CID of another codec is not here either',
      path: at('bafybeihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'),
      status: 404,
      code: 'E_NOT_FOUND',
    },
    {
      says: 'only-if-cached',
      path: at(absent),
      headers: { 'cache-control': 'only-if-cached' },
      status: 412,
      code: 'E_NOT_CACHED',
    },
    { says: 'an unknown field', path: `${at(small)}&x=1`, status: 400, code: 'E_REQUEST' },
    { says: 'an unknown format', path: `/ipfs/${small}?format=tar`, status: 400, code: 'E_REQUEST' },
    { says: 'a path below', path: `/ipfs/${root}/a?format=raw`, status: 400, code: 'E_REQUEST' },
  ];
}

function rangeRows({ small, big }: Fixture): Row[] {
  const digest = digestOf(small);
  const range = (text: string) => ({ range: text });
  const piece = (start: number, end: number) => sha256Hex(filled(5000, 1).subarray(start, end));
  const bigPiece = (start: number, end: number) => sha256Hex(filled(3 * MIB + 5, 2).subarray(start, end));
  return [
    {
      says: 'a range',
      path: at(small),
      headers: range('bytes=10-19'),
      status: 206,
      body: piece(10, 20),
      wanted: { 'content-range': 'bytes 10-19/5000', 'content-length': '10', etag: `"${small}.raw"` },
    },
    {
      says: 'to the end',
      path: at(small),
      headers: range('bytes=4990-'),
      status: 206,
      body: piece(4990, 5000),
    },
    {
      says: 'the last ones',
      path: at(small),
      headers: range('bytes=-5'),
      status: 206,
      body: piece(4995, 5000),
    },
    {
      says: 'beyond the end',
      path: at(small),
      headers: range('bytes=4990-9999'),
      status: 206,
      body: piece(4990, 5000),
    },
    {
      says: 'over a border of MiB',
      path: at(big),
      headers: range(`bytes=${MIB - 3}-${MIB + 3}`),
      status: 206,
      body: bigPiece(MIB - 3, MIB + 4),
    },
    {
      says: 'no such range',
      path: at(small),
      headers: range('bytes=5000-'),
      status: 416,
      code: 'E_RANGE',
      wanted: { 'content-range': 'bytes */5000', etag: null },
    },
    { says: 'several ranges', path: at(small), headers: range('bytes=0-1,5-6'), status: 200, body: digest },
    { says: 'a malformed range', path: at(small), headers: range('bytes=9-5'), status: 200, body: digest },
    {
      says: 'If-Range of another',
      path: at(small),
      headers: { ...range('bytes=0-1'), 'if-range': '"x"' },
      status: 200,
      body: digest,
    },
  ];
}

t.test('raw blocks: every row', async (t) => {
  const { store, api, close } = await serve(t);
  const found = await fixture(store);
  for (const row of [...wholeRows(found), ...refusedRows(found), ...rangeRows(found)])
    await check(t, api.url, row);
  await close();
});

t.test('curl and sha256sum agree with the digest in the cid', async (t) => {
  const { store, api, close } = await serve(t);
  const { small, big } = await fixture(store);
  for (const cid of [small, big]) {
    const url = `${api.url}/ipfs/${cid}?format=raw`;
    const { stdout } = await run('sh', ['-c', 'curl -sSf "$1" | sha256sum', 'sh', url]);
    t.equal(stdout.slice(0, 64), digestOf(cid));
  }
  await close();
});

interface CarRow {
  readonly query: string;
  readonly accept?: string;
  readonly blocks: (fixture: Fixture) => readonly Cid[];
  readonly type?: string;
}

const every = ({ root, inner, small, big }: Fixture) => [root, inner, big, small];
const CARS: readonly CarRow[] = [
  { query: 'format=car', blocks: every, type: `${CAR}; version=1; order=dfs; dups=n` },
  { query: 'format=car&dag-scope=all&car-version=1&car-order=dfs&car-dups=n', blocks: every },
  { query: 'format=car&car-order=unk', blocks: every },
  { query: '', accept: `${CAR};version=1;order=dfs;dups=n`, blocks: every },
  { query: 'format=car&dag-scope=block', blocks: ({ root }) => [root] },
  { query: 'format=car&dag-scope=entity', blocks: ({ root }) => [root] },
  { query: 'format=car&entity-bytes=0:*', blocks: ({ root }) => [root] },
  { query: 'format=car&dag-scope=all&entity-bytes=-5:-1', blocks: ({ root }) => [root] },
  {
    query: 'format=car&car-dups=y',
    blocks: ({ root, inner, small, big }) => [root, inner, big, small, inner, big, small, small],
    type: `${CAR}; version=1; order=dfs; dups=y`,
  },
  {
    query: 'format=car&car-dups=n',
    accept: `${CAR};dups=y`,
    blocks: every,
    type: `${CAR}; version=1; order=dfs; dups=n`,
  },
];

t.test('CARs: the blocks of every scope, in order, whole by the digest of each', async (t) => {
  const { store, api, close } = await serve(t);
  const found = await fixture(store);
  for (const { query, accept, blocks, type } of CARS) {
    const response = await fetch(`${api.url}/ipfs/${found.root}?${query}`, {
      headers: { accept: accept ?? '*/*' },
    });
    t.equal(response.status, 200, query);
    if (type !== undefined) t.equal(response.headers.get('content-type'), type, query);
    t.equal(response.headers.get('content-disposition'), `attachment; filename="${found.root}.car"`);
    t.equal(response.headers.get('cache-control'), IMMUTABLE);
    const car = await CarReader.fromBytes(new Uint8Array(await response.arrayBuffer()));
    t.same((await car.getRoots()).map(String), [found.root], query);
    const cids: string[] = [];
    for await (const { cid, bytes } of car.blocks()) {
      cids.push(String(cid));
      t.equal(sha256Hex(bytes), Buffer.from(cid.multihash.digest).toString('hex'), `${query} ${cid}`);
    }
    t.same(cids, blocks(found), `${query} ${accept}`);
  }
  const whole = await fetch(`${api.url}/ipfs/${found.root}?format=car`);
  t.same(
    Buffer.from(await whole.arrayBuffer()),
    await collect(exportCar(store, [found.root])),
    'the same bytes as an export',
  );
  await close();
});

t.test('CARs: tags, refusals, the probe', async (t) => {
  const { store, api, close } = await serve(t);
  const { root, absent, small } = await fixture(store);
  const tags = new Set<string | null>();
  for (const { query } of CARS.slice(4)) {
    const { headers } = await fetch(`${api.url}/ipfs/${root}?${query}`, { method: 'HEAD' });
    tags.add(headers.get('etag'));
  }
  t.equal(tags.size, 3, 'block, all with and all without duplicates have tags of their own');
  const at = (query: string) => `/ipfs/${root}?format=car&${query}`;
  const rows: Row[] = [
    { says: 'missing root', path: `/ipfs/${absent}?format=car`, status: 404, code: 'E_NOT_FOUND' },
    { says: 'CAR 2', path: at('car-version=2'), status: 400, code: 'E_REQUEST' },
    { says: 'another scope', path: at('dag-scope=some'), status: 400, code: 'E_REQUEST' },
    { says: 'another order', path: at('car-order=bfs'), status: 400, code: 'E_REQUEST' },
    { says: 'bytes of no form', path: at('entity-bytes=a:b'), status: 400, code: 'E_REQUEST' },
    {
      says: 'CAR 2 by Accept',
      path: `/ipfs/${root}`,
      headers: { accept: `${CAR};version=2` },
      status: 400,
      code: 'E_REQUEST',
    },
    { says: 'a raw root', path: `/ipfs/${small}?format=car&dag-scope=entity&entity-bytes=0:9`, status: 200 },
    {
      says: 'HEAD',
      path: at('dag-scope=all'),
      method: 'HEAD',
      status: 200,
      body: 0,
      wanted: { 'accept-ranges': 'none' },
    },
  ];
  for (const row of rows) await check(t, api.url, row);
  const probe = await fetch(`${api.url}/ipfs/bafkqaaa?format=car`);
  const car = await CarReader.fromBytes(new Uint8Array(await probe.arrayBuffer()));
  t.same((await car.getRoots()).map(String), ['bafkqaaa']);
  await close();
});

t.test('a child that is missing cuts the stream: the answer never ends like a whole one', async (t) => {
  const { store, api, close } = await serve(t);
  const { torn } = await fixture(store);
  await t.rejects(fetch(`${api.url}/ipfs/${torn}?format=car`).then((response) => response.arrayBuffer()));
  const connection = openConnection(api.url);
  const answer = await connection.call({ path: `/ipfs/${torn}?format=car` });
  t.equal(answer.status, 200);
  await t.rejects(collect(answer.body), { code: 'E_REMOTE' });
  connection.close();
  await close();
});

/** Flips the byte that lies `at` bytes into `needle`'s first occurrence in a file of this folder. */
function flip(folder: string, needle: Uint8Array, at: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const offset = readFileSync(path).indexOf(needle);
    if (offset < 0) continue;
    const fd = openSync(path, 'r+');
    const byte = readFileSync(path)[offset + at] as number;
    writeSync(fd, Buffer.from([byte ^ 1]), 0, 1, offset + at);
    closeSync(fd);
    return;
  }
  throw new Error('no such bytes');
}

t.test('a tampered block is never served whole', async (t) => {
  const { place, store, api, close } = await serve(t);
  const { small, big, root } = await fixture(store);
  flip(join(place.path, 'segments'), filled(5000, 1).subarray(0, 64), 40);
  const bigBytes = filled(3 * MIB + 5, 2);
  flip(join(place.path, 'big'), bigBytes.subarray(2 * MIB, 2 * MIB + 64), 7);
  const refused = await fetch(`${api.url}/ipfs/${small}?format=raw`);
  t.equal(refused.status, 500, 'a small one is refused before its first byte');
  t.equal(JSON.parse(await refused.text()).code, 'E_DIGEST');
  t.equal(refused.headers.get('cache-control'), null, 'and the refusal is not kept by a cache');
  const partly = await fetch(`${api.url}/ipfs/${small}?format=raw`, {
    headers: { range: 'bytes=4000-4010' },
  });
  t.equal(partly.status, 500, 'also a range of it that holds no wrong byte');
  const answer = await fetch(`${api.url}/ipfs/${big}?format=raw`);
  t.equal(answer.status, 200);
  const got: Uint8Array[] = [];
  await t.rejects(async () => {
    for await (const piece of answer.body ?? []) got.push(piece as Uint8Array);
  }, 'a big one is cut');
  const bytes = Buffer.concat(got);
  t.ok(
    bytes.length <= 2 * MIB && bytes.equals(bigBytes.subarray(0, bytes.length)),
    'before its first wrong byte',
  );
  const sound = await fetch(`${api.url}/ipfs/${big}?format=raw`, { headers: { range: 'bytes=0-99' } });
  t.equal(sound.status, 206, 'a MiB that is sound is served');
  const { exitCode } = await run('sh', [
    '-c',
    'curl -sSf "$1" > /dev/null',
    'sh',
    `${api.url}/ipfs/${big}?format=raw`,
  ])
    .then(() => ({ exitCode: 0 }))
    .catch((error: { code: number }) => ({ exitCode: error.code }));
  t.not(exitCode, 0, 'curl sees the cut');
  await t.rejects(fetch(`${api.url}/ipfs/${root}?format=car`).then((r) => r.arrayBuffer()));
  const remote = await openRemote(api.url);
  await t.rejects(remote.get(small), { code: 'E_DIGEST' });
  await t.rejects(collect(remote.stream(big)), { code: 'E_REMOTE' });
  await remote.close();
  await close();
});

t.test('ranges by RFC 9110', async (t) => {
  const rows: readonly (readonly [string | undefined, unknown])[] = [
    [undefined, null],
    ['bytes=0-0', { start: 0, end: 1 }],
    ['bytes=0-', { start: 0, end: 10 }],
    ['bytes=-3', { start: 7, end: 10 }],
    ['bytes=-30', { start: 0, end: 10 }],
    ['bytes=5-99', { start: 5, end: 10 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=4-3', null],
    ['bytes=-', null],
    ['bytes=a-b', null],
    ['items=0-1', null],
    ['bytes=0-1,3-4', null],
  ];
  for (const [header, wanted] of rows) t.same(byteRange(header, 10), wanted, String(header));
  t.equal(byteRange('bytes=0-', 0), 'unsatisfiable', 'nothing has no range');
  t.equal(await connectOwner({ pid: 1 }), null, 'an owner without a socket serves nobody');
});
