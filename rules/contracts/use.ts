/** `use`: whether the agent's own words or actions show a delivered memory. Never implied by delivery or outcome. */
import { z } from 'zod';
import { derived, link, memoryId, positive } from './kit.ts';

export const use = derived('use', {
  receipt: link('receipt'),
  scrub: link('scrub'),
  trajectory: link('trajectory'),
  signs: z.array(
    z.strictObject({
      id: memoryId(),
      /** `citation`: the id in agent text; `marker`: a fixture's marker phrase in agent text or tool input. */
      sign: z.enum(['citation', 'marker']),
      step: positive(),
    }),
  ),
  used: z.boolean(),
});
export type Use = z.infer<typeof use>;
