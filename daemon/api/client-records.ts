/** Questions about records and names, asked over an API. */
import type { Cid, Digest, Evidence } from '../../store/format/cid.ts';
import { decode } from '../../store/format/codec.ts';
import { isFault } from '../../store/format/errors.ts';
import type { Arrival, LeafPlace, NameHead, Store } from '../../store/store.ts';
import { type Connection, lines, textOf } from './http.ts';

type Questions = Pick<
  Store,
  | 'byKind'
  | 'linkers'
  | 'evidenceOf'
  | 'derived'
  | 'kindOf'
  | 'leafOf'
  | 'since'
  | 'name'
  | 'names'
  | 'setName'
>;

const MAX = 1 << 20;

export function remoteRecords(connection: Connection): Questions {
  const leafOf = (cid: Cid) => one<LeafPlace>(connection, `/v1/records/${cid}`);
  return {
    byKind: (kind) => cids(connection, { kind }),
    linkers: (cid, kind) => cids(connection, { linksTo: cid, ...ofKind(kind) }),
    evidenceOf: (reference: Evidence, kind) => cids(connection, { evidence: reference, ...ofKind(kind) }),
    async derived(derivation: Digest) {
      for await (const cid of cids(connection, { derivation })) return cid;
      return null;
    },
    kindOf: async (cid) => (await leafOf(cid))?.kind ?? null,
    leafOf,
    since: (after) =>
      ask<Arrival>(connection, `/v1/records?${new URLSearchParams(after === undefined ? {} : { after })}`),
    name: (name) => one<NameHead>(connection, namePath(name)),
    names: (prefix = '') => ask<NameHead>(connection, `/v1/names?${new URLSearchParams({ prefix })}`),
    setName: (name, target, previous) => setName(connection, name, { target, previous }),
  };
}

const ofKind = (kind: string | undefined) => (kind === undefined ? {} : { kind });

const namePath = (name: string): string => `/v1/names/${name.split('/').map(encodeURIComponent).join('/')}`;

async function* ask<T>(connection: Connection, path: string): AsyncGenerator<T> {
  const { body } = await connection.call({ path });
  for await (const line of lines(body)) yield decode(line) as T;
}

async function* cids(connection: Connection, question: Record<string, string>): AsyncGenerator<Cid> {
  const answers = ask<{ cid: Cid }>(connection, `/v1/records?${new URLSearchParams(question)}`);
  for await (const { cid } of answers) yield cid;
}

/** null where there is none. */
async function one<T>(connection: Connection, path: string): Promise<T | null> {
  try {
    const { body } = await connection.call({ path });
    return JSON.parse(await textOf(body, MAX)) as T;
  } catch (error) {
    if (isFault(error, 'E_NOT_FOUND')) return null;
    throw error;
  }
}

async function setName(
  connection: Connection,
  name: string,
  move: { readonly target: Cid | null; readonly previous: Cid | null | undefined },
): Promise<NameHead> {
  const { body } = await connection.call({
    method: 'PUT',
    path: namePath(name),
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(move)),
  });
  return JSON.parse(await textOf(body, MAX)) as NameHead;
}
