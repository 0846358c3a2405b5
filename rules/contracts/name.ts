/** `name`: a movable pointer; each step names the one before it. */
import { z } from 'zod';
import { link, record } from './kit.ts';

export const name = record('name', {
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,7}$/),
  target: z.union([link('*'), z.null()]),
  previous: z.union([link('name'), z.null()]),
});
export type NameRecord = z.infer<typeof name>;
