/** Shapes of parameters. Strict: an unknown field is a refusal. */
import { z } from 'zod';
import { type Cid, parseCid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';

/** A CID as text; `parseCid` says in its own words what is wrong with it. */
export const cidText = () => z.string().min(1).max(128).describe('a base32 CIDv1, or sha256:<64 hex>');
export const cidParams = z.strictObject({ cid: cidText() });
export const noQuery = z.strictObject({});
export const wholeNumber = () => z.string().regex(/^(?:0|[1-9]\d{0,14})$/);
export const flag = () => z.enum(['true', 'false']);
export const kindText = () => z.string().regex(/^[A-Za-z0-9_.:-]{1,64}$/);

/** A list of CIDs of at most `most`. Throws E_CID, E_TOO_LARGE. */
export function cidList(texts: readonly string[], most: number): Cid[] {
  if (texts.length > most)
    fail('E_TOO_LARGE', { where: 'cids', wanted: `at most ${most}`, found: String(texts.length) });
  return texts.map(parseCid);
}
