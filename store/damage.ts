/**
 * Saying that the store itself is damaged.
 * Promises: E_STORE_DAMAGED with the file's path: bytes of ours that do not read are never taken for bad input.
 * Does not promise: finding the damage; whoever reads does.
 */
import { fail, isFault } from './format/errors.ts';

const HINT = '`ashlar check` names all damage';

/** Throws E_STORE_DAMAGED. `where` is the path of the file. */
export const damaged = (where: string, wanted: string, found: string, cause?: unknown): never =>
  fail('E_STORE_DAMAGED', { where, wanted, found, hint: HINT, cause });

/** What `read` gives; E_STORE_DAMAGED where it throws a fault. */
export function otherwiseDamaged<T>(where: string, wanted: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isFault(error)) throw error;
    return damaged(where, wanted, error.message, error);
  }
}
