/**
 * C1 and C2: the checkpoints that a close and a release stand under, kept under names of their own (`c1/<close>`,
 * `c2/<release>`), so that what is published once is published the same ever after.
 * Promises: C1 ends with its close; a release written anew has the bytes that it had.
 */
import { openCheckpoint, parseCheckpoint } from '../../store/format/checkpoint.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail, isFault } from '../../store/format/errors.ts';
import { parseNote, parseVerifierKey } from '../../store/format/note.ts';
import type { Store } from '../../store/store.ts';

const nameOfC1 = (close: Cid): string => `c1/${close}`;

/** Signs and keeps C1 of a close that was just recorded. */
export async function keepC1(store: Store, close: Cid): Promise<void> {
  const { log, index } = await leafOf(store, close);
  const c1 = await store.put(await store.logs.checkpoint(log, index + 1));
  await store.setName(nameOfC1(close), c1);
}

/** The checkpoint whose last leaf is the close. Throws E_GATE where none was taken in time. */
export async function c1Of(store: Store, close: Cid): Promise<Cid> {
  if ((await store.name(nameOfC1(close))) === null) await keepC1(store, close);
  const c1 = (await store.name(nameOfC1(close)))?.target;
  if (c1 == null) fail('E_NOT_FOUND', { where: nameOfC1(close), wanted: 'the checkpoint C1', found: 'none' });
  const { size } = parseCheckpoint(parseNote(await store.get(c1)).text);
  const { index } = await leafOf(store, close);
  if (size !== index + 1)
    fail('E_GATE', {
      where: close,
      wanted: 'a close that is the last leaf of its checkpoint',
      found: `${size - index - 1} later`,
      hint: 'Close the study again',
    });
  return c1;
}

const nameOfC2 = (release: Cid): string => `c2/${release}`;

/** Signs and keeps C2 of a release. Idempotent. */
export async function keepC2(store: Store, release: Cid): Promise<void> {
  if ((await store.name(nameOfC2(release))) !== null) return;
  const leaf = await leafOf(store, release);
  const c2 = await store.put(await store.logs.checkpoint(leaf.log, leaf.index + 1));
  await store.setName(nameOfC2(release), c2);
}

/**
 * The bytes of the checkpoint C2 that was kept with a release here, or with a pulled one where the log's key signed it;
 * else any that covers the release. O(names) for a pulled one.
 */
export async function c2Of(store: Store, release: Cid): Promise<Uint8Array> {
  const leaf = await leafOf(store, release);
  const own = await store.name(nameOfC2(release));
  if (own?.target != null) return store.get(own.target);
  const { vkey } = (await store.logs.list()).find(({ origin }) => origin === leaf.log) ?? {};
  for await (const { name, target } of store.names()) {
    if (target === null || !name.endsWith(`/${nameOfC2(release)}`) || vkey === undefined) continue;
    const bytes = await store.get(target);
    // What a mirror says is believed under the signature of the log alone.
    if (covers(bytes, vkey, leaf.index)) return bytes;
  }
  return store.logs.checkpoint(leaf.log, leaf.index + 1);
}

function covers(note: Uint8Array, vkey: string, index: number): boolean {
  try {
    return openCheckpoint(note, parseVerifierKey(vkey)).checkpoint.size > index;
  } catch (error) {
    if (isFault(error)) return false;
    throw error;
  }
}

/** The leaf of a record that must have one. */
export async function leafOf(store: Store, cid: Cid) {
  return (await store.leafOf(cid)) ?? fail('E_INTERNAL', { where: cid, wanted: 'a leaf' });
}
