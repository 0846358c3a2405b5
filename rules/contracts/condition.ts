/** `condition`: what memory an arm is given and through which channel. No build, and no digest of one. */
import { z } from 'zod';
import { id, map, record } from './kit.ts';

export const CHANNELS = ['prompt', 'hook', 'tool', 'native'] as const;

export const condition = record('condition', {
  name: id(),
  source: z.union([
    z.strictObject({ type: z.literal('none') }),
    z.strictObject({ type: z.literal('rule'), rule: z.enum(['raw', 'retrieved', 'distilled', 'oracle']) }),
    z.strictObject({ type: z.literal('provisioner'), provisioner: id() }),
  ]),
  channel: z.enum(CHANNELS).exactOptional(),
  /** The fixture's graph that the provisioner restores. */
  graph: id().exactOptional(),
  parameters: map(z.string()),
  /** Tools that this condition adds to the agent's own. */
  tools: z.array(z.string().regex(/^[a-z_]{1,64}$/)),
});
export type Condition = z.infer<typeof condition>;
