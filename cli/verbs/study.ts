/** `study`: registers a study file: the record, the checkpoint that covers it, and its plans. */
import { resolve } from 'node:path';
import { keepC0 } from '../../daemon/decide/register.ts';
import { designOfStudy } from '../../daemon/freeze/design.ts';
import { freezeStudy } from '../../daemon/freeze/study.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { viewOf } from '../../daemon/view.ts';
import { designText } from '../../rules/report/comparison.ts';
import { viewAs } from '../../rules/runs.ts';
import { HOST_FLAG, type HostFlag, studyInputs } from '../studies.ts';
import { storeVerb, word } from '../verb.ts';

export const command = storeVerb<HostFlag, [file: string]>({
  access: 'write',
  example: 'ashlar study challenges/studies/demo.json',
  about:
    'Prints the CID of the study and names it study/<id>. What it relies on must be frozen, certified and validated first:\na study whose plans could not run is refused with everything that is wrong. What is registered stays registered: it\nstands in a log of its own, signed before anything runs.',
  flags: { host: HOST_FLAG },
  args: { kind: 'tuple', parameters: [word('FILE', 'The study as JSON')] },
  async run({ out, cwd }, store, flags, file) {
    const trigger = openTrigger(store);
    await trigger.settle();
    const cid = await freezeStudy(await studyInputs(store, flags), resolve(cwd, file));
    // If we die before the checkpoint, registering the same file again makes it.
    await keepC0(store, cid);
    const { id } = await viewAs('study', cid, viewOf(store));
    await store.setName(`study/${id}`, cid);
    await trigger.settle();
    const design = await designOfStudy(cid, viewOf(store));
    for (const test of design.tests) out.note(`${test.id}: ${designText(test)}`);
    await out.print({ cid, name: `study/${id}`, design }, cid);
  },
});
