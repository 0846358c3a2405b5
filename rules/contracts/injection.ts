/** `injection`: memory that the harness handed to an agent at one turn. */
import { z } from 'zod';
import { CHANNELS } from './condition.ts';
import { count, evidence, id, link, memoryId, positive, record } from './kit.ts';

export const injection = record('injection', {
  start: link('start'),
  condition: link('condition'),
  fixture: link('fixture'),
  challenge: link('challenge'),
  agent: link('agent'),
  /** 1 for the prompt, 2 for the first follow-up. */
  turn: positive(),
  channel: z.enum(CHANNELS),
  memories: z.array(
    z.strictObject({
      id: memoryId(),
      text: link('raw'),
      /** The provisioner's own id, or the record it was made from. */
      origin: z.string().exactOptional(),
      lessons: z.array(id()),
    }),
  ),
  bytes: count(),
  reply: evidence().exactOptional(),
});
export type Injection = z.infer<typeof injection>;
