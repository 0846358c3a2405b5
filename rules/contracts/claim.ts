/** `claim`, a decision: one printed number stands for one field of one derived record. */
import { z } from 'zod';
import { decision, link, portablePath, record, sentence } from './kit.ts';

/** How a field is printed. */
export const CLAIM_FORMS = ['plain', 'difference', 'p', 'share', 'percent', 'interval', 'money'] as const;
export const claimForm = z.enum(CLAIM_FORMS);
export type ClaimForm = z.infer<typeof claimForm>;

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
  form: claimForm,
  /** The words as printed. */
  printed: sentence(),
  page: link('raw'),
  /** The page's file name in a publication. */
  name: portablePath(),
  /** Name of the place in the page: `binding 3` is its third. */
  place: sentence(),
});
export type Claim = z.infer<typeof claim>;
