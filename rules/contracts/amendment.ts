/** `amendment`, a decision: one version of a study follows another. It stands before the runs it governs. */

import type { z } from 'zod';
import { decision, link, record } from './kit.ts';

export const amendment = record('amendment', { ...decision, before: link('study'), after: link('study') });
export type Amendment = z.infer<typeof amendment>;
