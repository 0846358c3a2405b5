/**
 * The agent's side of the meter: reading a bounded body, answering with a typed error.
 * Promises: the error shape of the Anthropic Messages API, told not to retry; no word of it names the harness.
 * Does not promise: that an agent obeys.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** An answer of the meter's own, not of the upstream. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

/** The run's own cap: the agent's loop ends with `cost_limit`. */
export const COST_LIMIT: Answer = {
  status: 402,
  type: 'cost_limit',
  message: 'the spending limit of this session is reached',
};
/** A cap shared with other sessions: ours, not the agent's. */
export const BUDGET_LIMIT: Answer = {
  status: 402,
  type: 'budget_limit',
  message: 'no more requests can be paid',
};

export const notFound: Answer = { status: 404, type: 'not_found_error', message: 'no such path' };
export const badRequest = (message: string): Answer => ({
  status: 400,
  type: 'invalid_request_error',
  message,
});
export const apiError = (message: string): Answer => ({ status: 502, type: 'api_error', message });

/** Ends `response` with `answer`. Does nothing where an answer is under way. */
export function refuse(response: ServerResponse, answer: Answer): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { status, type, message } = answer;
  const body = Buffer.from(JSON.stringify({ type: 'error', error: { type, message } }), 'utf8');
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-should-retry': 'false',
    connection: 'close',
  });
  response.end(body);
}

/** Ends `response` with a JSON value. */
export function reply(response: ServerResponse, value: unknown): Uint8Array {
  const body = Buffer.from(JSON.stringify(value), 'utf8');
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
  return body;
}

/** The whole body, or nothing where it is longer than `limit` bytes. Rejects when the agent breaks off. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    if (size > limit) return undefined;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}
