/**
 * The HTTP API of a store, for mirrors and for the command line beside a daemon.
 * Promises: loopback unless told otherwise; no write without the token (a socket is guarded by its folder instead);
 * limits on body, rate and time; every refusal is JSON from the error catalogue.
 * Does not promise: TLS. Put a proxy in front for that; every answer under a CID checks itself.
 */
import { chmodSync, rmSync } from 'node:fs';
import { pid } from 'node:process';
import bearerAuth from '@fastify/bearer-auth';
import rateLimit from '@fastify/rate-limit';
import swagger from '@fastify/swagger';
import underPressure from '@fastify/under-pressure';
import Fastify, { type FastifyInstance, type onRequestHookHandler } from 'fastify';
import {
  jsonSchemaTransform,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { AshlarError, fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { blocks } from './blocks.ts';
import { closures } from './closure.ts';
import { events } from './events.ts';
import { answerFaults } from './faults.ts';
import { have } from './have.ts';
import { health, metrics } from './health.ts';
import { ipfs } from './ipfs.ts';
import { log } from './log.ts';
import { logs } from './logs.ts';
import { names } from './names.ts';
import { LIMITS, type Limits, type Parts } from './parts.ts';
import { pending, why } from './pending.ts';
import { noQuery } from './query.ts';
import { records } from './records.ts';
import { socketOf } from './socket.ts';

/** A unix socket, or a port (0: any) of a host (127.0.0.1 unless said). */
export type Listen = { readonly socket: string } | { readonly host?: string; readonly port: number };

export interface ApiOptions extends Pick<Parts, 'pending' | 'why'> {
  readonly listen: Listen;
  /** Who carries it may write. Without one, only a socket takes writes. */
  readonly token?: string;
  /** Take no writes at all. */
  readonly readOnly?: boolean;
  readonly limits?: Partial<Limits>;
  /** Told of faults of ours, which leave without detail. */
  readonly onInternal?: (error: unknown) => void;
}

export interface Api {
  /** `http://host:port`, or `unix:<path>`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves `store`, which stays open after `close`. Throws E_CONFIG where the address cannot be had. */
export async function openApi(store: Store, options: ApiOptions): Promise<Api> {
  const app = await buildApi(store, options);
  try {
    return { url: await listen(app, options.listen), close: () => app.close() };
  } catch (cause) {
    await app.close();
    return fail('E_CONFIG', { where: 'api', wanted: 'a free address', found: said(cause), cause });
  }
}

const said = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/**
 * Serves the store that this process owns to the other processes of its user, and says so in the store. Throws
 * E_STORE_BUSY for a client of another owner, E_READ_ONLY, E_CONFIG.
 */
export async function openOwnApi(
  store: Store,
  environment: Readonly<Record<string, string | undefined>>,
  options: Omit<ApiOptions, 'listen' | 'token' | 'readOnly'> = {},
): Promise<Api> {
  // First of all: whoever is no owner (a client of one) is refused before the owner's socket is touched.
  await store.announce({ pid });
  const socket = socketOf(store.path, environment);
  const api = await openApi(store, { ...options, listen: { socket } });
  try {
    // Dying before this: a socket that nobody knows of; the next owner replaces it.
    await store.announce({ pid, socket });
  } catch (error) {
    await api.close();
    throw error;
  }
  return api;
}

/** The same without listening, for whoever injects requests. */
export async function buildApi(store: Store, options: ApiOptions): Promise<FastifyInstance> {
  const limits = limitsOf(options);
  const app = Fastify({
    logger: false,
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestMilliseconds,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 1024 },
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  answerFaults(app, options.onInternal ?? (() => undefined));
  await guards(app, limits);
  if (options.token !== undefined)
    await app.register(bearerAuth, { keys: [options.token], addHook: false, verifyErrorLogLevel: 'silent' });
  await describe(app);
  await routes(app, partsOf(app, store, options, limits));
  return app;
}

/** Whoever is on this machine waits rather than being sent away; on a socket he may ask as often as he likes. */
function limitsOf({ listen, limits }: ApiOptions): Limits {
  const local = 'socket' in listen || ['127.0.0.1', '::1', 'localhost'].includes(listen.host ?? '127.0.0.1');
  return {
    ...LIMITS,
    ...(local ? { loopMilliseconds: null } : {}),
    ...('socket' in listen ? { requestsPerMinute: null } : {}),
    ...limits,
  };
}

function partsOf(app: FastifyInstance, store: Store, options: ApiOptions, limits: Limits): Parts {
  const socket = 'socket' in options.listen;
  const { pending, why } = options;
  return {
    store,
    limits,
    owner: socket && options.readOnly !== true,
    mayWrite: writeGuard(app, store, options),
    ...(pending === undefined ? {} : { pending }),
    ...(why === undefined ? {} : { why }),
  };
}

function writeGuard(app: FastifyInstance, store: Store, options: ApiOptions): onRequestHookHandler {
  const { readOnly = false, token } = options;
  return (request, reply, done) => {
    if (readOnly || !store.writable) {
      done(new AshlarError('E_READ_ONLY', { where: request.url.split('?', 1)[0] ?? '/' }));
      return;
    }
    if (token !== undefined && app.verifyBearerAuth !== undefined) {
      app.verifyBearerAuth(request, reply, done);
      return;
    }
    if ('socket' in options.listen) done();
    else done(new AshlarError('E_UNAUTHORIZED', { hint: 'This server has no token, so it takes no writes' }));
  };
}

async function guards(app: FastifyInstance, limits: Limits): Promise<void> {
  if (limits.loopMilliseconds !== null)
    await app.register(underPressure, {
      maxEventLoopDelay: limits.loopMilliseconds,
      pressureHandler(_request, reply) {
        reply.header('retry-after', 10);
        fail('E_OVERLOADED');
      },
    });
  if (limits.requestsPerMinute !== null)
    await app.register(rateLimit, {
      max: limits.requestsPerMinute,
      timeWindow: 60_000,
      errorResponseBuilder: (_request, { max }) =>
        new AshlarError('E_RATE', { wanted: `at most ${max} requests a minute` }),
    });
}

async function describe(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'ashlar', version: '1' } },
    transform: jsonSchemaTransform,
  });
}

async function routes(app: FastifyInstance, parts: Parts): Promise<void> {
  const zod = app.withTypeProvider<ZodTypeProvider>();
  // Not encapsulated: it counts the answers of all.
  await metrics(zod, parts);
  for (const plugin of [
    health,
    ipfs,
    have,
    blocks,
    closures,
    records,
    names,
    pending,
    why,
    events,
    log,
    logs,
  ])
    await zod.register(plugin, parts);
  zod.get('/openapi.json', { schema: { querystring: noQuery, hide: true } }, async () => app.swagger());
}

async function listen(app: FastifyInstance, at: Listen): Promise<string> {
  if (!('socket' in at)) return app.listen({ host: at.host ?? '127.0.0.1', port: at.port });
  // The store's lock is ours, so a socket that lies here is a dead owner's.
  rmSync(at.socket, { force: true });
  await app.listen({ path: at.socket });
  chmodSync(at.socket, 0o600);
  return `unix:${at.socket}`;
}
