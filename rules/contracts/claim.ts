/** `claim`, a decision: one printed number stands for one field of one derived record. */
import { z } from 'zod';
import { decision, link, record, sentence } from './kit.ts';

export const claim = record('claim', {
  ...decision,
  close: link('close'),
  /** Never a report. */
  record: link(
    'summary',
    'grade',
    'outcome',
    'delivery',
    'parity',
    'eligibility',
    'certificate',
    'redaction',
    'corpus',
  ),
  /** JSON pointer (RFC 6901) into that record. */
  field: z.string().regex(/^(?:\/(?:[^~/]|~[01])*)+$/),
  /** The words as printed. */
  printed: sentence(),
  page: link('raw'),
  /** Name of the place in the page. */
  place: sentence(),
});
export type Claim = z.infer<typeof claim>;
