/**
 * Requests to an ashlar API, over a unix socket or http(s).
 * Promises: a refusal arrives as the fault that it is on the other side; an answer that was cut is a fault, never an end.
 * Does not promise: redirects, which are not followed, or proxies.
 */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AshlarError, ERRORS, type ErrorCode, fail, isFault } from '../../store/format/errors.ts';

export interface Call {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT';
  /** Path with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Milliseconds of silence after which the call fails; 0: none. */
  readonly patience?: number;
  /** Do not keep the process alive for the answer. */
  readonly background?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Throws E_REMOTE where it was cut. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Drops what was not read. */
  drop(): void;
}

export interface Connection {
  /** `http://host:port` or `unix:<path>`. */
  readonly url: string;
  /** Throws the fault that the other side answers with, or E_REMOTE. */
  call(call: Call): Promise<Answer>;
  close(): void;
}

const PATIENCE = 600_000;

interface Target {
  readonly url: string;
  readonly secure: boolean;
  readonly at: { readonly socketPath: string } | { readonly hostname: string; readonly port?: string };
  /** What stands before every path. */
  readonly base: string;
}

function targetOf(url: string): Target {
  if (url.startsWith('unix:'))
    return { url, secure: false, at: { socketPath: url.slice('unix:'.length) }, base: '' };
  const wanted = 'http://host:port, https://host or unix:<path>';
  if (!URL.canParse(url)) fail('E_CONFIG', { where: 'url', wanted, found: JSON.stringify(url) });
  const { protocol, hostname, port, pathname, username, search } = new URL(url);
  if ((protocol !== 'http:' && protocol !== 'https:') || username !== '' || search !== '')
    fail('E_CONFIG', { where: 'url', wanted, found: `${protocol}//${hostname}` });
  const at = port === '' ? { hostname } : { hostname, port };
  // `http://h/` is `http://h`, in requests and in what faults say.
  const plain = url.replace(/\/+$/, '');
  return { url: plain, secure: protocol === 'https:', at, base: pathname.replace(/\/+$/, '') };
}

/** Opens nothing yet. Throws E_CONFIG for a URL of another form. */
export function openConnection(url: string, token?: string): Connection {
  const target = targetOf(url);
  const { Agent } = target.secure ? https : http;
  const kept = new Agent({ keepAlive: true });
  // A body that is a stream cannot be sent twice, so it never meets a connection that the server just gave up.
  const fresh = new Agent({ keepAlive: false });
  const credentials: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const send = (call: Call) => {
    const streamed = call.body !== undefined && !(call.body instanceof Uint8Array);
    return once(target, { ...call, headers: { ...credentials, ...call.headers } }, streamed ? fresh : kept);
  };
  return {
    url: target.url,
    async call(call) {
      const answer = await send(call).catch((error: unknown) => {
        // Every call is idempotent by content: one that met a dying idle connection is sent again.
        if (error instanceof Stale) return send(call);
        throw error;
      });
      if (answer.status < 400 && answer.status !== 304) return answer;
      throw await refusal(answer, call);
    },
    close() {
      kept.destroy();
      fresh.destroy();
    },
  };
}

/** The connection was an old one and ended before an answer began. */
class Stale extends Error {}

function once(target: Target, call: Call, agent: http.Agent): Promise<Answer> {
  const { request: open } = target.secure ? https : http;
  const { method = 'GET', path, headers = {}, body, patience = PATIENCE } = call;
  return new Promise((resolve, reject) => {
    const length = body instanceof Uint8Array ? { 'content-length': String(body.length) } : {};
    const request = open({
      ...target.at,
      method,
      path: target.base + path,
      headers: { ...headers, ...length },
      agent,
    });
    let answered = false;
    const failed = (cause: unknown) => {
      const resendable = request.reusedSocket && (body === undefined || body instanceof Uint8Array);
      if (!answered) reject(resendable ? new Stale() : remote(target.url, path, cause));
    };
    request.setTimeout(patience, () => request.destroy(new Error(`silence for ${patience} ms`)));
    request.once('error', failed);
    request.once('response', (response) => {
      answered = true;
      resolve(answerOf(target.url, path, response));
    });
    if (call.background === true) request.once('socket', (socket) => socket.unref());
    if (body === undefined || body instanceof Uint8Array) request.end(body);
    else
      pipeline(Readable.from(body, { objectMode: false }), request).catch((error: unknown) => {
        // The caller's own fault goes back to the caller; a broken pipe waits for the answer that explains it.
        if (isFault(error) && !answered) reject(error);
      });
  });
}

function remote(url: string, path: string, cause: unknown): AshlarError {
  const found = cause instanceof Error ? cause.message : String(cause);
  return new AshlarError('E_REMOTE', { where: `${url}${path.split('?', 1)[0]}`, found, cause });
}

function answerOf(url: string, path: string, response: IncomingMessage): Answer {
  return {
    status: response.statusCode ?? 0,
    headers: response.headers as Record<string, string | undefined>,
    body: pieces(url, path, response),
    drop: () => void response.destroy(),
  };
}

async function* pieces(url: string, path: string, response: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* response as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw remote(url, path, cause);
  }
  if (!response.complete) throw remote(url, path, 'an answer that was cut');
}

/** Longest refusal that is read (bytes). */
const MAX_REFUSAL = 1 << 16;

async function refusal({ status, body }: Answer, call: Call): Promise<AshlarError> {
  const where = call.path.split('?', 1)[0] ?? '/';
  const text = await textOf(body, MAX_REFUSAL).catch(() => '');
  const said = parsed(text);
  if (said === null)
    // HEAD has no body.
    return new AshlarError(status === 404 ? 'E_NOT_FOUND' : 'E_REMOTE', { where, found: `status ${status}` });
  return new AshlarError(said.code, said.data);
}

function parsed(text: string): { code: ErrorCode; data: Record<string, string> } | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || !('code' in value)) return null;
  const { code, ...rest } = value as Record<string, unknown>;
  if (typeof code !== 'string' || !Object.hasOwn(ERRORS, code)) return null;
  const fields = ['where', 'rule', 'wanted', 'found', 'hint'];
  const data = Object.fromEntries(
    Object.entries(rest).filter(([name, text]) => fields.includes(name) && typeof text === 'string'),
  ) as Record<string, string>;
  return { code: code as ErrorCode, data };
}

/** The whole body, up to `limit` bytes. Throws E_TOO_LARGE. */
export async function bytesOf(body: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > limit) fail('E_TOO_LARGE', { where: 'answer', wanted: `at most ${limit} bytes` });
    all.push(piece);
  }
  return Buffer.concat(all);
}

export const textOf = async (body: AsyncIterable<Uint8Array>, limit: number): Promise<string> =>
  (await bytesOf(body, limit)).toString('utf8');

/** Longest line that is read (bytes). */
const MAX_LINE = 1 << 20;

/** Lines without their LF. Throws E_REMOTE for an open last line. */
export async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of body) {
    held = held.length === 0 ? Buffer.from(piece) : Buffer.concat([held, piece]);
    let at = 0;
    for (let end = held.indexOf(0x0a); end >= 0; end = held.indexOf(0x0a, at)) {
      yield held.subarray(at, end);
      at = end + 1;
    }
    held = held.subarray(at);
    if (held.length > MAX_LINE) fail('E_REMOTE', { wanted: `lines of at most ${MAX_LINE} bytes` });
  }
  if (held.length > 0) fail('E_REMOTE', { wanted: 'whole lines', found: 'an open one' });
}
