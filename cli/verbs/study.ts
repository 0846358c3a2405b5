/** `study`: registers a study file: the record, the checkpoint that covers it, and its plans. */
import { resolve } from 'node:path';
import { keepC0 } from '../../daemon/decide/register.ts';
import { familyOf, standingOf } from '../../daemon/family.ts';
import { designOfStudy } from '../../daemon/freeze/design.ts';
import { freezeStudy } from '../../daemon/freeze/study.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { viewOf } from '../../daemon/view.ts';
import { designText } from '../../rules/report/comparison.ts';
import { viewAs } from '../../rules/runs.ts';
import { recordOf } from '../objects.ts';
import { storeVerb, word } from '../verb.ts';

export const command = storeVerb<Record<never, never>, [file: string]>({
  access: 'write',
  example: 'ashlar study challenges/studies/demo.json',
  about:
    'Prints the CID of the study and names it study/<id>. What it relies on must be frozen, certified and validated first.\nWhat is registered stays registered: it stands in a log of its own, signed before anything runs.',
  flags: {},
  args: { kind: 'tuple', parameters: [word('FILE', 'The study as JSON')] },
  async run({ out, cwd }, store, _flags, file) {
    const trigger = openTrigger(store);
    await trigger.settle();
    const named = (name: string) =>
      recordOf(store, name, name.startsWith('challenge/') ? 'challenge' : 'fixture');
    const cid = await freezeStudy({ store, named }, resolve(cwd, file));
    // If we die before the checkpoint, registering the same file again makes it.
    await keepC0(store, cid);
    const { id } = await viewAs('study', cid, viewOf(store));
    await store.setName(`study/${id}`, cid);
    await trigger.settle();
    const { refused } = await standingOf(store, await familyOf(store, cid));
    if (refused.length > 0) out.note(`${refused.length} plans cannot run; ashlar why study/${id} says why`);
    const design = await designOfStudy(cid, viewOf(store));
    for (const test of design.tests) out.note(`${test.id}: ${designText(test)}`);
    await out.print({ cid, name: `study/${id}`, design }, cid);
  },
});
