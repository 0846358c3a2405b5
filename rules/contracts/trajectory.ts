/** `trajectory`: the agent's native transcript as an ATIF 1.7 document with injection steps. */
import { z } from 'zod';
import { count, derived, evidence, link } from './kit.ts';

export const trajectory = derived('trajectory', {
  receipt: link('receipt'),
  scrub: link('scrub'),
  /** An evidence reference where the study withholds trajectories. */
  atif: z.union([link('raw'), evidence()]),
  steps: count(),
  injections: count(),
});
export type Trajectory = z.infer<typeof trajectory>;
