/** `release`: publishes a close as a folder that anybody can verify. */
import { resolve } from 'node:path';
import { publish } from '../../daemon/decide/close.ts';
import { writeRelease } from '../../daemon/release/write.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { recordOf } from '../objects.ts';
import { needed, storeVerb, word } from '../verb.ts';

export const command = storeVerb<{ readonly out: string }, [close: string]>({
  access: 'write',
  example: 'ashlar release CLOSE --out release && ashlar verify release',
  flags: { out: needed('Folder to write; must not exist', 'FOLDER') },
  args: { kind: 'tuple', parameters: [word('CLOSE', 'By CID or name')] },
  async run({ out, cwd }, store, flags, close) {
    const folder = resolve(cwd, flags.out);
    const release = await publish(store, openTrigger(store), await recordOf(store, close, 'close'));
    await writeRelease(store, release, folder);
    await out.print({ release, folder }, release);
  },
});
