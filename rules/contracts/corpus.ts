/** `corpus`: a redacted tree whose commit's Git tree id was recomputed from it and from what was removed. */
import { z } from 'zod';
import { count, derived, link } from './kit.ts';

export const corpus = derived('corpus', {
  source: link('source'),
  redaction: link('redaction'),
  tree: link('tree'),
  counts: z.strictObject({
    files: count(),
    links: count(),
    directories: count(),
    submodules: count(),
    bytes: count(),
    removed: count(),
  }),
});
export type Corpus = z.infer<typeof corpus>;
