/** The logs of a store, read and adopted over an API. */
import { fromBase64, toBase64 } from '../../store/format/base64.ts';
import { fail } from '../../store/format/errors.ts';
import type { Range } from '../../store/format/reader.ts';
import { tilePath } from '../../store/format/tile.ts';
import { parseLeaf } from '../../store/log/leaf.ts';
import type { Leaf, LogCopy, LogInfo, Logs } from '../../store/store.ts';
import { bytesOf, type Connection, lines, textOf } from './http.ts';

/** Longest answer that is not a stream (bytes). */
const MAX = 64 << 20;

export function remoteLogs(connection: Connection): Logs {
  const list = () => json<readonly LogInfo[]>(connection, '/v1/logs');
  const bytes = async (path: string) => bytesOf((await connection.call({ path })).body, MAX);
  return {
    list,
    ofFamily: async (study) => (await list()).find(({ family }) => family === study) ?? null,
    checkpoint: (origin, size) => bytes(pathOf('checkpoint', { origin, size })),
    leaves: (origin, range) => leaves(connection, origin, range),
    leafBytes: (origin, range) => leafBytes(connection, origin, range),
    async root(origin, size) {
      const [root] = await hashes(connection, pathOf('root', { origin, size }));
      return root ?? fail('E_REMOTE', { where: origin, wanted: 'a root hash' });
    },
    inclusion: (origin, index, size) => hashes(connection, pathOf('inclusion', { origin, index, size })),
    consistency: (origin, from, to) => hashes(connection, pathOf('consistency', { origin, from, to })),
    tile: (origin, tile) => bytes(pathOf('tile', { origin, path: tilePath(tile) })),
    adopt: (copy) => adopt(connection, copy),
  };
}

function pathOf(what: string, fields: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, String(value));
  return `/v1/logs/${what}?${query}`;
}

async function json<T>(connection: Connection, path: string): Promise<T> {
  return JSON.parse(await textOf((await connection.call({ path })).body, MAX)) as T;
}

async function hashes(connection: Connection, path: string): Promise<readonly Uint8Array[]> {
  const { hashes: spelled } = await json<{ hashes: string[] }>(connection, path);
  return spelled.map((hash) => fromBase64(hash) ?? fail('E_REMOTE', { where: path, wanted: 'base64' }));
}

async function* lineBytes(connection: Connection, origin: string, range: Range | undefined) {
  const { body } = await connection.call({ path: pathOf('leaves', { origin, ...range }) });
  yield* lines(body);
}

async function* leafBytes(connection: Connection, origin: string, range: Range | undefined) {
  for await (const line of lineBytes(connection, origin, range))
    yield Buffer.concat([line, Buffer.from('\n')]);
}

async function* leaves(
  connection: Connection,
  origin: string,
  range: Range | undefined,
): AsyncGenerator<Leaf> {
  for await (const line of lineBytes(connection, origin, range)) yield parseLeaf(line);
}

async function adopt(connection: Connection, copy: LogCopy): Promise<LogInfo> {
  const { origin, family, vkey } = copy;
  const query = new URLSearchParams({ origin, family, vkey, checkpoint: toBase64(copy.checkpoint) });
  const { body } = await connection.call({
    method: 'POST',
    path: `/v1/logs?${query}`,
    headers: { 'content-type': 'application/octet-stream' },
    body: copy.leaves,
  });
  return JSON.parse(await textOf(body, MAX)) as LogInfo;
}
