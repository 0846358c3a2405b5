/**
 * `GET /v1/closure/{cid}` (what a mirror needs, as NDJSON) and `POST /v1/export` (a CAR of the blocks it lacks).
 * Promises: evidence references are not followed, nor is an earlier release within a closure.
 */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { exportBlocks } from '../../store/car.ts';
import { type Cid, parseCid } from '../../store/format/cid.ts';
import { closure } from '../../store/format/closure.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { CAR } from './ipfs-request.ts';
import type { Parts } from './parts.ts';
import { cidList, cidParams, cidText, noQuery } from './query.ts';
import { earlierRelease } from './release.ts';
import { body, NDJSON, ndjson } from './streams.ts';

export const closures: FastifyPluginAsyncZod<Parts> = async (app, { store, limits }) => {
  app.get(
    '/v1/closure/:cid',
    { schema: { params: cidParams, querystring: noQuery, summary: 'CID and size of every block it needs' } },
    async (request, reply) =>
      reply.type(NDJSON).send(await body(ndjson(members(store, parseCid(request.params.cid))))),
  );
  const asked = z.strictObject({ cids: z.array(cidText()) });
  app.post(
    '/v1/export',
    { schema: { body: asked, querystring: noQuery, summary: 'These blocks as a CAR without roots' } },
    async (request, reply) => {
      const cids = cidList(request.body.cids, limits.cids);
      for (const cid of cids) if (!(await store.has(cid))) fail('E_NOT_FOUND', { where: cid });
      return reply
        .type(`${CAR}; version=1; order=unk; dups=y`)
        .send(await body(exportBlocks(store, [], cids)));
    },
  );
};

async function* members(store: Store, root: Cid) {
  const stop = earlierRelease([root]);
  for await (const { cid, bytes } of closure(store, [root], { stop }))
    yield { cid, size: bytes?.length ?? (await store.size(cid)) };
}
