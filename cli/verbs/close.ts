/** `close`: a study's log up to here is what results are computed from. */
import { closeFamily } from '../../daemon/decide/close.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { DECISION_FLAGS, type DecisionFlags, familyMeant } from '../studies.ts';
import { maybe, storeVerb } from '../verb.ts';

export const command = storeVerb<DecisionFlags, [study?: string]>({
  access: 'write',
  example: `ashlar close study/demo --who ann --why 'every plan is done'`,
  about: 'Prints the CID of the close. A later close of the same study covers more; none is ever changed.',
  flags: DECISION_FLAGS,
  args: { kind: 'tuple', parameters: [maybe('STUDY', 'By CID or name; may be left out where there is one')] },
  async run({ out }, store, { who, why }, study) {
    const trigger = openTrigger(store);
    await trigger.settle();
    const close = await closeFamily(store, await familyMeant(store, study), { who, why });
    await trigger.settle();
    await out.print({ close }, close);
  },
});
