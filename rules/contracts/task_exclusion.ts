/** `task_exclusion`, a decision: one challenge leaves the study before its runs are looked at. */
import type { z } from 'zod';
import { decision, link, record } from './kit.ts';

export const taskExclusion = record('task_exclusion', {
  ...decision,
  study: link('study'),
  challenge: link('challenge'),
});
export type TaskExclusion = z.infer<typeof taskExclusion>;
