/** `deviation`, a decision: something went otherwise than registered; it stands before the next close. */
import type { z } from 'zod';
import { decision, link, record, sentence } from './kit.ts';

export const deviation = record('deviation', {
  ...decision,
  study: link('study'),
  start: link('start').exactOptional(),
  receipt: link('receipt').exactOptional(),
  what: sentence(),
});
export type Deviation = z.infer<typeof deviation>;
