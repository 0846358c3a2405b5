/** `run_certificate`: findings over what an agent could see at run time. */
import { z } from 'zod';
import { finding } from './certificate.ts';
import { derived, link, sentence } from './kit.ts';

export const runCertificate = derived('run_certificate', {
  receipt: link('receipt'),
  scrub: link('scrub'),
  plan: link('plan'),
  study: link('study'),
  policy: link('raw'),
  /** Names of the surfaces that were read. */
  surfaces: z.array(sentence()),
  findings: z.array(finding),
});
export type RunCertificate = z.infer<typeof runCertificate>;
