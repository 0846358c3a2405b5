/** `override`: a decision against the mechanical one; results are printed with and without it. */
import { overrideReceipt } from '../../daemon/decide/one.ts';
import { fail } from '../../store/format/errors.ts';
import { recordOf } from '../objects.ts';
import { byWhom, RUN_DECISION_FLAGS, type RunDecisionFlags } from '../studies.ts';
import { needed, storeVerb, word } from '../verb.ts';

type Flags = RunDecisionFlags & { readonly decision: string };

export const command = storeVerb<Flags, [receipt: string]>({
  access: 'write',
  example: `ashlar override RECEIPT --decision excluded --who ann --why 'the clock of the host was wrong'`,
  flags: { decision: needed('admitted or excluded', 'DECISION'), ...RUN_DECISION_FLAGS },
  args: { kind: 'tuple', parameters: [word('RECEIPT', 'By CID or name')] },
  async run({ out }, store, flags, receipt) {
    const { decision } = flags;
    if (decision !== 'admitted' && decision !== 'excluded')
      fail('E_USAGE', { where: '--decision', wanted: 'admitted or excluded', found: decision });
    const cid = await recordOf(store, receipt, 'receipt');
    const override = await overrideReceipt(store, cid, decision, byWhom(flags));
    await out.print({ override }, override);
  },
});
