/** `plan`: one paired run. What is equal for all arms stands once; the arms differ in their condition and nothing else. */
import { z } from 'zod';
import { derived, evidence, link, map, positive } from './kit.ts';

export const plan = derived('plan', {
  shared: z.strictObject({
    /** The family's first study, never a later version. */
    family: link('study'),
    challenge: link('challenge'),
    fixture: link('fixture'),
    agent: link('agent'),
    corpus: link('corpus'),
    certificate: link('certificate'),
    acceptances: z.array(link('acceptance')),
    validations: z.array(link('validation')),
    graders: z.array(z.enum(['audit', 'verifier'])),
    images: map(evidence()),
    network: z.literal('none'),
    epoch: positive(),
  }),
  arms: map(link('condition')),
});
export type Plan = z.infer<typeof plan>;
