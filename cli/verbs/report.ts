/** `report`: the summary of a close, in words; with a page, after its numbers are bound. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { claimPage } from '../../daemon/decide/claims.ts';
import { reportClose } from '../../daemon/decide/close.ts';
import { openTrigger, type Trigger } from '../../daemon/trigger.ts';
import { viewOf } from '../../daemon/view.ts';
import { viewAs } from '../../rules/runs.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { recordOf } from '../objects.ts';
import { storeVerb, text, word } from '../verb.ts';

type Flags = { readonly out?: string; readonly page?: string; readonly who?: string; readonly why?: string };

export const command = storeVerb<Flags, [close: string]>({
  access: 'write',
  example: 'ashlar report CLOSE',
  about: `A page is Markdown whose numbers stand between marks, each naming a field of the summary:
  <!-- claim: summary /comparisons/0/difference as difference --><!-- /claim -->
An empty one is filled; one that says something must say what the record says; a number without marks is refused.`,
  flags: {
    out: text('Write every form of the report, and the page, into this new folder', 'FOLDER'),
    page: text('Results page to bind; it is published with the release', 'FILE'),
    who: text('Who claims what the page says', 'NAME'),
    why: text('Why', 'SENTENCE'),
  },
  args: { kind: 'tuple', parameters: [word('CLOSE', 'By CID or name')] },
  async run({ out, cwd }, store, flags, close) {
    const cid = await recordOf(store, close, 'close');
    const trigger = openTrigger(store);
    const claimed =
      flags.page === undefined
        ? undefined
        : await claim(store, trigger, cid, resolve(cwd, flags.page), flags);
    const { summary, report } = await reportClose(store, trigger, cid);
    const outputs = await outputsOf(store, report);
    if (flags.out !== undefined) await write(store, outputs, resolve(cwd, flags.out));
    if (flags.out !== undefined && claimed !== undefined)
      await writeFile(join(resolve(cwd, flags.out), claimed.name), claimed.text, { flag: 'wx' });
    const first = outputs.find(({ media }) => media.startsWith('text/plain'));
    const shown = first === undefined ? '' : Buffer.from(await store.get(first.bytes['/'])).toString('utf8');
    await out.print(
      { close: cid, summary, report, claims: claimed?.claims ?? [], outputs, text: shown },
      shown.trimEnd(),
    );
  },
});

async function claim(store: Store, trigger: Trigger, close: Cid, file: string, { who, why }: Flags) {
  if (who === undefined || why === undefined)
    fail('E_USAGE', {
      where: '--page',
      wanted: '--who and --why',
      hint: 'A claim is a decision of a person',
    });
  const { summary } = await reportClose(store, trigger, close);
  const bytes = await readFile(file).catch((cause: unknown) =>
    fail('E_NOT_FOUND', { where: file, wanted: 'a results page', cause }),
  );
  const page = { name: basename(file), text: bytes.toString('utf8'), who, why };
  return { name: page.name, ...(await claimPage(store, close, summary, page)) };
}

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
