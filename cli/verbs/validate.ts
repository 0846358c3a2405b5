/** `validate`: every solution of a challenge, graded as an agent's workspace would be. */
import { validate } from '../../daemon/validate.ts';
import { viewOf } from '../../daemon/view.ts';
import { viewAs } from '../../rules/runs.ts';
import { fail } from '../../store/format/errors.ts';
import { catalogued, HOST_FLAG, type HostFlag, withEngine } from '../studies.ts';
import { amount, storeVerb, word } from '../verb.ts';

type Flags = HostFlag & { readonly repeats?: number };

export const command = storeVerb<Flags, [challenge: string, fixture: string]>({
  access: 'write',
  example: 'ashlar validate late-departure-memory-only quayside-surcharges --repeats 2',
  about:
    'No model and no agent takes part. Exit status 5 when a solution did not come out as the challenge says.',
  flags: { host: HOST_FLAG, repeats: amount('Times that each solution is run; 1 unless said') },
  args: {
    kind: 'tuple',
    parameters: [word('CHALLENGE', 'By CID, name or id'), word('FIXTURE', 'By CID, name or id')],
  },
  async run(cli, store, flags, challenge, fixture) {
    const view = viewOf(store);
    const [asked, beside] = [
      await catalogued(store, 'challenge', challenge),
      await catalogued(store, 'fixture', fixture),
    ];
    const subjects = {
      challenge: { cid: asked, value: await viewAs('challenge', asked, view) },
      fixture: { cid: beside, value: await viewAs('fixture', beside, view) },
    };
    let wrong = 0;
    await withEngine(cli, store, flags, async ({ executor, images, owner }) => {
      const matrix = { store, executor, images, owner, ...subjects, repeats: flags.repeats ?? 1 };
      for await (const { cid, solution, repeat, verdict, asExpected } of validate(matrix)) {
        if (!asExpected) wrong += 1;
        const line = `${solution.padEnd(16)} reward ${verdict.reward} (${verdict.reason})${asExpected ? '' : `  ${cli.out.style('red', 'NOT AS EXPECTED')}`}`;
        cli.out.say({ event: 'validated', cid, solution, repeat, asExpected, ...verdict }, line);
      }
    });
    if (wrong > 0)
      fail('E_GATE', { where: challenge, wanted: 'every solution as expected', found: `${wrong} not` });
  },
});
