/** `acceptance`, a decision: one content finding of `patch-or-diff` may stand. */
import { z } from 'zod';
import { decision, link, record, sentence } from './kit.ts';

export const acceptance = record('acceptance', {
  ...decision,
  certificate: link('certificate'),
  surface: sentence(),
  path: z.string(),
  /** Digest of the surface's bytes that hold the finding: any other content is not accepted. */
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
});
export type Acceptance = z.infer<typeof acceptance>;
