/** `name`: the names of a store; reading, setting and withdrawing one. */
import { parseCid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { NameHead, Store } from '../../store/store.ts';
import { objectOf } from '../objects.ts';
import { type Access, type StoreFlag, withStore } from '../open.ts';
import { maybe, STORE_FLAG, text, toggle, verb } from '../verb.ts';

type Flags = StoreFlag & {
  readonly withdraw?: boolean;
  readonly previous?: string;
};

export const command = verb<Flags, [name?: string, object?: string]>({
  example:
    'ashlar name notes/today bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy\nashlar name notes/today',
  flags: {
    store: STORE_FLAG,
    withdraw: toggle('Withdraw the name'),
    previous: text('Refuse unless this name record is the head (`none`: there is no head)', 'CID'),
  },
  args: {
    kind: 'tuple',
    parameters: [maybe('NAME', 'Up to 8 segments'), maybe('OBJECT', 'CID, sha256:<hex> or another name')],
  },
  run(cli, flags, name, object) {
    const changes = object !== undefined || flags.withdraw === true;
    const access: Access = changes ? 'write' : 'read';
    return withStore(cli, flags, access, async (store) => {
      if (name === undefined) {
        for await (const head of store.names())
          await cli.out.print(head, `${head.target ?? '-'}  ${head.name}`);
        return;
      }
      const head = changes ? await set(store, flags, name, object) : await store.name(name);
      if (head === null || (head.target === null && !changes))
        fail('E_NOT_FOUND', { where: name, wanted: 'a name of this store' });
      await cli.out.print(head, head.target ?? `${name} is withdrawn`);
    });
  },
});

async function set(store: Store, flags: Flags, name: string, object: string | undefined): Promise<NameHead> {
  if (object !== undefined && flags.withdraw === true)
    fail('E_USAGE', { where: name, wanted: 'an object or --withdraw', found: 'both' });
  // One that is withdrawn already stays so, and saying it again succeeds.
  if (object === undefined && (await store.name(name)) === null)
    fail('E_NOT_FOUND', { where: name, wanted: 'a name of this store' });
  const target = object === undefined ? null : await objectOf(store, object);
  if (target !== null && !(await store.has(target))) fail('E_NOT_FOUND', { where: object ?? name });
  if (flags.previous === undefined) return store.setName(name, target);
  return store.setName(name, target, flags.previous === 'none' ? null : parseCid(flags.previous));
}
