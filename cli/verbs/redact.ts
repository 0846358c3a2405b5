/** `redact`: what redaction takes out of a folder, or took out of a source. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { viewOf } from '../../daemon/view.ts';
import { matcher, parseRedactionPolicy } from '../../rules/redact/match.ts';
import { REDACTION_POLICY } from '../../rules/redact/patterns-v1.ts';
import { redactTree, redactV1 } from '../../rules/redact/v1.ts';
import { derivedBy, viewAs } from '../../rules/runs.ts';
import { folderToTree, treeToFolder } from '../../store/folder.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { checkTarget } from '../../store/target.ts';
import { recordOf } from '../objects.ts';
import { type StoreFlag, withStore } from '../open.ts';
import type { Out } from '../output.ts';
import { type RedactionParts, redactionLines } from '../redactions.ts';
import { withScratch } from '../scratch.ts';
import { STORE_FLAG, text, verb, word } from '../verb.ts';

type Flags = StoreFlag & { readonly out?: string };

export const command = verb<Flags, [what: string]>({
  example: 'ashlar redact .',
  about:
    'A folder needs no store and is not changed. A source, redaction or corpus is looked up in the store.',
  flags: { store: STORE_FLAG, out: text('Write the redacted folder here; new or empty', 'FOLDER') },
  args: { kind: 'tuple', parameters: [word('FOLDER|OBJECT', 'A folder, or a source, redaction or corpus')] },
  async run(cli, flags, what) {
    const folder = resolve(cli.cwd, what);
    const target = flags.out === undefined ? undefined : resolve(cli.cwd, flags.out);
    const found = await stat(folder).catch(() => undefined);
    if (found?.isDirectory() === true)
      return withScratch((store) => redactFolder(cli.out, store, folder, target));
    if (flags.out !== undefined)
      fail('E_USAGE', { where: '--out', wanted: 'a folder to redact', found: what });
    await withStore(cli, flags, 'read', async (store) => printAll(cli.out, await recorded(store, what)));
  },
});

async function redactFolder(
  out: Out,
  store: Store,
  folder: string,
  target: string | undefined,
): Promise<void> {
  if (target !== undefined) await checkTarget(target, { orEmpty: true });
  const { tree, mode } = await folderToTree(folder, store.put);
  const patterns = matcher(parseRedactionPolicy(REDACTION_POLICY.bytes));
  const clean = await redactTree(tree, patterns, 'sha1', { reader: store, emit: store.put });
  if (target !== undefined) await treeToFolder(store, clean.tree['/'], target, { mode });
  await printAll(out, clean);
}

async function recorded(store: Store, what: string): Promise<RedactionParts> {
  const view = viewOf(store);
  const cid = await recordOf(store, what, 'source', 'redaction', 'corpus');
  const record = await view.record(cid);
  const redaction =
    record.kind === 'corpus' && 'redaction' in record
      ? record.redaction['/']
      : record.kind === 'source'
        ? (await derivedBy(redactV1, cid, view))?.cid
        : cid;
  if (redaction === undefined) fail('E_NOT_FOUND', { where: what, wanted: 'a redaction' });
  const value = await viewAs('redaction', redaction, view);
  if (!('removed' in value))
    fail('E_GATE', { where: redaction, wanted: 'a redaction', found: value.refused.detail });
  return value;
}

async function printAll(out: Out, redaction: RedactionParts): Promise<void> {
  for (const { text, ...data } of redactionLines(redaction)) await out.print(data, text);
}
