/**
 * One proxy for one arm: the only thing an agent can reach, and the only holder of the model key.
 * Promises: a reservation stands before anything is forwarded and a booking after; a request that the caps do not
 * allow at its worst case never leaves; request and response bytes go to `emit` exactly as they went over the wire,
 * without headers, and never with the key in them; after a fault of ours everything is refused.
 * Does not promise: what an upstream bills, or that an agent's connection gets an answer.
 * Memory: one request body, one JSON response up to `maxResponseBytes`, else a few chunks.
 */
import { chmod } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Cap } from '../../rules/cost.ts';
import type { Cid } from '../../store/format/cid.ts';
import { type AshlarError, fail } from '../../store/format/errors.ts';
import type { Desk, MeterConfig } from './desk.ts';
import { exchange } from './exchange.ts';
import { answerRecall, RECALL_PATH } from './recall.ts';
import { openUpstream } from './upstream.ts';
import { apiError, badRequest, notFound, refuse } from './wire.ts';

export type { Booking, MeterConfig, Recall, Reservation } from './desk.ts';

/** What the meter can say about its run at any moment. */
export interface MeterState {
  /** Requests that were let through. */
  readonly sent: number;
  /** Of these, the booked ones. */
  readonly exchanges: number;
  /** Which cap refused a request first: `run` is the agent's own limit, the others make the run `capped`. */
  readonly refusedBy?: Cap;
  /** The first fault of ours; from then on everything is refused. */
  readonly fault?: AshlarError;
}

export interface Meter {
  /** Where the agent's side is: `http://127.0.0.1:<port>` or `unix:<path>`. */
  readonly url: string;
  state(): MeterState;
  /** The first message request that went out, for parity and certification. */
  firstRequest(): Cid | undefined;
  /** Refuses new requests, breaks off what is under way, and returns when every reservation is booked. */
  close(): Promise<void>;
}

const MIB = 1 << 20;

/** Starts listening. Throws E_CONFIG for an unusable configuration, E_METER where the address cannot be had. */
export async function openMeter(config: MeterConfig): Promise<Meter> {
  const desk: Desk = {
    ...config,
    upstream: openUpstream(config.upstream),
    key: config.upstream.key,
    maxRequestBytes: config.maxRequestBytes ?? 32 * MIB,
    maxResponseBytes: config.maxResponseBytes ?? 32 * MIB,
    seen: { sent: 0, exchanges: 0 },
  };
  const running = new Set<Promise<void>>();
  let closed = false;
  const server = createServer((request, response) => {
    if (closed) return refuse(response, apiError('closed'));
    const work = serve(desk, request, response).finally(() => running.delete(work));
    running.add(work);
  });
  // A tunnel or another protocol would be a way around the accounts.
  server.on('connect', (_request, socket) =>
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'),
  );
  server.on('upgrade', (_request, socket) => socket.destroy());
  const url = await listen(server, config.listen);
  return {
    url,
    state: () => ({ ...desk.seen }),
    firstRequest: () => desk.seen.first,
    async close() {
      closed = true;
      desk.upstream.abort();
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all(running);
      server.closeAllConnections();
      await ended;
    },
  };
}

async function listen(server: Server, at: MeterConfig['listen']): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', resolve);
    if ('socket' in at) server.listen(at.socket);
    else server.listen(at.port, '127.0.0.1');
  }).catch((cause: unknown) => {
    fail('E_METER', {
      where: 'socket' in at ? at.socket : `port ${at.port}`,
      wanted: 'a free address',
      cause,
    });
  });
  if (!('socket' in at)) return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await chmod(at.socket, at.mode ?? 0o600);
  return `unix:${at.socket}`;
}

/** Never rejects: what goes wrong is answered, and noted where it is ours. */
async function serve(desk: Desk, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => {});
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  if (desk.seen.fault !== undefined) return refuse(response, apiError('not available'));
  if (request.method !== 'POST') return refuse(response, { ...notFound, status: 405 });
  if (path === RECALL_PATH && desk.recall !== undefined) return answerRecall(desk, request, response);
  // The absolute form of a request names another host: it fails this test as well.
  if (!desk.upstream.allows(path)) return refuse(response, notFound);
  if (request.headers['content-encoding'] !== undefined)
    return refuse(response, badRequest('compressed body'));
  return exchange(desk, path, request, response);
}
