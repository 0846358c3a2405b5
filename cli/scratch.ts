/** A folder as a tree, in a store that is gone afterwards: for verbs that work without one. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KIND_TABLE } from '../rules/contracts/table.ts';
import { initStore, openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

export async function withScratch<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'ashlar-'));
  try {
    const [path, logKey] = [join(folder, 'store'), join(folder, 'log.key')];
    await initStore(path, { logKey });
    const store = await openStore(path, { kinds: KIND_TABLE, clock: () => new Date(), logKey });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
