/**
 * The one place that a request may go to: a host and a set of paths from the configuration of this machine.
 * Promises: only those; no redirect is followed, no proxy variable is read, no body is decompressed.
 * Does not promise: retries. A failed attempt is reported; who asks again pays again.
 */
import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { fail } from '../../store/format/errors.ts';

export interface UpstreamConfig {
  /** `http://host:port`, `https://host`, or `unix:/path/of/socket`; no path, query or user. */
  readonly url: string;
  /** Exact paths that may be asked, such as `/v1/messages`. */
  readonly paths: readonly string[];
  /** Header that carries the key: `x-api-key`, or `authorization` (then as a bearer token). */
  readonly keyHeader?: 'x-api-key' | 'authorization';
  readonly key?: string;
  /** Longest wait for the whole answer, in seconds. */
  readonly timeoutSeconds: number;
}

export interface Upstream {
  /** Sends `body` and gives the answer's head; the body streams. Rejects when there is no answer. */
  send(path: string, headers: Record<string, string>, body: Uint8Array): Promise<IncomingMessage>;
  allows(path: string): boolean;
  /** Breaks off whatever is under way. */
  abort(): void;
}

/** Throws E_CONFIG where the address is not of a form above. */
export function openUpstream(config: UpstreamConfig): Upstream {
  const target = targetOf(config.url);
  const stop = new AbortController();
  return {
    allows: (path) => config.paths.includes(path),
    abort: () => stop.abort(),
    send: (path, headers, body) =>
      new Promise((resolve, reject) => {
        const options: RequestOptions = {
          ...target.options,
          path,
          method: 'POST',
          agent: false,
          headers: { ...headers, ...keyHeader(config), 'content-length': body.length, connection: 'close' },
          signal: AbortSignal.any([stop.signal, AbortSignal.timeout(config.timeoutSeconds * 1000)]),
        };
        const sent = target.secure ? requestHttps(options, resolve) : requestHttp(options, resolve);
        sent.on('error', reject);
        sent.end(body);
      }),
  };
}

function keyHeader({ key, keyHeader = 'x-api-key' }: UpstreamConfig): Record<string, string> {
  if (key === undefined) return {};
  return { [keyHeader]: keyHeader === 'authorization' ? `Bearer ${key}` : key };
}

function targetOf(url: string): { secure: boolean; options: RequestOptions } {
  if (url.startsWith('unix:/')) {
    return {
      secure: false,
      options: { socketPath: url.slice('unix:'.length), headers: { host: 'localhost' } },
    };
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const plain =
    parsed?.pathname === '/' && parsed.search === '' && parsed.username === '' && parsed.hash === '';
  if (parsed === undefined || !plain || !['http:', 'https:'].includes(parsed.protocol)) {
    fail('E_CONFIG', { where: 'upstream', wanted: 'http://host, https://host or unix:/socket', found: url });
  }
  const secure = parsed.protocol === 'https:';
  const hostname = parsed.hostname.replace(/^\[|\]$/g, '');
  return { secure, options: { hostname, port: parsed.port === '' ? (secure ? 443 : 80) : parsed.port } };
}
