/**
 * How a fault leaves the API: JSON with the catalogue's code and its HTTP status.
 * Promises: every answer that is no success has this shape; nothing of the inside (stack, path of a cause) is in it.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AshlarError, ERRORS, type ErrorCode, type ErrorData, isFault } from '../../store/format/errors.ts';

/** The body of every refusal. */
export interface FaultBody extends Omit<ErrorData, 'cause'> {
  readonly code: ErrorCode;
  readonly sentence: string;
}

export function faultBody({ code, data }: AshlarError): FaultBody {
  const { cause: _, ...said } = data;
  return { code, sentence: ERRORS[code].sentence, ...said };
}

/** Damage found while reading is the store's fault, not that of the one who asked. */
export function statusOf(error: AshlarError, method: string): number {
  const reading = method === 'GET' || method === 'HEAD';
  return reading && error.code === 'E_DIGEST' ? ERRORS.E_STORE_DAMAGED.http : error.http;
}

/** Faults of fastify and its plugins in our words. */
export function asFault(error: FastifyError | AshlarError): AshlarError {
  if (isFault(error)) return error;
  const [issue] = error.validation ?? [];
  if (issue !== undefined) {
    const where = `${error.validationContext ?? 'request'}${issue.instancePath}`;
    return new AshlarError('E_REQUEST', { where, found: issue.message ?? 'another form' });
  }
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new AshlarError('E_TOO_LARGE', { where: 'body' });
  if (error.code?.startsWith('FST_BEARER_AUTH')) return new AshlarError('E_UNAUTHORIZED');
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return new AshlarError('E_REQUEST', { found: error.message });
  return new AshlarError('E_INTERNAL');
}

/** `internal` is told of faults that are ours; they leave without detail. */
export function answerFaults(app: FastifyInstance, internal: (error: unknown) => void): void {
  app.setErrorHandler((error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const fault = asFault(error);
    if (fault.code === 'E_INTERNAL') internal(error);
    if (fault.code === 'E_UNAUTHORIZED') reply.header('www-authenticate', 'Bearer realm="ashlar"');
    dropCaching(reply);
    return reply.code(statusOf(fault, request.method)).type('application/json').send(faultBody(fault));
  });
  app.setNotFoundHandler((request, reply) => {
    const fault = new AshlarError('E_NOT_FOUND', { where: request.url.split('?', 1)[0] ?? '/' });
    return reply.code(fault.http).type('application/json').send(faultBody(fault));
  });
}

/** Headers that a route set for its success are not true of a refusal. */
function dropCaching(reply: FastifyReply): void {
  for (const name of ['cache-control', 'etag', 'content-disposition', 'accept-ranges', 'content-length'])
    reply.removeHeader(name);
}
