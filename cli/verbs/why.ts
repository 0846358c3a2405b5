/** `why`: why something runs, or does not: one reason of a closed list. */
import { REASONS, why } from '../../daemon/why.ts';
import { objectOf } from '../objects.ts';
import { storeVerb, word } from '../verb.ts';

export const command = storeVerb<Record<never, never>, [object: string]>({
  access: 'read',
  example: 'ashlar why study/demo',
  about: `Reasons: ${REASONS.join(', ')}.`,
  flags: {},
  args: { kind: 'tuple', parameters: [word('OBJECT', 'A plan or a study, by CID or name')] },
  async run({ out }, store, _flags, object) {
    for (const answer of await why(store, await objectOf(store, object))) {
      const { subject, reason, detail } = answer;
      await out.print(answer, `${reason.padEnd(18)} ${subject}  ${detail}`);
    }
  },
});
