/** `admit`: which runs count: all of a study by their eligibility alone, or one. */
import { admitEligible } from '../../daemon/decide/admit.ts';
import { admitReceipt } from '../../daemon/decide/one.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { EXCLUSION_REASONS } from '../../rules/contracts/study.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { recordOf } from '../objects.ts';
import { byWhom, familyMeant, RUN_DECISION_FLAGS, type RunDecisionFlags } from '../studies.ts';
import { maybe, storeVerb, text, toggle } from '../verb.ts';

type Reason = (typeof EXCLUSION_REASONS)[number];
type Flags = RunDecisionFlags & { readonly eligible?: boolean; readonly exclude?: string };

export const command = storeVerb<Flags, [subject?: string]>({
  access: 'write',
  example: `ashlar admit --eligible --who ann --why 'mechanical eligibility'`,
  about: `With --eligible, SUBJECT is a study (or left out where there is one), and every undecided run is decided by its\neligibility. Without, SUBJECT is a receipt. Reasons: ${EXCLUSION_REASONS.join(', ')}.`,
  flags: {
    eligible: toggle('Decide every undecided run of a study; outcomes are not looked at'),
    exclude: text('Exclude the receipt for this reason', 'REASON'),
    ...RUN_DECISION_FLAGS,
  },
  args: { kind: 'tuple', parameters: [maybe('SUBJECT', 'A study or a receipt, by CID or name')] },
  async run({ out }, store, flags, subject) {
    await openTrigger(store).settle();
    if (flags.eligible !== true) {
      const admission = await admitSubject(store, flags, subject);
      return out.print({ admission }, admission);
    }
    if (flags.exclude !== undefined) fail('E_USAGE', { wanted: '--eligible or --exclude', found: 'both' });
    const family = await familyMeant(store, subject);
    for (const each of await admitEligible(store, family, byWhom(flags)))
      await out.print(each, `${each.decision.padEnd(8)} ${each.receipt}  ${each.reason ?? ''}`.trimEnd());
  },
});

async function admitSubject(store: Store, flags: Flags, subject: string | undefined) {
  if (subject === undefined) fail('E_USAGE', { wanted: 'a receipt, or --eligible', found: 'nothing' });
  return admitReceipt(
    store,
    await recordOf(store, subject, 'receipt'),
    byWhom(flags),
    reasonOf(flags.exclude),
  );
}

function reasonOf(text: string | undefined): Reason | undefined {
  const found = EXCLUSION_REASONS.find((each) => each === text);
  if (text !== undefined && found === undefined)
    fail('E_USAGE', { where: '--exclude', wanted: EXCLUSION_REASONS.join(', '), found: text });
  return found;
}
