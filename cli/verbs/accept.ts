/** `accept`: lets one content finding of `patch-or-diff` stand. */
import { acceptFinding } from '../../daemon/decide/accept.ts';
import { recordOf } from '../objects.ts';
import { DECISION_FLAGS, type DecisionFlags } from '../studies.ts';
import { needed, storeVerb, word } from '../verb.ts';

type Flags = DecisionFlags & { readonly surface: string; readonly path: string };

export const command = storeVerb<Flags, [certificate: string]>({
  access: 'write',
  example: `ashlar accept CERTIFICATE --surface corpus --path docs/patches.md --who ann --why 'an example in the manual'`,
  about:
    'It holds for exactly this content. A study relies on the acceptances that stand when it is registered.',
  flags: {
    surface: needed('Surface of the finding', 'NAME'),
    path: needed('Path of the finding', 'PATH'),
    ...DECISION_FLAGS,
  },
  args: { kind: 'tuple', parameters: [word('CERTIFICATE', 'By CID or name')] },
  async run({ out }, store, { surface, path, who, why }, certificate) {
    const cid = await recordOf(store, certificate, 'certificate');
    for (const acceptance of await acceptFinding(store, cid, { surface, path, who, why }))
      await out.print({ acceptance }, acceptance);
  },
});
