/** `agent`: which agent, with which model, prompt template, tools and limits. */
import { z } from 'zod';
import { decimal, id, link, map, positive, record, sentence } from './kit.ts';

export const agent = record('agent', {
  adapter: id(),
  version: sentence(),
  model: sentence(),
  /** `scripted`: answers come from data, never from a model; every report says so. */
  modelKind: z.enum(['scripted', 'real']),
  parameters: map(z.union([decimal(), z.boolean()])),
  /** System prompt. */
  template: link('raw'),
  tools: z.array(z.string().regex(/^[a-z_]{1,64}$/)),
  limits: z.strictObject({
    turns: positive(),
    maxOutputTokens: positive(),
    totalTokens: positive(),
    outputBytes: positive(),
  }),
});
export type Agent = z.infer<typeof agent>;
