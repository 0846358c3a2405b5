/** `release`: publishes a close as a folder that anybody can verify. */
import { resolve } from 'node:path';
import { releaseTo } from '../../daemon/release/write.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { recordOf } from '../objects.ts';
import { needed, storeVerb, word } from '../verb.ts';

export const command = storeVerb<{ readonly out: string }, [close: string]>({
  access: 'write',
  example: 'ashlar release CLOSE --out release && ashlar verify release',
  about:
    'A close has one release: released again, it is the same one, written to another folder or where it was lost. A page\nthat was bound since makes another.',
  flags: { out: needed('Folder to write; new or empty', 'FOLDER') },
  args: { kind: 'tuple', parameters: [word('CLOSE', 'By CID or name')] },
  async run({ out, cwd }, store, flags, close) {
    const folder = resolve(cwd, flags.out);
    const cid = await recordOf(store, close, 'close');
    const release = await releaseTo(store, openTrigger(store), cid, folder);
    await out.print({ release, folder }, release);
  },
});
