/** The one address that the loop talks to: $MODEL_URL. */
import { type IncomingMessage, request } from 'node:http';
import { env } from 'node:process';

/** One request, no retry: a retry would be paid twice. Rejects where nothing answers. */
export function post(path: string, value: unknown): Promise<{ status: number; body: string }> {
  const body = Buffer.from(JSON.stringify(value), 'utf8');
  const url = env.MODEL_URL ?? '';
  const target = url.startsWith('unix:') ? { socketPath: url.slice(5), path } : new URL(path, url);
  const options = {
    method: 'POST',
    agent: false as const,
    headers: {
      'content-type': 'application/json',
      'content-length': body.length,
      'anthropic-version': '2023-06-01',
    },
  };
  return new Promise((resolve, reject) => {
    const sent =
      target instanceof URL ? request(target, options, take) : request({ ...target, ...options }, take);
    function take(answer: IncomingMessage) {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') });
      });
    }
    sent.on('error', reject);
    sent.end(body);
  });
}
