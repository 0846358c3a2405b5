/**
 * Family logs as C2SP tlog-tiles: `/log/{first study cid}/checkpoint`, `/log/{first study cid}/tile/...`.
 * Promises: only durable, signed checkpoints; the store log is not served here.
 */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { parseCid } from '../../store/format/cid.ts';
import { fail, isFault } from '../../store/format/errors.ts';
import { parseTilePath } from '../../store/format/tile.ts';
import type { LogInfo, Store } from '../../store/store.ts';
import type { Parts } from './parts.ts';
import { cidText, noQuery } from './query.ts';

async function ofFamily(store: Store, text: string): Promise<LogInfo> {
  const family = parseCid(text);
  return (await store.logs.ofFamily(family)) ?? fail('E_NOT_FOUND', { where: `log of ${family}` });
}

/** Over all leaves where the key is here, else the last one that was signed. Throws E_LOG_KEY where none was. */
export async function signed(store: Store, origin: string): Promise<Uint8Array> {
  try {
    return await store.logs.checkpoint(origin);
  } catch (error) {
    if (!isFault(error, 'E_LOG_KEY')) throw error;
    return store.logs.checkpoint(origin, 1);
  }
}

export const log: FastifyPluginAsyncZod<Parts> = async (app, { store }) => {
  app.get(
    '/log/:family/checkpoint',
    {
      schema: {
        params: z.strictObject({ family: cidText() }),
        querystring: noQuery,
        summary: 'The signed checkpoint of a family log',
      },
    },
    async ({ params }, reply) => {
      const { origin } = await ofFamily(store, params.family);
      const note = await signed(store, origin);
      return reply
        .type('text/plain; charset=utf-8')
        .header('cache-control', 'no-cache')
        .send(Buffer.from(note));
    },
  );
  app.get(
    '/log/:family/tile/*',
    {
      schema: {
        params: z.strictObject({ family: cidText(), '*': z.string() }),
        querystring: noQuery,
        summary: 'A tile of hashes or a bundle of entries',
      },
    },
    async ({ params }, reply) => {
      const tile = parseTilePath(`tile/${params['*']}`);
      const { origin } = await ofFamily(store, params.family);
      const bytes = await store.logs.tile(origin, tile);
      return reply
        .type('application/octet-stream')
        .header('cache-control', 'public, max-age=29030400, immutable')
        .send(Buffer.from(bytes));
    },
  );
};
