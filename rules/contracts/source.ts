/** `source`: one Git commit, named by its full id and re-hashable from what is linked here. */
import { z } from 'zod';
import { evidence, gitOid, link, record, treePath } from './kit.ts';

export const source = record('source', {
  /** Where a reader may fetch it; never a path of this machine. */
  repository: z.url({ protocol: /^(?:https?|ssh|git)$/ }).exactOptional(),
  algorithm: z.enum(['sha1', 'sha256']),
  commit: gitOid(),
  /** The raw commit object (without the Git header). */
  commitObject: link('raw'),
  treeOid: gitOid(),
  /** Raw tree objects whose bytes cannot be had back from our tree nodes. */
  oddTrees: z.array(z.strictObject({ path: treePath(), oid: gitOid(), object: link('raw') })),
  /** The tree node of the whole commit, which may be withheld. */
  tree: evidence(),
});
export type Source = z.infer<typeof source>;
