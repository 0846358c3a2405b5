/** `start`: an arm begins. It is logged, and a checkpoint covers it, before anything runs. */
import { z } from 'zod';
import { hex, id, link, positive, record } from './kit.ts';
import { executorName } from './study.ts';

export const start = record('start', {
  plan: link('plan'),
  arm: id(),
  attempt: positive(),
  /** The study version in force. */
  study: link('study'),
  /** Fences a late worker; names nothing. */
  token: hex(32),
  executor: executorName,
  /** The host's own words about the isolation it gave. */
  isolation: z.strictObject({ network: z.enum(['none', 'loopback']), limits: z.array(z.string()) }),
});
export type Start = z.infer<typeof start>;
