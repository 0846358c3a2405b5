/** Stores for tests: a new one in a folder, with a clock that moves one millisecond a look. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initStore, type OpenOptions, openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { testKinds } from './kinds.ts';

export interface TestPlace {
  readonly path: string;
  readonly logKey: string;
  open(more?: Partial<OpenOptions>): Promise<Store>;
}

/** A folder of its own in memory where the system has such a place: LevelDB syncs whenever it opens. */
export function quickFolder(t: { teardown(cleanup: () => void): unknown }): string {
  const shared = '/dev/shm';
  const base = mkdtempSync(join(existsSync(shared) ? shared : tmpdir(), 'ashlar-test-'));
  t.teardown(() => rmSync(base, { recursive: true, force: true }));
  return base;
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
