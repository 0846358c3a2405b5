/** `scrub`: for every evidence file of a receipt, the publishable bytes. */
import { z } from 'zod';
import { count, derived, evidence, link, sentence } from './kit.ts';

export const scrub = derived('scrub', {
  receipt: link('receipt'),
  files: z.array(
    z.strictObject({
      name: sentence(),
      original: evidence(),
      scrubbed: link('raw'),
      /** Number of replacements; 0 means that the original bytes are published. */
      replaced: count(),
    }),
  ),
});
export type Scrub = z.infer<typeof scrub>;
