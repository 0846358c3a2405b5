/** `outcome`: the verdict, read again from the published report. No status without an outcome can be read as 0. */
import { z } from 'zod';
import { derived, link } from './kit.ts';
import { status, stopReason, verdict } from './receipt.ts';

export const outcome = derived('outcome', {
  receipt: link('receipt'),
  scrub: link('scrub'),
  challenge: link('challenge'),
  status,
  stopReason: stopReason.exactOptional(),
  /** Present exactly where the status has an outcome. */
  verdict: verdict.exactOptional(),
  /** Whether the published report gives the receipt's own verdict. */
  agrees: z.boolean(),
});
export type Outcome = z.infer<typeof outcome>;
