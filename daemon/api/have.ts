/** `POST /v1/have`: which of these blocks are not here. One answer for up to a cap of CIDs. */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Cid } from '../../store/format/cid.ts';
import type { Parts } from './parts.ts';
import { cidList, cidText, noQuery } from './query.ts';

export const have: FastifyPluginAsyncZod<Parts> = async (app, { store, limits }) => {
  const body = z.strictObject({ cids: z.array(cidText()) });
  const response = { 200: z.strictObject({ missing: z.array(z.string()) }) };
  app.post(
    '/v1/have',
    { schema: { body, querystring: noQuery, response, summary: 'CIDs asked for that are not here' } },
    async (request) => {
      const missing: Cid[] = [];
      for (const cid of cidList(request.body.cids, limits.cids))
        if (!(await store.has(cid))) missing.push(cid);
      return { missing };
    },
  );
};
