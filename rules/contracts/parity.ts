/** `parity`: whether the arms of one attempt differ in their condition and in nothing else. */
import { z } from 'zod';
import { derived, id, link, positive, sentence } from './kit.ts';

export const parity = derived('parity', {
  plan: link('plan'),
  attempt: positive(),
  receipts: z.array(link('receipt')).min(1),
  /** Each difference names its field and the arms that do not have the first arm's value. */
  findings: z.array(z.strictObject({ field: sentence(), arms: z.array(id()), detail: z.string() })),
});
export type Parity = z.infer<typeof parity>;
