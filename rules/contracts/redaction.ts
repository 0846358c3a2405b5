/** `redaction`: what was taken out of a source tree before any arm sees it, and what is left. */
import { z } from 'zod';
import { count, derived, evidence, gitOid, link, sentence, treePath } from './kit.ts';

export const removedEntry = z.strictObject({
  path: treePath(),
  type: z.enum(['file', 'link', 'submodule']),
  mode: count(),
  /** Git's mode and object id, so that the commit's tree id can be had back without the bytes. */
  gitMode: z.string().regex(/^[0-7]{5,6}$/),
  oid: gitOid(),
  size: count().exactOptional(),
  bytes: evidence().exactOptional(),
  /** The pattern of the policy that matched. */
  pattern: sentence(),
});

export const redaction = derived('redaction', {
  source: link('source'),
  policy: link('raw'),
  tree: link('tree'),
  removed: z.array(removedEntry),
  /** Kept entries whose names come close to a pattern: for a person to look at. */
  nearMisses: z.array(z.strictObject({ path: treePath(), pattern: sentence() })),
  /** Kept symbolic links that pointed at something removed. */
  danglingLinks: z.array(z.strictObject({ path: treePath(), target: z.string() })),
  /** Files that a removed configuration names; they stay, and are reported. */
  named: z.array(z.strictObject({ config: treePath(), names: z.array(z.string()) })),
});
export type Redaction = z.infer<typeof redaction>;
export type RemovedEntry = z.infer<typeof removedEntry>;
