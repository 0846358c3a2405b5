/**
 * `GET /v1/events`: new records as server-sent events.
 * With `after` (or Last-Event-ID): every record after that cursor, then each as it comes (`event: record`). Without:
 * only that there is something new (`event: news`), for those who look themselves.
 * Does not promise: one event a record without `after`; what comes while an event is sent is told by one more.
 */
import { Readable } from 'node:stream';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { encode, type Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { counted } from '../../store/format/words.ts';
import type { Store } from '../../store/store.ts';
import type { Parts } from './parts.ts';

/** A comment this often keeps the connection from looking dead (milliseconds). */
const BEAT = 15_000;
const query = z.strictObject({ after: z.string().max(256).optional() });

export const events: FastifyPluginAsyncZod<Parts> = async (app, { store, limits }) => {
  const open = new Set<AbortController>();
  app.addHook('preClose', async () => {
    for (const listener of open) listener.abort();
  });
  app.get(
    '/v1/events',
    { schema: { querystring: query, summary: 'New records, as server-sent events' } },
    async (request, reply) => {
      if (open.size >= limits.listeners)
        fail('E_OVERLOADED', { where: 'events', found: counted(open.size, 'listener') });
      const header = request.headers['last-event-id'];
      const after = request.query.after ?? (typeof header === 'string' ? header : undefined);
      const listener = new AbortController();
      open.add(listener);
      reply.raw.once('close', () => {
        open.delete(listener);
        listener.abort();
      });
      const { signal } = listener;
      const told = after === undefined ? news(store, signal) : arrivals(store, after, signal);
      return reply
        .type('text/event-stream')
        .header('cache-control', 'no-store')
        .send(Readable.from(told, { objectMode: false }));
    },
  );
};

async function* news(store: Store, signal: AbortSignal): AsyncGenerator<string> {
  for await (const beat of wakes(store, signal))
    yield beat === 'beat' ? ':\n\n' : 'event: news\ndata: {}\n\n';
}

async function* arrivals(store: Store, after: string, signal: AbortSignal): AsyncGenerator<string> {
  let cursor = after;
  for await (const beat of wakes(store, signal)) {
    if (beat === 'beat') yield ':\n\n';
    for await (const arrival of store.since(cursor)) {
      cursor = arrival.cursor;
      const data = Buffer.from(encode({ ...arrival } as Value)).toString();
      yield `event: record\nid: ${cursor}\ndata: ${data}\n\n`;
    }
  }
}

/** `news` at once and after each batch of records, `beat` when nothing came for a while; ends with the signal. */
async function* wakes(store: Store, signal: AbortSignal): AsyncGenerator<'news' | 'beat'> {
  let fresh = true;
  let wake: () => void = () => undefined;
  const stop = store.onRecords(() => {
    fresh = true;
    wake();
  });
  // Whoever waits here is woken by the end, too: a stream that nobody reads must not stay.
  signal.addEventListener('abort', () => wake(), { once: true });
  try {
    while (!signal.aborted) {
      if (fresh) {
        fresh = false;
        yield 'news';
        continue;
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, BEAT);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      if (!fresh && !signal.aborted) yield 'beat';
    }
  } finally {
    stop();
  }
}
