/**
 * Blocks that come in: `POST /v1/blocks` (one, or a CAR of some), and `POST /v1/import` (a closure as a CAR).
 * Promises: a block under another's name is refused and not kept; an import answers as a whole: the closure of its
 * roots is here, or a fault that names the first bad block.
 * Does not promise: to take back sound blocks that came before a bad one. They are no records, and going on needs them.
 */
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { importCar, readCar, type Section } from '../../store/car.ts';
import { parseCid } from '../../store/format/cid.ts';
import { AshlarError, isFault } from '../../store/format/errors.ts';
import type { Store, Stored } from '../../store/store.ts';
import type { Parts } from './parts.ts';
import { cidText, noQuery } from './query.ts';
import { limited } from './streams.ts';

const stored = z.strictObject({ cid: z.string(), size: z.int(), added: z.boolean() });

export const blocks: FastifyPluginAsyncZod<Parts> = async (app, { store, limits, mayWrite }) => {
  // These routes read the body themselves, whatever it is called.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  const upload = (payload: unknown) => limited(payload as AsyncIterable<Uint8Array>, limits.uploadBytes);

  const one = z.strictObject({ codec: z.enum(['raw', 'dag-json']).optional(), expect: cidText().optional() });
  app.post(
    '/v1/blocks',
    {
      onRequest: mayWrite,
      schema: { querystring: one, response: { 200: stored }, summary: 'Stores one block' },
    },
    ({ body, query: { codec, expect } }) =>
      store.putStream(upload(body), {
        ...(codec === undefined ? {} : { codec }),
        ...(expect === undefined ? {} : { expect: parseCid(expect) }),
      }),
  );

  app.post(
    '/v1/blocks/batch',
    {
      onRequest: mayWrite,
      schema: {
        querystring: noQuery,
        response: { 200: z.array(stored) },
        summary: 'Stores the blocks of a CAR',
      },
    },
    ({ body }) => storeSections(store, upload(body)),
  );

  const imported = z.strictObject({ roots: z.array(z.string()), blocks: z.int(), added: z.int() });
  app.post(
    '/v1/import',
    {
      onRequest: mayWrite,
      schema: {
        querystring: noQuery,
        response: { 200: imported },
        summary: 'Stores the closure of a CAR’s roots',
      },
    },
    async ({ body }) => {
      const { roots, blocks, added } = await importCar(store, upload(body));
      return { roots: [...roots], blocks, added };
    },
  );
};

const SMALL = 1 << 20;

async function storeSections(store: Store, source: AsyncIterable<Uint8Array>): Promise<Stored[]> {
  const car = await readCar(source);
  const answers: Stored[] = [];
  let run: { bytes: Uint8Array; expect: Section['cid'] }[] = [];
  const flush = async () => {
    answers.push(...(await store.putMany(run)));
    run = [];
  };
  for await (const { cid, length, bytes } of car.sections) {
    if (length < SMALL) run.push({ bytes: await whole(bytes), expect: cid });
    else {
      await flush();
      answers.push(await naming(cid, store.putStream(bytes, { expect: cid })));
    }
    if (run.length >= 1024) await flush();
  }
  await flush();
  return answers;
}

async function naming<T>(cid: Section['cid'], work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isFault(error, 'E_DIGEST')) throw error;
    throw new AshlarError('E_DIGEST', { ...error.data, where: cid });
  }
}

async function whole(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}
