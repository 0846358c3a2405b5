/** `GET /v1/pending` and `GET /v1/why/{cid}`: what waits, and why something does not run. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { parseCid } from '../../store/format/cid.ts';
import type { Parts } from './parts.ts';
import { cidParams, noQuery } from './query.ts';
import { body, NDJSON, ndjson } from './streams.ts';

/** Absent where the server was given no way to know. */
export const pending: FastifyPluginAsyncZod<Parts> = async (app, parts) => {
  const { pending: ask } = parts;
  if (ask !== undefined)
    app.get(
      '/v1/pending',
      { schema: { querystring: noQuery, summary: 'Plans that wait for a run' } },
      async (_request, reply) => reply.type(NDJSON).send(await body(ndjson(each(await ask())))),
    );
};

export const why: FastifyPluginAsyncZod<Parts> = async (app, parts) => {
  const { why: ask } = parts;
  if (ask !== undefined)
    app.get(
      '/v1/why/:cid',
      { schema: { params: cidParams, querystring: noQuery, summary: 'Why it runs, or does not' } },
      async ({ params }, reply) =>
        reply.type(NDJSON).send(await body(ndjson(each(await ask(parseCid(params.cid)))))),
    );
};

async function* each(values: readonly unknown[]): AsyncGenerator<object> {
  for (const value of values) yield value as object;
}
