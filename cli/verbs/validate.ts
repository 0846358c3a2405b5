/** `validate`: every solution of a challenge, graded as an agent's workspace would be. */
import { validate } from '../../daemon/validate.ts';
import { viewOf } from '../../daemon/view.ts';
import type { Challenge } from '../../rules/contracts/challenge.ts';
import type { Verdict } from '../../rules/contracts/receipt.ts';
import { viewAs } from '../../rules/runs.ts';
import { fail } from '../../store/format/errors.ts';
import { catalogued, HOST_FLAG, type HostFlag, withEngine } from '../studies.ts';
import { amount, storeVerb, word } from '../verb.ts';

type Flags = HostFlag & { readonly repeats?: number };

/** What came out otherwise than the challenge says, tag by tag. */
function differs({ expected, reward }: Challenge['solutions'][number], verdict: Verdict): string {
  const tags = (['func', 'lesson', 'diag'] as const)
    .filter((tag) => expected[tag] !== verdict.byTag[tag])
    .map((tag) => `${tag} is ${verdict.byTag[tag]}, expected ${expected[tag]}`);
  if (tags.length > 0) return `: ${tags.join('; ')}`;
  return `: reward is ${verdict.reward}, expected ${reward}`;
}

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
        const named = subjects.challenge.value.solutions.find(({ name }) => name === solution);
        const other = `  ${cli.out.style('red', 'NOT AS EXPECTED')}${named === undefined ? '' : differs(named, verdict)}`;
        const line = `${solution.padEnd(16)} reward ${verdict.reward} (${verdict.reason})${asExpected ? '' : other}`;
        cli.out.say({ event: 'validated', cid, solution, repeat, asExpected, ...verdict }, line);
      }
    });
    if (wrong > 0)
      fail('E_GATE', { where: challenge, wanted: 'every solution as expected', found: `${wrong} not` });
  },
});
