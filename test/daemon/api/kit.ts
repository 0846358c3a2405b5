/** Stores with an API around them, in a folder of the test's own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, type ApiOptions, openApi } from '../../../daemon/api/api.ts';
import type { Store } from '../../../store/store.ts';
import { newPlace, quickFolder, type TestPlace } from '../../store/place.ts';

interface Cleaner {
  teardown(cleanup: () => unknown): unknown;
}

export interface Served {
  readonly place: TestPlace;
  readonly store: Store;
  readonly api: Api;
  close(): Promise<void>;
}

/** A token made at run time, so that no file looks like it holds one. */
export const TOKEN = ['test', 'token', '0123456789'].join('-');

/** A new store behind an API on a free loopback port, unless `options` say otherwise. */
export async function serve(t: Cleaner, options: Partial<ApiOptions> = {}): Promise<Served> {
  const place = await newPlace(quickFolder(t));
  const store = await place.open();
  const api = await openApi(store, { listen: { port: 0 }, token: TOKEN, ...options });
  return {
    place,
    store,
    api,
    async close() {
      await api.close();
      await store.close();
    },
  };
}

/** A short path for a socket. */
export function socketPath(t: Cleaner): string {
  const folder = mkdtempSync(join(tmpdir(), 'as-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 's');
}

export const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};
