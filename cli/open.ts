/**
 * Which store a verb means, and how it is opened.
 * Promises: `--store`, then ASHLAR_STORE, then the nearest `.ashlar` upwards; what was opened is closed. A verb that writes
 * goes through another owner's API; one that only reads opens the store read-only beside it, so that every byte that it
 * prints was hashed here.
 */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { KIND_TABLE } from '../rules/contracts/table.ts';
import { fail, isFault } from '../store/format/errors.ts';
import { type OpenOptions, openStore } from '../store/open.ts';
import type { Owner, Store } from '../store/store.ts';

export const FOLDER = '.ashlar';

/** `own`: not through another process: what reaps at start-up would take the other's runs for dead. */
export type Access = 'read' | 'write' | 'own';

/** How long a reader waits for the lock before it goes without (milliseconds). */
const READER_PATIENCE = 500;

/** An alias and not an interface: the parser of command lines wants types with an index signature. */
export type StoreFlag = { readonly store?: string };

interface Where {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** The folder of the store that is meant. Throws E_NOT_FOUND. */
export function storePath({ env, cwd }: Where, { store }: StoreFlag): string {
  // Set to nothing is as good as not set, as for all variables of this kind.
  const said = store ?? (env.ASHLAR_STORE || undefined);
  if (said !== undefined) return resolve(cwd, said);
  for (let at = resolve(cwd); ; at = dirname(at)) {
    if (existsSync(join(at, FOLDER, 'ashlar.json'))) return join(at, FOLDER);
    if (at === dirname(at)) break;
  }
  return fail('E_NOT_FOUND', {
    where: cwd,
    wanted: 'a store',
    hint: '`ashlar init` makes one here; --store or ASHLAR_STORE names another',
  });
}

/** Opens the store, hands it out and closes it. Throws what `storePath` and `openStore` throw. */
export async function withStore<T>(
  cli: Where,
  flags: StoreFlag,
  access: Access,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openAt(storePath(cli, flags), access);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

export async function openAt(path: string, access: Access): Promise<Store> {
  const options: OpenOptions = { kinds: KIND_TABLE, clock: () => new Date() };
  if (access === 'own') return openStore(path, options);
  if (access === 'write') return openStore(path, { ...options, connect });
  try {
    return await openStore(path, { ...options, patience: READER_PATIENCE });
  } catch (error) {
    if (!isFault(error, 'E_STORE_BUSY')) throw error;
    return openStore(path, { ...options, readOnly: true });
  }
}

/** The owner's own API, loaded only where the lock is taken. */
async function connect(owner: Owner): Promise<Store | null> {
  const { connectOwner } = await import('../daemon/api/client.ts');
  return connectOwner(owner);
}
