/** `override`, a decision against the mechanical one; results are printed with and without it. */
import { z } from 'zod';
import { decision, link, record } from './kit.ts';

export const override = record('override', {
  ...decision,
  study: link('study'),
  subject: link('receipt', 'plan'),
  admission: link('admission'),
  decision: z.enum(['admitted', 'excluded']),
  outcomesVisible: z.boolean(),
  supersedes: link('override').exactOptional(),
});
export type Override = z.infer<typeof override>;
