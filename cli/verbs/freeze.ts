/** `freeze`: a challenge, fixture, condition or agent from its files -> one record with a name. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { freezeChallenge } from '../../daemon/freeze/challenge.ts';
import { putPolicies } from '../../daemon/freeze/corpus.ts';
import { freezeFixture } from '../../daemon/freeze/fixture.ts';
import { freezeAgent, freezeCondition } from '../../daemon/freeze/small.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { viewOf } from '../../daemon/view.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { recordOf } from '../objects.ts';
import { type Cli, storeVerb, text, word } from '../verb.ts';

type Flags = { readonly repositories?: string };

export const command = storeVerb<Flags, [kind: string, path: string]>({
  access: 'write',
  example: 'ashlar freeze challenge challenges/challenges/late-departure-memory-only',
  about:
    'Prints the CID and points a name at it: challenge/<id>, fixture/<id>, condition/<name>, agent/<file>. The same files\ngive the same CID. Certificates that become due are made at once.',
  flags: { repositories: text('For a fixture of a catalogue: where its repositories are', 'FOLDER') },
  args: {
    kind: 'tuple',
    parameters: [
      word('KIND', 'challenge, fixture, condition or agent'),
      word('PATH', 'Folder of a challenge or fixture, file of a condition or agent'),
    ],
  },
  async run(cli, store, flags, kind, path) {
    const freeze = Object.hasOwn(FREEZERS, kind) ? FREEZERS[kind as keyof typeof FREEZERS] : undefined;
    if (freeze === undefined) fail('E_USAGE', { wanted: Object.keys(FREEZERS).join(', '), found: kind });
    await putPolicies(store);
    const trigger = openTrigger(store);
    const at = resolve(cli.cwd, path);
    const cid = await freeze({ cli, store, flags, trigger, at });
    const name = `${kind}/${await labelOf(store, cid, at)}`;
    await store.setName(name, cid);
    await trigger.settle();
    await cli.out.print({ kind, cid, name }, cid);
  },
});

interface Given {
  readonly cli: Cli;
  readonly store: Store;
  readonly flags: Flags;
  readonly trigger: ReturnType<typeof openTrigger>;
  readonly at: string;
}

const FREEZERS = {
  challenge: ({ store, at }: Given) => freezeChallenge(store, at),
  fixture: ({ cli, store, flags, trigger, at }: Given) => {
    const beside = flags.repositories ?? join(at, '../../repositories');
    const repositories = resolve(cli.cwd, beside);
    const found = flags.repositories !== undefined || existsSync(repositories) ? { repositories } : {};
    const corpus = (name: string) => recordOf(store, name, 'corpus');
    return freezeFixture({ store, trigger, corpus, ...found }, at);
  },
  condition: ({ store, at }: Given) => freezeCondition(store, at),
  agent: ({ store, at }: Given) => freezeAgent(store, at),
};

async function labelOf(store: Store, cid: Cid, at: string): Promise<string> {
  const record = await viewOf(store).record(cid);
  if (record.kind === 'challenge' || record.kind === 'fixture') return record.id;
  return record.kind === 'condition' ? record.name : basename(at, '.json');
}
