/** `log`: the logs of a store, the leaves of one, or its signed checkpoint. */
import { parseRecord } from '../../rules/contracts/table.ts';
import { fail } from '../../store/format/errors.ts';
import type { LogInfo, Store } from '../../store/store.ts';
import { recordOf } from '../objects.ts';
import { maybe, storeVerb, toggle } from '../verb.ts';

type Flags = { readonly checkpoint?: boolean; readonly key?: boolean };

export const command = storeVerb<Flags, [which?: string]>({
  access: 'read',
  example: 'ashlar log\nashlar log store',
  about:
    'A study has a log of its own family; every other record stands in the log `store`, which is never published.',
  flags: {
    checkpoint: toggle('Print the signed checkpoint over all leaves instead'),
    key: toggle('Print the verifier key alone: what `verify --policy` takes'),
  },
  args: { kind: 'tuple', parameters: [maybe('STUDY', 'A study of the family by CID or name, or `store`')] },
  async run({ out }, store, { checkpoint, key }, which) {
    if (which === undefined) {
      for (const log of await store.logs.list()) await out.print(log, lineOf(log));
      return;
    }
    const { origin, vkey } = await logOf(store, which);
    if (key === true) return out.print({ origin, vkey }, vkey);
    if (checkpoint === true) {
      const note = Buffer.from(await store.logs.checkpoint(origin)).toString('utf8');
      return out.print({ origin, checkpoint: note }, note.trimEnd());
    }
    let index = 0;
    for await (const { kind, cid, at } of store.logs.leaves(origin)) {
      await out.print(
        { index, kind, cid, at },
        `${String(index).padStart(6)}  ${at}  ${kind.padEnd(15)} ${cid}`,
      );
      index += 1;
    }
  },
});

const lineOf = ({ origin, size, writable, vkey }: LogInfo) =>
  `${String(size).padStart(6)}  ${writable ? 'ours  ' : 'pulled'}  ${origin}\n        ${vkey}`;

async function logOf(store: Store, which: string): Promise<LogInfo> {
  if (which === 'store') {
    const log = (await store.logs.list()).find(({ family }) => family === null);
    return log ?? fail('E_NOT_FOUND', { where: which, wanted: 'a log with leaves' });
  }
  const cid = await recordOf(store, which, 'study');
  const study = parseRecord(await store.value(cid));
  const first = (study.kind === 'study' ? study.family?.['/'] : undefined) ?? cid;
  return (await store.logs.ofFamily(first)) ?? fail('E_NOT_FOUND', { where: which, wanted: 'a family log' });
}
