/**
 * The memory tool's way out of the sandbox: one path beside the model's, answered by the harness.
 * Promises: both bodies are recorded; what comes back is what the provisioner said.
 * Does not promise: a price; recall is not billed here.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { type Desk, noteFault } from './desk.ts';
import { apiError, badRequest, readBody, refuse, reply } from './wire.ts';

export const RECALL_PATH = '/v1/memory/search';
const LIMIT = 64 * 1024;
const question = z.strictObject({ query: z.string().min(1).max(10_000), limit: z.int().min(1).max(50) });

export async function answerRecall(
  desk: Desk,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request, LIMIT).catch(() => undefined);
  const asked = question.safeParse(body === undefined ? undefined : parsed(body));
  if (body === undefined || !asked.success) return refuse(response, badRequest('query and limit are needed'));
  try {
    const memories = (await desk.recall?.(asked.data)) ?? [];
    await desk.emit(body);
    await desk.emit(reply(response, { memories }));
  } catch (cause) {
    noteFault(desk, 'recall', cause);
    refuse(response, apiError('not available'));
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}
