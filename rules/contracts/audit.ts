/** `audit`: every difference between two snapshots of a workspace, inside and outside the allowed subtrees. */
import { z } from 'zod';
import { count, derived, link, treePath } from './kit.ts';

export const mutation = z.strictObject({
  path: treePath(),
  change: z.enum(['added', 'removed', 'content', 'mode', 'type', 'target']),
  inside: z.boolean(),
});
export type Mutation = z.infer<typeof mutation>;

export const audit = derived('audit', {
  before: link('snapshot'),
  after: link('snapshot'),
  challenge: link('challenge'),
  mutations: z.array(mutation),
  outside: count(),
});
export type Audit = z.infer<typeof audit>;
