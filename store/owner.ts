/**
 * One owner at a time: owning a store is holding `lock/` open, a LevelDB used for nothing else and never deleted.
 * Promises: the lock goes with the process, however it ends; waiting ends after 10 seconds with E_STORE_BUSY and says
 * who is there.
 * Does not promise: that `owner.json` is true; it is a hint that a dead owner leaves behind.
 */

import type { Index } from './catalog/index.ts';
import { openLevel } from './catalog/level.ts';
import { type Files, readWhole, writeDurably } from './files.ts';
import { decode, encode, type Value } from './format/codec.ts';
import { fail, isFault } from './format/errors.ts';
import type { Layout } from './keys.ts';
import type { Owner } from './store.ts';

/** How long to wait for an owner that does not serve (milliseconds). */
export const PATIENCE = 10_000;
const FIRST_WAIT = 25;
const LONGEST_WAIT = 500;

export interface Lock {
  release(): Promise<void>;
}

/** Takes the lock, or null while another process (or this one) holds it. */
export async function tryLock(files: Files, layout: Layout): Promise<Lock | null> {
  try {
    const held = await openLevel(layout.lock).catch((error: unknown) => withoutContent(files, layout, error));
    return { release: () => held.close() };
  } catch (error) {
    if (isFault(error, 'E_STORE_BUSY')) return null;
    throw error;
  }
}

/** Nothing is ever stored there: what is damaged goes, but for the file `LOCK`, which is the lock itself. */
async function withoutContent(files: Files, layout: Layout, error: unknown): Promise<Index> {
  if (!isFault(error, 'E_STORE_DAMAGED')) throw error;
  for (const name of files.list(layout.lock))
    if (name !== 'LOCK') await files.remove(`${layout.lock}/${name}`);
  return openLevel(layout.lock);
}

/**
 * Takes the lock; while it is held, asks `meanwhile`, which may give something to use instead. Throws E_STORE_BUSY
 * after `patience` milliseconds.
 */
export async function lockOr<T>(
  files: Files,
  layout: Layout,
  meanwhile: (owner: Owner) => Promise<T | null>,
  patience = PATIENCE,
): Promise<Lock | T> {
  let waited = 0;
  for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    const lock = await tryLock(files, layout);
    if (lock !== null) return lock;
    const owner = readOwner(files, layout);
    const instead = owner === null ? null : await meanwhile(owner);
    if (instead !== null) return instead;
    if (waited >= patience) {
      const found = owner === null ? 'an owner that has not said how to reach it' : `process ${owner.pid}`;
      fail('E_STORE_BUSY', {
        where: layout.root,
        found,
        hint: 'Wait for it to end, or start the daemon and try again',
      });
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    waited += wait;
  }
}

/** What the last owner said of itself; null where it said nothing readable. */
export function readOwner(files: Files, layout: Layout): Owner | null {
  const bytes = readWhole(files, layout.owner);
  if (bytes === null) return null;
  try {
    const { pid, socket } = decode(bytes) as Record<string, Value>;
    if (typeof pid !== 'number') return null;
    return typeof socket === 'string' ? { pid, socket } : { pid };
  } catch (error) {
    if (isFault(error)) return null;
    throw error;
  }
}

export async function writeOwner(files: Files, layout: Layout, { pid, socket }: Owner): Promise<void> {
  const bytes = encode(socket === undefined ? { pid } : { pid, socket });
  await writeDurably(files, layout.owner, bytes, layout.temporary());
}
