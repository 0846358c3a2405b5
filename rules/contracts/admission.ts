/** `admission`, a decision: one run counts, or does not, for a listed reason that is not its outcome. */
import { z } from 'zod';
import { decision, link, record } from './kit.ts';
import { EXCLUSION_REASONS } from './study.ts';

export const admission = record('admission', {
  ...decision,
  study: link('study'),
  /** The receipt with its eligibility, or a plan that was never started. */
  subject: z.union([
    z.strictObject({ receipt: link('receipt'), eligibility: link('eligibility') }),
    z.strictObject({ plan: link('plan') }),
  ]),
  decision: z.enum(['admitted', 'excluded']),
  /** Absent where admitted. */
  reason: z.enum(EXCLUSION_REASONS).exactOptional(),
  outcomesVisible: z.boolean(),
  supersedes: link('admission').exactOptional(),
});
export type Admission = z.infer<typeof admission>;
