/** `validation`: one solution of one challenge, run and graded. No time and no raw report stand in it. */
import { z } from 'zod';
import { verdictByTag } from './challenge.ts';
import { evidence, id, link, map, positive, record } from './kit.ts';
import { executorName } from './study.ts';

export const validation = record('validation', {
  challenge: link('challenge'),
  fixture: link('fixture'),
  solution: id(),
  repeat: positive(),
  /** How many validations ran at once. */
  parallelism: positive(),
  executor: executorName,
  images: map(evidence()),
  verdict: verdictByTag,
  reward: z.union([z.literal(0), z.literal(1)]),
  audit: link('audit'),
});
export type Validation = z.infer<typeof validation>;
