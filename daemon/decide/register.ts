/**
 * Registration: a study's leaf, and at once the checkpoint C0 that covers it and stands before every start.
 * If we die between the two, registering again takes a later checkpoint; the verifier tells whether a start came first.
 */
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { familyOf } from '../family.ts';

const nameOf = (family: Cid): string => `c0/${family}`;

/** Signs and keeps C0 of a study that was just recorded. Idempotent. Throws E_LOG_KEY. */
export async function keepC0(store: Store, study: Cid): Promise<void> {
  const family = await familyOf(store, study);
  if ((await store.name(nameOf(family))) !== null) return;
  const log = await store.logs.ofFamily(family);
  if (log === null) fail('E_NOT_FOUND', { where: family, wanted: 'a family log' });
  const c0 = await store.put(await store.logs.checkpoint(log.origin, 1));
  await store.setName(nameOf(family), c0);
}

/** The bytes of C0. Throws E_NOT_FOUND. */
export async function c0Of(store: Store, family: Cid): Promise<Uint8Array> {
  const head = await store.name(nameOf(family));
  if (head?.target == null)
    fail('E_NOT_FOUND', { where: nameOf(family), wanted: 'the checkpoint C0', found: 'none' });
  return store.get(head.target);
}
