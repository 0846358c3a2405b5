/** Names: `GET /v1/names` (NDJSON), `GET /v1/names/{name}`, and `PUT` of a head, with compare-and-swap where asked for. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { parseCid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Parts } from './parts.ts';
import { cidText, noQuery } from './query.ts';
import { body, NDJSON, ndjson } from './streams.ts';

const head = z.strictObject({ name: z.string(), target: z.string().nullable(), record: z.string() });
const params = z.strictObject({ '*': z.string().min(1).max(1024) });
const move = z.strictObject({
  target: cidText().nullable(),
  previous: cidText()
    .nullable()
    .optional()
    .describe('the record seen as the head; null: none; left out: any'),
});

export const names: FastifyPluginAsyncZod<Parts> = async (app, { store, mayWrite }) => {
  app.get(
    '/v1/names',
    {
      schema: {
        querystring: z.strictObject({ prefix: z.string().max(1024).optional() }),
        summary: 'Heads of names',
      },
    },
    async (request, reply) =>
      reply.type(NDJSON).send(await body(ndjson(store.names(request.query.prefix ?? '')))),
  );
  app.get(
    '/v1/names/*',
    { schema: { params, querystring: noQuery, response: { 200: head }, summary: 'The head of a name' } },
    async (request) => {
      const name = request.params['*'];
      return (await store.name(name)) ?? fail('E_NOT_FOUND', { where: `name ${name}` });
    },
  );
  app.put(
    '/v1/names/*',
    {
      onRequest: mayWrite,
      schema: { params, querystring: noQuery, body: move, response: { 200: head }, summary: 'Points a name' },
    },
    async ({ params, body: { target, previous } }) =>
      store.setName(
        params['*'],
        target === null ? null : parseCid(target),
        previous === undefined || previous === null ? previous : parseCid(previous),
      ),
  );
};
