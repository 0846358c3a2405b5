/** `audit`: every difference between two folders or snapshots, or those of a run. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { viewOf } from '../../daemon/view.ts';
import { mutationsBetween } from '../../rules/audit/v1.ts';
import type { Mutation } from '../../rules/contracts/audit.ts';
import { viewAs } from '../../rules/runs.ts';
import { folderToTree } from '../../store/folder.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { parsePortable } from '../../store/format/path.ts';
import { parseSnapshot, printPath } from '../../store/format/tree.ts';
import type { Store } from '../../store/store.ts';
import { objectOf, recordOf } from '../objects.ts';
import { type StoreFlag, withStore } from '../open.ts';
import { oneLine } from '../printable.ts';
import { withScratch } from '../scratch.ts';
import { type Cli, maybe, STORE_FLAG, several, verb, word } from '../verb.ts';

type Flags = StoreFlag & { readonly allow?: readonly string[] };

export const command = verb<Flags, [before: string, after?: string]>({
  example: 'ashlar audit before after --allow src',
  about:
    'Two folders need no store. With one argument: the audit of a receipt. Exit status 5 when anything outside the allowed\npaths was changed; without --allow nothing is allowed.',
  flags: {
    store: STORE_FLAG,
    allow: several('Path that may change, with all below it; can stand several times', 'PATH'),
  },
  args: {
    kind: 'tuple',
    parameters: [
      word('BEFORE|RECEIPT', 'A folder, a snapshot, a receipt or an audit'),
      maybe('AFTER', 'A folder, where BEFORE is one; or a snapshot'),
    ],
  },
  async run(cli, flags, before, after) {
    const allowed = (flags.allow ?? []).map((path) => parsePortable(path));
    if (after === undefined)
      return withStore(cli, flags, 'read', async (store) => printAll(cli, await ofRun(store, before)));
    const folders = (await isFolder(cli, before)) && (await isFolder(cli, after));
    const between = async (store: Store, name: (text: string) => Promise<Cid>) => {
      const read = async (text: string) => parseSnapshot(await store.get(await name(text)));
      return printAll(cli, await mutationsBetween(await read(before), await read(after), allowed, store));
    };
    if (!folders)
      return withStore(cli, flags, 'read', (store) => between(store, (text) => objectOf(store, text)));
    const stored = async (store: Store, text: string) =>
      (await folderToTree(resolve(cli.cwd, text), store.put)).snapshot;
    return withScratch((store) => between(store, (text) => stored(store, text)));
  },
});

async function isFolder({ cwd }: Cli, path: string): Promise<boolean> {
  return (await stat(resolve(cwd, path)).catch(() => undefined))?.isDirectory() ?? false;
}

async function ofRun(store: Store, text: string): Promise<readonly Mutation[]> {
  const view = viewOf(store);
  const cid = await recordOf(store, text, 'receipt', 'audit');
  const record = await view.record(cid);
  const audit = record.kind === 'receipt' ? record.audit?.['/'] : cid;
  if (audit === undefined)
    fail('E_NOT_FOUND', { where: text, wanted: 'an audit', found: 'a run that got none' });
  const value = await viewAs('audit', audit, view);
  if (!('mutations' in value))
    fail('E_GATE', { where: audit, wanted: 'an audit', found: value.refused.detail });
  return value.mutations;
}

async function printAll({ out }: Cli, mutations: readonly Mutation[]): Promise<void> {
  for (const { path, change, inside } of mutations) {
    const printed = printPath(path) || '.';
    const where = inside ? 'inside ' : out.style('red', 'OUTSIDE');
    await out.print({ path: printed, change, inside }, `${where} ${change.padEnd(8)} ${oneLine(printed)}`);
  }
  const outside = mutations.filter(({ inside }) => !inside).length;
  if (outside > 0) fail('E_GATE', { where: 'audit', wanted: 'no change outside', found: String(outside) });
}
