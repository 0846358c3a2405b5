/** Stores for tests: a new one in a folder, with a clock that moves one millisecond a look. */
import { join } from 'node:path';
import { initStore, type OpenOptions, openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { testKinds } from './kinds.ts';

export interface TestPlace {
  readonly path: string;
  readonly logKey: string;
  open(more?: Partial<OpenOptions>): Promise<Store>;
}

let count = 0;

export async function newPlace(base: string): Promise<TestPlace> {
  const path = join(base, `store-${count++}`);
  const logKey = join(base, 'key', 'log.key');
  await initStore(path, { logKey });
  return placeAt(path, logKey);
}

export function placeAt(path: string, logKey: string): TestPlace {
  let now = Date.UTC(2026, 0, 1);
  const clock = () => new Date(now++);
  return {
    path,
    logKey,
    open: (more = {}) => openStore(path, { kinds: testKinds, logKey, clock, ...more }),
  };
}
