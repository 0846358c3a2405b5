/**
 * A leaf: the canonical dag-json bytes of `{at, cid, kind}`, `cid` being a link. In the store log, which nobody else
 * reads, a record that was made in another store has `imported: true` beside them: its evidence need not be here.
 * Promises: one byte string per leaf; what would not be written is refused with E_CODEC.
 * Does not promise: that the record is there.
 */
import { link } from '../format/cid.ts';
import { decode, encode, isLink, type Value } from '../format/codec.ts';
import { fail, isFault } from '../format/errors.ts';
import type { Leaf } from '../store.ts';

const KIND = /^[A-Za-z0-9_.:-]{1,64}$/;
const AT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export const isKind = (text: unknown): text is string => typeof text === 'string' && KIND.test(text);

export interface LocalLeaf extends Leaf {
  readonly imported?: true;
}

export function leafBytes({ kind, cid, at, imported }: LocalLeaf): Uint8Array {
  return encode({ at, cid: link(cid), kind, ...(imported === true ? { imported } : {}) });
}

/** Throws E_CODEC. */
export function parseLeaf(bytes: Uint8Array): LocalLeaf {
  const value = decode(bytes) as Record<string, Value>;
  const { at, cid, kind, imported } = value ?? {};
  const keys = typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
  const wanted = imported === true ? 4 : 3;
  if (keys !== wanted || !isLink(cid) || !isKind(kind) || typeof at !== 'string' || !AT.test(at))
    fail('E_CODEC', { where: 'leaf', wanted: '{at, cid, kind}', found: 'another shape' });
  return { kind, cid: cid['/'], at, ...(imported === true ? { imported } : {}) };
}

/** The leaf, or null where these bytes are none. */
export function readLeaf(bytes: Uint8Array): LocalLeaf | null {
  try {
    return parseLeaf(bytes);
  } catch (error) {
    if (isFault(error)) return null;
    throw error;
  }
}
