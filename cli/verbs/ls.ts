/** `ls`: how many records of each kind; those of one kind; the entries of a tree. */
import { CONTRACTS, isKind } from '../../rules/contracts/table.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { parseSnapshot, parseTree, printPath } from '../../store/format/tree.ts';
import type { Store } from '../../store/store.ts';
import { collect, objectOf } from '../objects.ts';
import type { Out } from '../output.ts';
import { oneLine } from '../printable.ts';
import { shapeOf } from '../shape.ts';
import { maybe, storeVerb } from '../verb.ts';

export const command = storeVerb<Record<never, never>, [what?: string]>({
  access: 'read',
  example: 'ashlar ls\nashlar ls receipt',
  flags: {},
  args: {
    kind: 'tuple',
    parameters: [maybe('KIND|TREE', 'A kind of record, or a tree or snapshot by CID or name')],
  },
  async run({ out }, store, _flags, what) {
    if (what === undefined) await kinds(out, store);
    else if (isKind(what)) await records(out, store, what);
    else await entries(out, store, await objectOf(store, what));
  },
});

async function kinds(out: Out, store: Store): Promise<void> {
  for (const kind of Object.keys(CONTRACTS)) {
    const count = (await collect(store.byKind(kind))).length;
    if (count > 0) await out.print({ kind, count }, `${String(count).padStart(7)}  ${kind}`);
  }
}

async function records(out: Out, store: Store, kind: string): Promise<void> {
  for await (const cid of store.byKind(kind)) {
    const { at } = (await store.leafOf(cid)) ?? fail('E_INTERNAL', { where: cid, wanted: 'a leaf' });
    await out.print({ cid, kind, at }, `${at}  ${cid}`);
  }
}

async function entries(out: Out, store: Store, cid: Cid): Promise<void> {
  const { shape } = await shapeOf(store, cid);
  if (shape !== 'tree' && shape !== 'snapshot')
    fail('E_KIND', { where: cid, wanted: 'a tree or a snapshot', found: shape });
  const tree = shape === 'tree' ? cid : parseSnapshot(await store.get(cid)).tree['/'];
  for (const entry of parseTree(await store.get(tree)).entries) {
    const shown = 'cid' in entry ? entry.cid['/'] : 'oid' in entry ? entry.oid : '';
    const mode = entry.mode.toString(8).padStart(4, '0');
    await out.print(entry, `${mode} ${entry.type.padEnd(9)} ${shown}  ${oneLine(printPath([entry.name]))}`);
  }
}
