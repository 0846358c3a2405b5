/** `pending`: the plans that wait for a run. */
import { pendingRuns } from '../../daemon/pending.ts';
import { familyMeant } from '../studies.ts';
import { maybe, storeVerb } from '../verb.ts';

export const command = storeVerb<Record<never, never>, [study?: string]>({
  access: 'read',
  example: 'ashlar pending',
  about: 'There is no queue: the answer is derived from the records.',
  flags: {},
  args: { kind: 'tuple', parameters: [maybe('STUDY', 'Only this family, by CID or name')] },
  async run({ out }, store, _flags, study) {
    const family = study === undefined ? undefined : await familyMeant(store, study);
    for (const run of await pendingRuns(store, family)) {
      const { plan, challenge, fixture, epoch, attempt, arms } = run;
      await out.print(
        run,
        `${plan}  ${challenge} on ${fixture} epoch ${epoch} attempt ${attempt}: ${arms.join(', ')}`,
      );
    }
  },
});
