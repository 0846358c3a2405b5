/**
 * The scripted model server: Anthropic Messages over a unix socket or a loopback port, played from data.
 * Promises: stateless and deterministic (see play.ts); JSON, or server-sent events where the request asks for them.
 * Does not promise: any other path of that API.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fail } from '../../store/format/errors.ts';
import type { Behaviour } from './behaviour.ts';
import { type Failure, play, type Reply } from './play.ts';

/** The name that a study gives the scripted model. */
export const SCRIPTED_MODEL = 'scripted-1';

export interface ModelConfig {
  readonly behaviours: readonly Behaviour[];
  readonly listen: { readonly socket: string } | { readonly port: number };
  /** Where given, a request must carry it as x-api-key. */
  readonly key?: string;
}

export interface ModelServer {
  /** `http://127.0.0.1:<port>` or `unix:<path>`: what a meter takes as its upstream. */
  readonly url: string;
  /** Requests answered so far. */
  requests(): number;
  close(): Promise<void>;
}

const MAX_BODY = 64 << 20;

/** Starts the server. Throws E_CONFIG where the address cannot be had. */
export async function openModel({ behaviours, listen, key }: ModelConfig): Promise<ModelServer> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    answer({ behaviours, key }, request, response).catch(() => response.destroy());
  });
  await start(server, listen);
  const url =
    'socket' in listen
      ? `unix:${listen.socket}`
      : `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests: () => count,
    async close() {
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await ended;
    },
  };
}

async function start(server: Server, at: ModelConfig['listen']): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('listening', resolve);
    if ('socket' in at) server.listen(at.socket);
    else server.listen(at.port, '127.0.0.1');
  }).catch((cause: unknown) => fail('E_CONFIG', { where: 'model server', wanted: 'a free address', cause }));
}

async function answer(
  { behaviours, key }: { behaviours: readonly Behaviour[]; key: string | undefined },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    if (size <= MAX_BODY) parts.push(part as Buffer);
  }
  if (size > MAX_BODY) return sendError(response, 413, 'request_too_large', 'request too large');
  if (key !== undefined && request.headers['x-api-key'] !== key) {
    return sendError(response, 401, 'authentication_error', 'invalid x-api-key');
  }
  if (request.method !== 'POST' || request.url?.split('?', 1)[0] !== '/v1/messages') {
    return sendError(response, 404, 'not_found_error', 'no such path');
  }
  const played = play(behaviours, Buffer.concat(parts));
  if (played.kind === 'hang') return;
  if (played.kind === 'cut') return cutOff(response, played.at);
  if (played.kind === 'error') return sendFailure(response, played);
  if (played.stream) sendEvents(response, played.message);
  else sendJson(response, 200, played.message);
}

function cutOff(response: ServerResponse, at: 'before' | 'within'): void {
  if (at === 'before') {
    response.destroy();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
  response.write('{"type":"message",', () => response.destroy());
}

function sendFailure(response: ServerResponse, { status, type, message }: Failure): void {
  sendError(response, status, type, message);
}

function sendError(response: ServerResponse, status: number, type: string, message: string): void {
  sendJson(response, status, { type: 'error', error: { type, message } });
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value), 'utf8');
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

/** The same message as events, one delta a block. */
function sendEvents(response: ServerResponse, message: Reply['message']): void {
  const { content, stop_reason, stop_sequence, usage } = message;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const event = (type: string, data: Record<string, unknown>) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const started = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  event('message_start', { message: started });
  for (const [index, block] of content.entries()) {
    const text = block.type === 'text';
    event('content_block_start', {
      index,
      content_block: text ? { ...block, text: '' } : { ...block, input: {} },
    });
    const delta = text
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    event('content_block_delta', { index, delta });
    event('content_block_stop', { index });
  }
  event('message_delta', {
    delta: { stop_reason, stop_sequence },
    usage: { output_tokens: usage.output_tokens },
  });
  event('message_stop', {});
  response.end();
}
