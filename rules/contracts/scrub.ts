/** `scrub`: for every evidence file of a receipt, the publishable bytes, or that they are held back. */
import { z } from 'zod';
import { count, derived, evidence, link, sentence } from './kit.ts';
import { WITHHOLDABLE } from './study.ts';

const named = { name: sentence(), original: evidence() };
/** Number of replacements; 0 means that the bytes are the original's. */
const replaced = count();

export const scrubbedFile = z.strictObject({ ...named, scrubbed: link('raw'), replaced });
/** Scrubbed, and not published: an evidence reference, so that no closure, release or mirror holds the bytes. */
export const heldFile = z.strictObject({
  ...named,
  scrubbed: evidence(),
  replaced,
  /** The kind that the study withholds; `hygiene` where something was found that may not be published. */
  held: z.enum([...WITHHOLDABLE, 'hygiene']),
});
export type HeldFile = z.infer<typeof heldFile>;

export const scrub = derived('scrub', {
  receipt: link('receipt'),
  study: link('study'),
  files: z.array(z.union([scrubbedFile, heldFile])),
});
export type Scrub = z.infer<typeof scrub>;
