/** `delivery`: whether injected memory reached the model: two facts apart, one from each witness. */
import { z } from 'zod';
import { CHANNELS } from './condition.ts';
import { derived, link, memoryId, positive } from './kit.ts';

export const delivery = derived('delivery', {
  receipt: link('receipt'),
  scrub: link('scrub'),
  trajectory: link('trajectory'),
  memories: z.array(
    z.strictObject({
      id: memoryId(),
      channel: z.enum(CHANNELS),
      /** The transcript's non-agent record of it: step of the trajectory, from 1. */
      recordedAt: positive().exactOptional(),
      /** The first request seen by the meter that holds the id: its sequence number. */
      sentIn: positive().exactOptional(),
    }),
  ),
  /** Every memory was both recorded and sent; false where there is none. */
  delivered: z.boolean(),
});
export type Delivery = z.infer<typeof delivery>;
