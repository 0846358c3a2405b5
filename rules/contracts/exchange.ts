/** `exchange`: one request that the meter forwarded, and its answer. Headers are not kept. */
import { z } from 'zod';
import { count, evidence, link, positive, record } from './kit.ts';

export const usage = z.strictObject({
  input: count(),
  output: count(),
  cacheRead: count(),
  cacheWrite: count(),
});
export type Usage = z.infer<typeof usage>;

export const exchange = record('exchange', {
  start: link('start'),
  reservation: link('ledger'),
  sequence: positive(),
  request: evidence(),
  response: evidence(),
  /** HTTP status; 0 where the connection broke. */
  status: count(),
  /** Absent where the answer carried none. */
  usage: usage.exactOptional(),
});
export type Exchange = z.infer<typeof exchange>;
