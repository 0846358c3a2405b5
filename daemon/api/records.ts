/**
 * Records: `GET /v1/records` (one question a request, NDJSON), `GET /v1/records/{cid}` (where it stands), `POST
 * /v1/records` (canonical dag-json in, a leaf out).
 */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  type Cid,
  type Digest,
  type Evidence,
  isDigest,
  isEvidence,
  parseCid,
} from '../../store/format/cid.ts';
import { decode } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import type { Parts } from './parts.ts';
import { cidParams, cidText, flag, kindText, noQuery } from './query.ts';
import { body, NDJSON, ndjson } from './streams.ts';

export const DAG_JSON = 'application/vnd.ipld.dag-json';

const question = z.strictObject({
  after: z.string().max(256).optional().describe('arrivals after this cursor; alone or left out: all'),
  kind: kindText().optional().describe('of this kind; alone, or with linksTo or evidence'),
  linksTo: cidText().optional(),
  evidence: z.string().optional().describe('sha256:<64 hex>'),
  derivation: z.string().optional().describe('<64 hex>'),
});
type Question = z.infer<typeof question>;

const place = z.strictObject({
  kind: z.string(),
  cid: z.string(),
  at: z.string(),
  log: z.string(),
  index: z.int(),
});

export const records: FastifyPluginAsyncZod<Parts> = async (app, { store, limits, mayWrite }) => {
  app.addContentTypeParser(DAG_JSON, { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));

  app.get(
    '/v1/records',
    { schema: { querystring: question, summary: 'Records by arrival, kind, link, evidence or derivation' } },
    async (request, reply) => reply.type(NDJSON).send(await body(ndjson(answer(store, request.query)))),
  );

  app.get(
    '/v1/records/:cid',
    {
      schema: {
        params: cidParams,
        querystring: noQuery,
        response: { 200: place },
        summary: 'The leaf of a record',
      },
    },
    async ({ params }) => {
      const cid = parseCid(params.cid);
      return (await store.leafOf(cid)) ?? fail('E_NOT_FOUND', { where: cid, wanted: 'a record' });
    },
  );

  app.post(
    '/v1/records',
    {
      onRequest: mayWrite,
      bodyLimit: limits.recordBytes,
      schema: {
        querystring: z.strictObject({ imported: flag().optional() }),
        response: { 200: z.strictObject({ ...place.shape, added: z.boolean() }) },
        summary: 'Gives a record its leaf',
      },
    },
    async (request) => {
      if (!Buffer.isBuffer(request.body)) fail('E_REQUEST', { where: 'content-type', wanted: DAG_JSON });
      return store.record(decode(request.body), { imported: request.query.imported === 'true' });
    },
  );
};

function answer(
  store: Store,
  { after, kind, linksTo, evidence, derivation }: Question,
): AsyncIterable<object> {
  const asked = [after, linksTo, evidence, derivation].filter((field) => field !== undefined).length;
  if (asked > 1 || (kind !== undefined && (after !== undefined || derivation !== undefined)))
    fail('E_REQUEST', { where: 'querystring', wanted: 'one question', found: 'several' });
  if (linksTo !== undefined) return named(store.linkers(parseCid(linksTo), kind));
  if (evidence !== undefined) return named(store.evidenceOf(evidenceOf(evidence), kind));
  if (derivation !== undefined) return ofDerivation(store, derivation);
  return kind === undefined ? store.since(after) : named(store.byKind(kind));
}

async function* named(cids: AsyncIterable<Cid>): AsyncGenerator<{ readonly cid: Cid }> {
  for await (const cid of cids) yield { cid };
}

async function* ofDerivation(store: Store, text: string): AsyncGenerator<{ readonly cid: Cid }> {
  if (!isDigest(text))
    fail('E_CID', { where: 'derivation', wanted: '<64 hex>', found: JSON.stringify(text) });
  const cid = await store.derived(text as Digest);
  if (cid !== null) yield { cid };
}

function evidenceOf(text: string): Evidence {
  return isEvidence(text)
    ? text
    : fail('E_CID', { where: 'evidence', wanted: 'sha256:<64 hex>', found: JSON.stringify(text) });
}
