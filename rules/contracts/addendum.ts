/** `addendum`, a decision: words added to a study that change none of its plans. */
import type { z } from 'zod';
import { decision, link, record, sentence } from './kit.ts';

export const addendum = record('addendum', { ...decision, study: link('study'), text: sentence() });
export type Addendum = z.infer<typeof addendum>;
