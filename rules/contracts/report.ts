/** `report`: a summary in words, for a person; every printed number comes from the summary. */
import { z } from 'zod';
import { derived, link, sentence } from './kit.ts';

export const report = derived('report', {
  close: link('close'),
  summary: link('summary'),
  claims: z.array(link('claim')),
  outputs: z.array(z.strictObject({ name: sentence(), media: sentence(), bytes: link('raw') })).min(1),
});
export type Report = z.infer<typeof report>;
