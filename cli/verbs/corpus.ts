/** `corpus`: a Git commit -> source, redaction and corpus records. */
import { resolve } from 'node:path';
import { importCorpus } from '../../daemon/freeze/corpus.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { viewOf } from '../../daemon/view.ts';
import { viewAs } from '../../rules/runs.ts';
import { checkName } from '../../store/names.ts';
import { redactionLines } from '../redactions.ts';
import { storeVerb, text, word } from '../verb.ts';

type Flags = { readonly url?: string; readonly name?: string };

export const command = storeVerb<Flags, [repository: string, commit: string]>({
  access: 'write',
  example: 'ashlar corpus . "$(git rev-parse HEAD)" --name corpus/mine',
  about:
    "Reads Git objects alone, each re-hashed; takes out what agents load by themselves, for every arm alike; and checks\nthat the commit's own tree id can be had back from what is left and what was removed.",
  flags: {
    url: text('Public address of the repository; never a path', 'URL'),
    name: text('Point this name at it', 'NAME'),
  },
  args: {
    kind: 'tuple',
    parameters: [word('REPOSITORY', 'Folder of a Git repository'), word('COMMIT', 'Full commit id')],
  },
  async run({ out, cwd }, store, { url, name }, repository, commit) {
    if (name !== undefined) checkName(name);
    const asked = { repository: resolve(cwd, repository), commit, ...(url === undefined ? {} : { url }) };
    const made = await importCorpus(store, openTrigger(store), asked);
    if (name !== undefined) await store.setName(name, made.corpus);
    const redaction = await viewAs('redaction', made.redaction, viewOf(store));
    const lines = 'removed' in redaction ? redactionLines(redaction) : [];
    const cids = Object.entries(made).map(([kind, cid]) => `${kind.padEnd(10)} ${cid}`);
    await out.print({ ...made, redacted: lines }, [...cids, ...lines.map(({ text }) => text)].join('\n'));
  },
});
