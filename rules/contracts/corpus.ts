/** `corpus`: a redacted tree whose commit's Git tree id was recomputed from it and from what was removed. */
import { z } from 'zod';
import { count, derived, link, treePath } from './kit.ts';

/** What an operator should know about a tree that is carried exactly as it is. */
export const corpusNote = z.strictObject({
  what: z.enum(['case-collision', 'unicode-collision', 'lfs-pointer', 'lfs-malformed', 'submodule']),
  paths: z.array(treePath()).min(1),
  detail: z.string(),
});

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
  notes: z.array(corpusNote),
});
export type Corpus = z.infer<typeof corpus>;
