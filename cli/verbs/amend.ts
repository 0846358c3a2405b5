/** `amend`: what may still be said about a registered study, as a dated record of its log. */
import { dirname, resolve } from 'node:path';
import { addWords, amendStudy, type By, deviate, excludeTask } from '../../daemon/decide/amend.ts';
import { readAuthored } from '../../daemon/freeze/authored.ts';
import { authoredStudy } from '../../daemon/freeze/study.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { recordOf } from '../objects.ts';
import {
  catalogued,
  DECISION_FLAGS,
  type DecisionFlags,
  familyMeant,
  HOST_FLAG,
  type HostFlag,
  studyInputs,
} from '../studies.ts';
import { type Cli, maybe, storeVerb, text, word } from '../verb.ts';

type Flags = DecisionFlags & HostFlag & { readonly run?: string };

export const command = storeVerb<Flags, [kind: string, what: string, study?: string]>({
  access: 'write',
  example: `ashlar amend amendment study-2.json --who ann --why 'one more epoch: two runs were lost'\nashlar amend deviation 'The host slept for an hour' --run RECEIPT --who ann --why 'seen in the journal'`,
  about:
    'KIND and WHAT: amendment FILE puts another version of the study in force; addendum TEXT adds words; exclusion CHALLENGE\ntakes a task out: these stand before the runs that they govern. deviation TEXT says what went otherwise than registered,\nbefore the next close. What comes too late is refused. Reports print them in the order of the log.',
  flags: {
    ...DECISION_FLAGS,
    host: HOST_FLAG,
    run: text('deviation: the start or receipt that it is about', 'CID'),
  },
  args: {
    kind: 'tuple',
    parameters: [
      word('KIND', 'amendment, addendum, exclusion or deviation'),
      word('WHAT', 'The new study file, a text, or a challenge'),
      maybe('STUDY', 'By CID or name; may be left out where there is one'),
    ],
  },
  async run(cli, store, flags, kind, what, study) {
    const amend = Object.hasOwn(KINDS, kind) ? KINDS[kind as keyof typeof KINDS] : undefined;
    if (amend === undefined)
      fail('E_USAGE', { where: 'KIND', wanted: Object.keys(KINDS).join(', '), found: kind });
    if (flags.run !== undefined && kind !== 'deviation')
      fail('E_USAGE', { where: '--run', wanted: 'a deviation', found: kind });
    const trigger = openTrigger(store);
    await trigger.settle();
    const { who, why } = flags;
    const family = await familyMeant(store, study);
    const { cid, note, ...data } = await amend({ cli, store, flags, what, family, by: { who, why } });
    await trigger.settle();
    if (note !== undefined) cli.out.note(note);
    await cli.out.print({ kind, cid, ...data }, cid);
  },
});

interface Given {
  readonly cli: Cli;
  readonly store: Store;
  readonly flags: Flags;
  readonly what: string;
  readonly family: Cid;
  readonly by: By;
}

interface Done {
  readonly cid: Cid;
  readonly note?: string;
}

const KINDS: Readonly<
  Record<'amendment' | 'addendum' | 'exclusion' | 'deviation', (given: Given) => Promise<Done>>
> = {
  amendment: amendment,
  addendum: async ({ store, family, what, by }) => ({ cid: await addWords(store, family, what, by) }),
  exclusion: async ({ store, family, what, by }) => ({
    cid: await excludeTask(store, family, await catalogued(store, 'challenge', what), by),
  }),
  deviation: async ({ store, flags, family, what, by }) => {
    const run = flags.run === undefined ? {} : { run: await recordOf(store, flags.run, 'start', 'receipt') };
    return { cid: await deviate(store, family, { what, ...run }, by) };
  },
};

async function amendment({ cli, store, flags, what, family, by }: Given) {
  const file = resolve(cli.cwd, what);
  const version = { read: await readAuthored(file, authoredStudy), folder: dirname(file) };
  const amended = await amendStudy(await studyInputs(store, flags), family, version, by);
  const { amendment: cid, study, changed, plans } = amended;
  await store.setName(`study/${version.read.id}`, study);
  const { stay, added, withdrawn } = plans;
  const note = `changes ${changed.join(', ')}; plans: ${stay} stay, ${added} added, ${withdrawn} withdrawn`;
  return { cid, note, study, changed, plans };
}
