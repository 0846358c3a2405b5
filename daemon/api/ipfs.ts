/**
 * `GET` and `HEAD /ipfs/{cid}`: the IPFS Trustless Gateway (2026-03), non-recursive.
 * Promises: every byte that leaves was re-hashed; a damaged block never completes; a missing root is 404 and is looked
 * for nowhere else.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { counted } from '../../store/format/words.ts';
import { carHeader } from '../../store/frame.ts';
import type { Store } from '../../store/store.ts';
import { gatewayCar } from './ipfs-car.ts';
import {
  byteRange,
  CAR,
  type CarRequest,
  type GatewayQuery,
  type GatewayRequest,
  gatewayCid,
  gatewayQuery,
  gatewayRequest,
  PROBE,
  RAW,
} from './ipfs-request.ts';
import type { Parts } from './parts.ts';
import { body } from './streams.ts';

const params = z.strictObject({ cid: z.string() });

export const ipfs: FastifyPluginAsyncZod<Parts> = async (app, { store }) => {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/ipfs/:cid',
    exposeHeadRoute: false,
    schema: { params, querystring: gatewayQuery, summary: 'A block, or a CAR of what it links to' },
    handler: async (request, reply) => {
      const wanted = gatewayRequest(request.query, request.headers.accept);
      const cid = gatewayCid(request.params.cid);
      if (cid === null) return probe(request, reply, wanted);
      await mustHold(store, cid, request);
      const tag = tagOf(cid, wanted);
      describe(reply, cid, wanted, tag, request.query);
      if (matches(request.headers['if-none-match'], tag)) return reply.code(304).send();
      return wanted.format === 'raw'
        ? sendRaw(store, cid, request, reply, tag)
        : sendCar(store, cid, wanted, request, reply);
    },
  });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/ipfs/:cid/*',
    exposeHeadRoute: false,
    schema: { hide: true },
    handler: async (request) =>
      fail('E_REQUEST', { where: request.url, wanted: '/ipfs/{cid}', found: 'a path below it' }),
  });
};

async function mustHold(store: Store, cid: Cid, { headers }: FastifyRequest): Promise<void> {
  if (await store.has(cid)) return;
  if (headers['cache-control']?.includes('only-if-cached') === true) fail('E_NOT_CACHED', { where: cid });
  fail('E_NOT_FOUND', { where: cid });
}

function probe({ method }: FastifyRequest, reply: FastifyReply, { format }: GatewayRequest) {
  const bytes = format === 'raw' ? new Uint8Array() : carHeader([]);
  reply.type(format === 'raw' ? RAW : `${CAR}; version=1; order=dfs; dups=n`);
  reply.header('cache-control', 'public, max-age=29030400, immutable');
  reply.header('etag', `"${PROBE}.${format}"`).header('content-length', bytes.length);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('content-disposition', `attachment; filename="${PROBE}.${format === 'raw' ? 'bin' : 'car'}"`);
  return method === 'HEAD' ? reply.send() : reply.send(Buffer.from(bytes));
}

/** Strong: the same request gives the same bytes. */
function tagOf(cid: Cid, wanted: GatewayRequest): string {
  if (wanted.format === 'raw') return `"${cid}.raw"`;
  return `"${cid}.car.dfs.${wanted.all ? 'all' : 'block'}.${wanted.dups ? 'y' : 'n'}"`;
}

function describe(reply: FastifyReply, cid: Cid, wanted: GatewayRequest, tag: string, query: GatewayQuery) {
  const extension = wanted.format === 'raw' ? 'bin' : 'car';
  const name = (query.filename ?? `${cid}.${extension}`).replace(/[^A-Za-z0-9._-]/g, '_');
  reply.header('etag', tag);
  reply.header('cache-control', 'public, max-age=29030400, immutable');
  reply.header('x-content-type-options', 'nosniff');
  reply.header('content-disposition', `attachment; filename="${name}"`);
  reply.header('x-ipfs-path', `/ipfs/${cid}`).header('x-ipfs-roots', cid);
  reply.header('vary', 'accept');
  if (wanted.negotiated) reply.header('content-location', `/ipfs/${cid}?${locationOf(wanted)}`);
}

const locationOf = (wanted: GatewayRequest): string =>
  wanted.format === 'raw' ? 'format=raw' : `format=car&car-order=dfs&car-dups=${wanted.dups ? 'y' : 'n'}`;

function matches(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((part) => {
    const plain = part.trim().replace(/^W\//, '');
    return plain === '*' || plain === tag;
  });
}

async function sendRaw(
  store: Store,
  cid: Cid,
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  tag: string,
) {
  const size = await store.size(cid);
  const condition = headers['if-range'];
  const range = condition === undefined || condition === tag ? byteRange(headers.range, size) : null;
  reply.type(RAW).header('accept-ranges', 'bytes');
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${size}`);
    return fail('E_RANGE', {
      where: cid,
      wanted: `a range within ${counted(size, 'byte')}`,
      found: headers.range ?? '',
    });
  }
  const { start, end } = range ?? { start: 0, end: size };
  if (range !== null) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`);
  reply.header('content-length', end - start);
  if (method === 'HEAD') return reply.send();
  return reply.send(await body(store.stream(cid, range ?? undefined)));
}

async function sendCar(
  store: Store,
  cid: Cid,
  wanted: CarRequest,
  { method }: FastifyRequest,
  reply: FastifyReply,
) {
  reply.type(`${CAR}; version=1; order=dfs; dups=${wanted.dups ? 'y' : 'n'}`).header('accept-ranges', 'none');
  if (method === 'HEAD') return reply.send();
  return reply.send(await body(gatewayCar(store, cid, wanted)));
}
