/** `eligibility`: whether a receipt may be admitted. Mechanical; it never sees a verdict, outcome or grade. */
import { z } from 'zod';
import { derived, link } from './kit.ts';

export const INELIGIBLE = [
  'void-status',
  'no-outcome',
  'audit-missing',
  'certification-finding',
  'certification-refused',
  'parity-finding',
  'parity-refused',
  'isolation-too-weak',
] as const;

export const eligibility = derived('eligibility', {
  receipt: link('receipt'),
  study: link('study'),
  eligible: z.boolean(),
  reasons: z.array(z.enum(INELIGIBLE)),
});
export type Eligibility = z.infer<typeof eligibility>;
