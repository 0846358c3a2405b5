/**
 * What a mirror takes from: logs, names, and any blocks by name, over the API of another store.
 * Promises: nothing about what comes: whoever reads checks every byte.
 */
import type { Cid } from '../../store/format/cid.ts';
import type { Logs, NameHead } from '../../store/store.ts';
import { remoteLogs } from '../api/client-logs.ts';
import { remoteRecords } from '../api/client-records.ts';
import { bytesOf, openConnection } from '../api/http.ts';

export interface Source {
  readonly url: string;
  readonly logs: Pick<Logs, 'list' | 'leafBytes'>;
  /** The newest signed checkpoint of a family log. */
  checkpoint(family: Cid): Promise<Uint8Array>;
  names(): AsyncIterable<NameHead>;
  /** A CAR of these blocks. Throws E_NOT_FOUND where one is not there. */
  blocks(cids: readonly Cid[]): Promise<AsyncIterable<Uint8Array>>;
  close(): void;
}

/** Longest checkpoint that is read (bytes). */
const MAX_CHECKPOINT = 1 << 20;

/** Opens nothing yet. Throws E_CONFIG for a URL of another form. */
export function openSource(url: string): Source {
  const connection = openConnection(url);
  return {
    url: connection.url,
    logs: remoteLogs(connection),
    async checkpoint(family) {
      const { body } = await connection.call({ path: `/log/${family}/checkpoint` });
      return bytesOf(body, MAX_CHECKPOINT);
    },
    names: () => remoteRecords(connection).names(),
    async blocks(cids) {
      const { body } = await connection.call({
        method: 'POST',
        path: '/v1/export',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ cids })),
      });
      return body;
    },
    close: () => connection.close(),
  };
}
