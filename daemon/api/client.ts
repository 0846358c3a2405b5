/**
 * A store at the other end of an API: the `Store` of a command line beside a daemon, or of a mirror's reader.
 * Promises: the same names, types and faults as the store on disk; every block is hashed again on this side.
 * Does not promise: that a range of a block of 1 MiB or more was hashed here when it comes from the owner's socket, which
 * checked it; over http the whole block is read for it. A long stream hands out bytes before its end is known to be
 * right, and throws at the end where it is not.
 */
import { type Cid, type Codec, cidOf, codecOf, digestOf } from '../../store/format/cid.ts';
import { decode, encode, type Value } from '../../store/format/codec.ts';
import { hasher, sha256Hex } from '../../store/format/crypto.ts';
import { fail, isFault } from '../../store/format/errors.ts';
import type { Range } from '../../store/format/reader.ts';
import { carHeader, sectionHead } from '../../store/frame.ts';
import type { NewBlock, Owner, PutOptions, Recorded, Store, Stored } from '../../store/store.ts';
import { remoteLogs } from './client-logs.ts';
import { remoteNews } from './client-news.ts';
import { remoteRecords } from './client-records.ts';
import { bytesOf, type Connection, openConnection, textOf } from './http.ts';

export interface RemoteOptions {
  /** Bearer token for writes. */
  readonly token?: string;
}

/** Opens the store behind `url` (`http://…`, `https://…`, `unix:<path>`). Throws E_REMOTE, E_CONFIG. */
export async function openRemote(url: string, { token }: RemoteOptions = {}): Promise<Store> {
  const connection = openConnection(url, token);
  try {
    const { path, writable } = await asked<{ path: string | null; writable: boolean }>(
      connection,
      '/v1/store',
    );
    return remoteStore(connection, path ?? url, writable);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Silence that a living owner never keeps (milliseconds). */
const GREETING = 5000;

/**
 * The store of an owner that serves; null where nobody answers (a dead owner's hint). For `openStore`'s `connect`.
 */
export async function connectOwner(owner: Owner): Promise<Store | null> {
  if (owner.socket === undefined) return null;
  const url = owner.socket.includes(':') ? owner.socket : `unix:${owner.socket}`;
  const connection = openConnection(url);
  try {
    (await connection.call({ path: '/healthz', patience: GREETING })).drop();
  } catch (error) {
    connection.close();
    if (isFault(error, 'E_REMOTE')) return null;
    throw error;
  }
  connection.close();
  return openRemote(url);
}

/** Longest JSON answer (bytes). */
export const MAX_JSON = 64 << 20;

export async function asked<T>(connection: Connection, path: string): Promise<T> {
  const { body } = await connection.call({ path });
  return JSON.parse(await textOf(body, MAX_JSON)) as T;
}

function remoteStore(connection: Connection, path: string, writable: boolean): Store {
  const news = remoteNews(connection);
  const get = (cid: Cid) => getWhole(connection, cid);
  return {
    path,
    writable,
    remote: true,
    get,
    stream: (cid, range) => stream(connection, cid, range),
    has: async (cid) => (await missing(connection, [cid])).length === 0,
    size: (cid) => size(connection, cid),
    put: async (content, codec) => (await put(connection, content, codec === undefined ? {} : { codec })).cid,
    putStream: (content, options = {}) => put(connection, content, options),
    putMany: (blocks) => putMany(connection, blocks),
    record: (value, options) => record(connection, value, options?.imported === true),
    value: async (cid) => decode(await get(cid)),
    ...remoteRecords(connection),
    onRecords: news.onRecords,
    logs: remoteLogs(connection),
    announce: async () => fail('E_STORE_BUSY', { where: path, found: 'an owner that announced itself' }),
    async close() {
      news.close();
      connection.close();
    },
  };
}

/** Those of `cids` that the other side lacks. */
export async function missing(connection: Connection, cids: readonly Cid[]): Promise<readonly Cid[]> {
  const { body } = await connection.call({
    method: 'POST',
    path: '/v1/have',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ cids })),
  });
  return (JSON.parse(await textOf(body, MAX_JSON)) as { missing: Cid[] }).missing;
}

const blockPath = (cid: Cid): string => `/ipfs/${cid}?format=raw`;
/** `get` gives a whole block in memory up to this size, and `stream` a smaller one only when it was checked (bytes). */
const GET_LIMIT = 1 << 30;
const SMALL = 1 << 20;

async function getWhole(connection: Connection, cid: Cid): Promise<Uint8Array> {
  const answer = await connection.call({ path: blockPath(cid) });
  if (Number(answer.headers['content-length']) > GET_LIMIT) {
    answer.drop();
    fail('E_TOO_LARGE', { where: cid, wanted: `at most ${GET_LIMIT} bytes`, hint: 'Read it as a stream' });
  }
  const bytes = await bytesOf(answer.body, GET_LIMIT);
  checkDigest(cid, sha256Hex(bytes));
  return bytes;
}

function checkDigest(cid: Cid, found: string): void {
  const wanted = digestOf(cid);
  if (found !== wanted)
    fail('E_DIGEST', { where: cid, wanted: `sha256:${wanted}`, found: `sha256:${found}` });
}

async function size(connection: Connection, cid: Cid): Promise<number> {
  const { headers, body } = await connection.call({ method: 'HEAD', path: blockPath(cid) });
  // To its end, so that the connection can be used again.
  await bytesOf(body, 0);
  const length = Number(headers['content-length'] ?? Number.NaN);
  return Number.isSafeInteger(length) ? length : fail('E_REMOTE', { where: cid, wanted: 'a content-length' });
}

async function* stream(connection: Connection, cid: Cid, range?: Range): AsyncGenerator<Uint8Array> {
  const bytes = await size(connection, cid);
  const start = Math.min(range?.start ?? 0, bytes);
  const end = Math.min(range?.end ?? bytes, bytes);
  if (bytes < SMALL) {
    const part = (await getWhole(connection, cid)).subarray(start, Math.max(start, end));
    if (part.length > 0) yield part;
  } else if (start < end) {
    const checkedThere = connection.url.startsWith('unix:') && (start > 0 || end < bytes);
    yield* checkedThere ? part(connection, cid, { start, end }) : within(connection, cid, { start, end });
  }
}

async function* part(connection: Connection, cid: Cid, { start, end }: Range): AsyncGenerator<Uint8Array> {
  const headers = { range: `bytes=${start}-${end - 1}` };
  const { status, body } = await connection.call({ path: blockPath(cid), headers });
  if (status !== 206) fail('E_REMOTE', { where: cid, wanted: 'status 206', found: `status ${status}` });
  let left = end - start;
  for await (const piece of body) {
    left -= piece.length;
    yield piece;
  }
  if (left !== 0) fail('E_REMOTE', { where: cid, wanted: `${end - start} bytes`, found: 'another number' });
}

/** The range, out of the whole block, which is hashed. */
async function* within(connection: Connection, cid: Cid, { start, end }: Range): AsyncGenerator<Uint8Array> {
  const whole = hasher();
  let at = 0;
  for await (const piece of (await connection.call({ path: blockPath(cid) })).body) {
    whole.update(piece);
    const out = piece.subarray(Math.max(start - at, 0), Math.max(end - at, 0));
    at += piece.length;
    if (out.length > 0) yield out;
  }
  checkDigest(cid, whole.hex());
}

async function put(
  connection: Connection,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  { codec, expect }: PutOptions,
): Promise<Stored> {
  const query = new URLSearchParams({
    ...(codec === undefined ? {} : { codec }),
    ...(expect === undefined ? {} : { expect }),
  });
  // A copy: the caller may change the bytes as soon as the call was made.
  const body = content instanceof Uint8Array ? Uint8Array.from(content) : content;
  const hash = hasher();
  const sent = body instanceof Uint8Array ? body : hashed(body, hash);
  if (body instanceof Uint8Array) hash.update(body);
  const answer = await connection.call({
    method: 'POST',
    path: `/v1/blocks?${query}`,
    headers: { 'content-type': 'application/octet-stream' },
    body: sent,
  });
  const stored = JSON.parse(await textOf(answer.body, MAX_JSON)) as Stored;
  checkDigest(stored.cid, hash.hex());
  return stored;
}

async function* hashed(source: AsyncIterable<Uint8Array>, hash: ReturnType<typeof hasher>) {
  for await (const piece of source) {
    hash.update(piece);
    yield piece;
  }
}

/** Blocks of one request: this many, or this many bytes. */
const BATCH = 1024;
const BATCH_BYTES = 8 << 20;

async function putMany(
  connection: Connection,
  blocks: Iterable<NewBlock> | AsyncIterable<NewBlock>,
): Promise<readonly Stored[]> {
  const stored: Stored[] = [];
  let batch: Uint8Array[] = [];
  let held = 0;
  const flush = async () => {
    if (batch.length > 0) stored.push(...(await sendBatch(connection, batch)));
    batch = [];
    held = 0;
  };
  for await (const block of blocks) {
    if (block.bytes.length >= SMALL) {
      await flush();
      stored.push(await put(connection, block.bytes, block));
      continue;
    }
    batch.push(sectionOf(block));
    held += block.bytes.length;
    if (batch.length >= BATCH || held >= BATCH_BYTES) await flush();
  }
  await flush();
  return stored;
}

function sectionOf({ bytes, codec = 'raw', expect }: NewBlock): Uint8Array {
  const wanted: Codec = expect === undefined ? codec : codecOf(expect);
  const cid = cidOf(wanted, bytes);
  if (expect !== undefined && cid !== expect)
    fail('E_DIGEST', { wanted: expect, found: `sha256:${digestOf(cid)}`, hint: 'Nothing was kept' });
  return Buffer.concat([sectionHead(wanted, digestOf(cid), bytes.length), bytes]);
}

async function sendBatch(connection: Connection, sections: readonly Uint8Array[]): Promise<Stored[]> {
  const { body } = await connection.call({
    method: 'POST',
    path: '/v1/blocks/batch',
    headers: { 'content-type': 'application/vnd.ipld.car' },
    body: Buffer.concat([carHeader([]), ...sections]),
  });
  return JSON.parse(await textOf(body, MAX_JSON)) as Stored[];
}

async function record(connection: Connection, value: Value, imported: boolean): Promise<Recorded> {
  const { body } = await connection.call({
    method: 'POST',
    path: `/v1/records${imported ? '?imported=true' : ''}`,
    headers: { 'content-type': 'application/vnd.ipld.dag-json' },
    body: encode(value),
  });
  return JSON.parse(await textOf(body, MAX_JSON)) as Recorded;
}
