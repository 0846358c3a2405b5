/** `report`: the summary of a close, in words. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { reportClose } from '../../daemon/decide/close.ts';
import { openTrigger } from '../../daemon/trigger.ts';
import { viewOf } from '../../daemon/view.ts';
import { viewAs } from '../../rules/runs.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { recordOf } from '../objects.ts';
import { storeVerb, text, word } from '../verb.ts';

export const command = storeVerb<{ readonly out?: string }, [close: string]>({
  access: 'write',
  example: 'ashlar report CLOSE',
  flags: { out: text('Write every form of the report into this new folder', 'FOLDER') },
  args: { kind: 'tuple', parameters: [word('CLOSE', 'By CID or name')] },
  async run({ out, cwd }, store, flags, close) {
    const cid = await recordOf(store, close, 'close');
    const { summary, report } = await reportClose(store, openTrigger(store), cid);
    const outputs = await outputsOf(store, report);
    if (flags.out !== undefined) await write(store, outputs, resolve(cwd, flags.out));
    const first = outputs.find(({ media }) => media.startsWith('text/plain'));
    const shown = first === undefined ? '' : Buffer.from(await store.get(first.bytes['/'])).toString('utf8');
    await out.print({ close: cid, summary, report, outputs, text: shown }, shown.trimEnd());
  },
});

async function outputsOf(store: Store, report: Cid) {
  const value = await viewAs('report', report, viewOf(store));
  if (!('outputs' in value))
    fail('E_GATE', { where: report, wanted: 'a report', found: value.refused.detail });
  return value.outputs;
}

async function write(
  store: Store,
  outputs: Awaited<ReturnType<typeof outputsOf>>,
  folder: string,
): Promise<void> {
  await mkdir(folder);
  for (const { name, bytes } of outputs)
    await writeFile(join(folder, name), await store.get(bytes['/']), { flag: 'wx' });
}
