/** `trajectory`: the agent's native transcript as an ATIF 1.7 document with injection steps. */
import type { z } from 'zod';
import { count, derived, link } from './kit.ts';

export const trajectory = derived('trajectory', {
  receipt: link('receipt'),
  scrub: link('scrub'),
  atif: link('raw'),
  steps: count(),
  injections: count(),
});
export type Trajectory = z.infer<typeof trajectory>;
