/**
 * Logs for those who know an origin: list, checkpoints of a size, leaves, roots, proofs, and taking a copy.
 * Promises: family logs to everyone; the store log to the store's owner on its own socket only.
 */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { fromBase64, toBase64 } from '../../store/format/base64.ts';
import { parseCid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Range } from '../../store/format/reader.ts';
import { parseTilePath } from '../../store/format/tile.ts';
import type { LogInfo } from '../../store/store.ts';
import type { Parts } from './parts.ts';
import { cidText, noQuery, wholeNumber } from './query.ts';
import { body, limited } from './streams.ts';

const origin = z.string().min(1).max(512);
const info = z.strictObject({
  origin: z.string(),
  family: z.string().nullable(),
  size: z.int(),
  writable: z.boolean(),
  vkey: z.string(),
});
const hashes = z.strictObject({ hashes: z.array(z.string()) });

/** Leaves of one log in memory, at most (bytes). */
const MAX_COPY = 1 << 30;

export const logs: FastifyPluginAsyncZod<Parts> = async (app, parts) => {
  const { store } = parts;
  const shown = async (): Promise<LogInfo[]> =>
    (await store.logs.list()).filter(({ family }) => parts.owner || family !== null);
  const mustShow = async (name: string): Promise<string> => {
    if ((await shown()).some((log) => log.origin === name)) return name;
    return fail('E_NOT_FOUND', { where: `log ${name}` });
  };

  app.get(
    '/v1/logs',
    { schema: { querystring: noQuery, response: { 200: z.array(info) }, summary: 'The logs' } },
    shown,
  );
  app.get(
    '/v1/logs/checkpoint',
    {
      schema: {
        querystring: z.strictObject({ origin, size: wholeNumber().optional() }),
        summary: 'A signed checkpoint over at least so many leaves',
      },
    },
    async ({ query }, reply) => {
      const size = query.size === undefined ? undefined : Number(query.size);
      const note = await store.logs.checkpoint(await mustShow(query.origin), size);
      return reply
        .type('text/plain; charset=utf-8')
        .header('cache-control', 'no-cache')
        .send(Buffer.from(note));
    },
  );
  app.get(
    '/v1/logs/leaves',
    {
      schema: {
        querystring: z.strictObject({
          origin,
          start: wholeNumber().optional(),
          end: wholeNumber().optional(),
        }),
        summary: 'Leaves, one a line',
      },
    },
    async ({ query: { origin, start, end } }, reply) => {
      const lines = store.logs.leafBytes(await mustShow(origin), rangeOf(start, end));
      return reply.type('application/x-ndjson').send(await body(lines));
    },
  );
  app.get(
    '/v1/logs/tile',
    { schema: { querystring: z.strictObject({ origin, path: z.string().max(256) }), summary: 'A tile' } },
    async ({ query }, reply) => {
      const bytes = await store.logs.tile(await mustShow(query.origin), parseTilePath(query.path));
      return reply.type('application/octet-stream').send(Buffer.from(bytes));
    },
  );
  await proofs(app, { ...parts, mustShow });
  await copies(app, parts);
};

const rangeOf = (start: string | undefined, end: string | undefined): Range => ({
  start: Number(start ?? 0),
  end: Number(end ?? Number.MAX_SAFE_INTEGER),
});

const proofs: FastifyPluginAsyncZod<Parts & { mustShow(origin: string): Promise<string> }> = async (
  app,
  { store, mustShow },
) => {
  const response = { 200: hashes };
  const spelled = (list: readonly Uint8Array[]) => ({ hashes: list.map(toBase64) });
  app.get(
    '/v1/logs/root',
    {
      schema: {
        querystring: z.strictObject({ origin, size: wholeNumber() }),
        response,
        summary: 'A root hash',
      },
    },
    async ({ query: { origin, size } }) =>
      spelled([await store.logs.root(await mustShow(origin), Number(size))]),
  );
  app.get(
    '/v1/logs/inclusion',
    {
      schema: {
        querystring: z.strictObject({ origin, index: wholeNumber(), size: wholeNumber() }),
        response,
        summary: 'An inclusion proof',
      },
    },
    async ({ query: { origin, index, size } }) =>
      spelled(await store.logs.inclusion(await mustShow(origin), Number(index), Number(size))),
  );
  app.get(
    '/v1/logs/consistency',
    {
      schema: {
        querystring: z.strictObject({ origin, from: wholeNumber(), to: wholeNumber() }),
        response,
        summary: 'A consistency proof',
      },
    },
    async ({ query: { origin, from, to } }) =>
      spelled(await store.logs.consistency(await mustShow(origin), Number(from), Number(to))),
  );
};

/** `POST /v1/logs`: the copy's leaves are the body. */
const copies: FastifyPluginAsyncZod<Parts> = async (app, { store, limits, mayWrite }) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  const querystring = z.strictObject({
    origin,
    family: cidText(),
    vkey: z.string().max(1024),
    checkpoint: z.string().max(65_536).describe('base64 of the signed note'),
  });
  app.post(
    '/v1/logs',
    {
      onRequest: mayWrite,
      schema: { querystring, response: { 200: info }, summary: 'Keeps a log of another store' },
    },
    async ({ query: { origin, family, vkey, checkpoint }, body: payload }) => {
      const limit = Math.min(limits.uploadBytes, MAX_COPY);
      const pieces: Uint8Array[] = [];
      for await (const piece of limited(payload as AsyncIterable<Uint8Array>, limit)) pieces.push(piece);
      const note = fromBase64(checkpoint) ?? fail('E_NOTE', { where: 'checkpoint', wanted: 'base64' });
      const leaves = Buffer.concat(pieces);
      return store.logs.adopt({ origin, family: parseCid(family), vkey, leaves, checkpoint: note });
    },
  );
};
