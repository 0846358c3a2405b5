/**
 * Reads the token counts out of an Anthropic Messages answer while it streams by, JSON or server-sent events.
 * Promises: bounded memory; a usage only where the answer ended as it should and every count is a plain integer.
 * Does not promise: to repair anything: what is cut, unreadable or over the bound has no usage, so it is booked at the
 * worst case.
 */
import type { Usage } from '../../rules/cost.ts';

/** Fed with the clean bytes of a response body, in order. */
export interface UsageReader {
  feed(bytes: Uint8Array): void;
  /** The usage, once the body has ended. */
  end(): Usage | undefined;
}

/** `limit`: most bytes of a JSON body, or of one event line, that are kept. */
export function usageReader(contentType: string, limit: number): UsageReader {
  return contentType.startsWith('text/event-stream') ? eventReader(limit) : jsonReader(limit);
}

function jsonReader(limit: number): UsageReader {
  let parts: Uint8Array[] = [];
  let size = 0;
  return {
    feed(bytes) {
      size += bytes.length;
      if (size > limit) parts = [];
      else parts.push(bytes);
    },
    end() {
      if (size > limit) return undefined;
      const message = parsed(Buffer.concat(parts).toString('utf8'));
      return message.type === 'message' ? usageOf(object(message.usage)) : undefined;
    },
  };
}

function eventReader(limit: number): UsageReader {
  const decoder = new TextDecoder('utf-8');
  let line = '';
  let broken = false;
  let ended = false;
  const counts: Record<string, unknown> = {};
  const take = (text: string) => {
    if (!text.startsWith('data:')) return;
    const event = parsed(text.slice(5));
    if (event.type === 'message_start') Object.assign(counts, object(object(event.message).usage));
    if (event.type === 'message_delta') Object.assign(counts, defined(object(event.usage)));
    if (event.type === 'message_stop') ended = true;
    if (event.type === 'error') broken = true;
  };
  return {
    feed(bytes) {
      const lines = (line + decoder.decode(bytes, { stream: true })).split(/\r?\n/);
      line = lines.pop() ?? '';
      for (const each of lines) take(each);
      if (line.length > limit) {
        broken = true;
        line = '';
      }
    },
    end: () => (ended && !broken ? usageOf(counts) : undefined),
  };
}

function usageOf(counts: Record<string, unknown>): Usage | undefined {
  const usage = {
    input: count(counts.input_tokens),
    output: count(counts.output_tokens),
    cacheRead: count(counts.cache_read_input_tokens ?? 0),
    cacheWrite: count(counts.cache_creation_input_tokens ?? 0),
  };
  return Object.values(usage).includes(-1) ? undefined : usage;
}

const count = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : -1;

function defined(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null && part !== undefined));
}

function parsed(text: string): Record<string, unknown> {
  try {
    return object(JSON.parse(text));
  } catch {
    return {};
  }
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
