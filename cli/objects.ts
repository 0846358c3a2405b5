/**
 * How an object is named on the command line: a CID, `sha256:<hex>`, or a name.
 * Promises: nothing is prefix-matched; a name that was withdrawn is not found.
 */
import { type Cid, isCid, isEvidence, parseCid } from '../store/format/cid.ts';
import { fail } from '../store/format/errors.ts';
import { checkName } from '../store/names.ts';
import type { Store } from '../store/store.ts';

/** Throws E_CID for a broken or otherwise spelt CID or digest, E_NOT_FOUND for a name that points nowhere. */
export async function objectOf(store: Store, text: string): Promise<Cid> {
  if (isCid(text) || isEvidence(text) || text.startsWith('sha256:')) return parseCid(text);
  // A broken CID is likelier than a name of that length and beginning.
  if (/^b[a-z2-7]{50,}$/.test(text)) return parseCid(text);
  checkName(text);
  const target = (await store.name(text))?.target ?? undefined;
  if (target !== undefined) return target;
  if (MISSPELT.test(text)) return parseCid(text);
  return fail('E_NOT_FOUND', { where: text, wanted: 'a CID, a digest or a name of this store' });
}

/** What is no name here and meant as a digest: hexadecimal without its `sha256:`, cut short, or a CID of another kind. */
const MISSPELT = /^(?:[0-9a-f]{12,}|[0-9a-z]{64}|baf[a-z2-7]{5,})$/i;

/** The same, for an object that must be a record of one of these kinds. Throws E_KIND too. */
export async function recordOf(store: Store, text: string, ...kinds: readonly string[]): Promise<Cid> {
  const cid = await objectOf(store, text);
  const kind = await store.kindOf(cid);
  if (kind === null && !(await store.has(cid)))
    fail('E_NOT_FOUND', { where: text, wanted: kinds.join(' or ') });
  if (kind === null || !kinds.includes(kind))
    fail('E_KIND', { where: text, wanted: kinds.join(' or '), found: kind ?? 'a block that is no record' });
  return cid;
}

export async function collect<T>(all: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of all) found.push(each);
  return found;
}
