/** `report`: the summary of a close, in words; with a page, after its numbers are bound. */
import { writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type Claimed, claimPage } from '../../daemon/decide/claims.ts';
import { reportClose } from '../../daemon/decide/close.ts';
import { openTrigger, type Trigger } from '../../daemon/trigger.ts';
import { viewOf } from '../../daemon/view.ts';
import { viewAs } from '../../rules/runs.ts';
import { readBounded } from '../../store/bounded.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { openFolderTarget } from '../../store/target.ts';
import { recordOf } from '../objects.ts';
import { storeVerb, text, toggle, word } from '../verb.ts';

type Flags = {
  readonly html?: boolean;
  readonly markdown?: boolean;
  readonly out?: string;
  readonly page?: string;
  readonly who?: string;
  readonly why?: string;
};

export const command = storeVerb<Flags, [close: string]>({
  access: 'write',
  example: 'ashlar report CLOSE\nashlar report CLOSE --html > report.html',
  about: `A page is Markdown whose numbers stand between marks, each naming a field of the summary:
  <!-- claim: summary /comparisons/0/difference as difference --><!-- /claim -->
An empty one is filled; one that says something must say what the record says; a number without marks is refused.`,
  flags: {
    html: toggle('Print it as one HTML page'),
    markdown: toggle('Print it as Markdown'),
    out: text('Write every form of the report, and the page, into this new or empty folder', 'FOLDER'),
    page: text('Results page to bind; it is published with the release', 'FILE'),
    who: text('Who claims what the page says', 'NAME'),
    why: text('Why', 'SENTENCE'),
  },
  args: { kind: 'tuple', parameters: [word('CLOSE', 'By CID or name')] },
  async run({ out, cwd }, store, flags, close) {
    const form = formOf(flags);
    const cid = await recordOf(store, close, 'close');
    // A folder that cannot be written is found before a claim is made.
    const folder = flags.out === undefined ? undefined : await openFolderTarget(resolve(cwd, flags.out));
    try {
      const trigger = openTrigger(store);
      const page = flags.page === undefined ? undefined : { file: resolve(cwd, flags.page), ...flags };
      const claimed = page && (await claim(store, trigger, cid, page));
      const { summary, report } = await reportClose(store, trigger, cid);
      const outputs = await outputsOf(store, report);
      if (folder !== undefined) await write(store, { outputs, claimed }, folder.part);
      await folder?.commit();
      const shown = await printedIn(store, outputs, form);
      const claims = claimed?.claims ?? [];
      await out.print({ close: cid, summary, report, claims, outputs, text: shown }, shown.trimEnd());
    } finally {
      await folder?.discard();
    }
  },
});

function formOf({ html, markdown }: Flags): string {
  if (html === true && markdown === true) fail('E_USAGE', { wanted: '--html or --markdown', found: 'both' });
  return html === true ? 'report.html' : markdown === true ? 'report.md' : 'report.txt';
}

/** Longest results page (bytes). */
const PAGE_BYTES = 16 << 20;

interface AskedPage extends Pick<Flags, 'who' | 'why'> {
  readonly file: string;
}

async function claim(store: Store, trigger: Trigger, close: Cid, { file, who, why }: AskedPage) {
  const hint = 'A claim is a decision of a person';
  if (who === undefined || why === undefined)
    fail('E_USAGE', { where: '--page', wanted: '--who and --why', hint });
  const bytes = await readBounded(file, { max: PAGE_BYTES, wanted: 'a results page' });
  const name = basename(file);
  const { summary, report } = await reportClose(store, trigger, close);
  if ((await outputsOf(store, report)).some((output) => output.name === name))
    fail('E_USAGE', { where: '--page', wanted: 'a name that no form of the report has', found: name });
  const page = { name, text: Buffer.from(bytes).toString('utf8'), who, why };
  return { name, ...(await claimPage(store, close, summary, page)) };
}

type Outputs = Awaited<ReturnType<typeof outputsOf>>;

async function outputsOf(store: Store, report: Cid) {
  const value = await viewAs('report', report, viewOf(store));
  if (!('outputs' in value))
    fail('E_GATE', { where: report, wanted: 'a report', found: value.refused.detail });
  return value.outputs;
}

async function printedIn(store: Store, outputs: Outputs, form: string): Promise<string> {
  const output = outputs.find(({ name }) => name === form);
  if (output === undefined) fail('E_INTERNAL', { where: 'report', wanted: form });
  return Buffer.from(await store.get(output.bytes['/'])).toString('utf8');
}

interface Written {
  readonly outputs: Outputs;
  readonly claimed: (Claimed & { readonly name: string }) | undefined;
}

async function write(store: Store, { outputs, claimed }: Written, folder: string): Promise<void> {
  for (const { name, bytes } of outputs)
    await writeFile(join(folder, name), await store.get(bytes['/']), { flag: 'wx' });
  if (claimed !== undefined) await writeFile(join(folder, claimed.name), claimed.text, { flag: 'wx' });
}
