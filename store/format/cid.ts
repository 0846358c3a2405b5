/**
 * Identity: SHA-256 over the exact bytes, written as CIDv1 (multiformats CID spec), codec `raw` (0x55) for files
 * and `dag-json` (0x0129) for records and tree nodes.
 * Promises: one spelling per identity; nothing is trimmed, case-folded or prefix-matched.
 * Does not promise: other hash functions or CID versions.
 */
import { CID } from 'multiformats/cid';
import { create } from 'multiformats/hashes/digest';
import { sha256Hex } from './crypto.ts';
import { fail } from './errors.ts';

declare const cidBrand: unique symbol;
declare const digestBrand: unique symbol;

/** A canonical base32 CIDv1 string. */
export type Cid = string & { readonly [cidBrand]: true };
/** SHA-256 as 64 lower-case hexadecimal digits: the place of a block, whatever its codec. */
export type Digest = string & { readonly [digestBrand]: true };
/** An evidence reference: a digest that no closure follows. */
export type Evidence = `sha256:${string}`;
export type Codec = 'raw' | 'dag-json';

/** A CID link as dag-json spells it; the same shape in memory and on disk. */
export interface Link {
  readonly '/': Cid;
}

const CODES: Record<Codec, number> = { raw: 0x55, 'dag-json': 0x0129 };
const SHA2_256 = 0x12;
const DIGEST = /^[0-9a-f]{64}$/;
const EVIDENCE = /^sha256:[0-9a-f]{64}$/;
// CIDv1 + sha2-256 in base32: 59 characters for `raw`, 61 for `dag-json` (two-byte codec).
const SPELLING = /^b(?:[a-z2-7]{58}|[a-z2-7]{60})$/;

/** The CID of these bytes. O(length). */
export function cidOf(codec: Codec, bytes: Uint8Array): Cid {
  return cidFromDigest(codec, sha256Hex(bytes) as Digest);
}

export function cidFromDigest(codec: Codec, digest: Digest): Cid {
  const multihash = create(SHA2_256, Buffer.from(digest, 'hex'));
  return CID.createV1(CODES[codec], multihash).toString() as Cid;
}

/** Reads a canonical CID or `sha256:<64 hex>` (which means `raw`). Throws E_CID for every other spelling. */
export function parseCid(text: string): Cid {
  if (EVIDENCE.test(text)) return cidFromDigest('raw', text.slice(7) as Digest);
  if (!isCid(text))
    fail('E_CID', { wanted: 'a base32 CIDv1 or sha256:<64 hex>', found: JSON.stringify(text) });
  return text;
}

/** Whether `text` is the canonical spelling of a CID that we accept. */
export function isCid(text: unknown): text is Cid {
  if (typeof text !== 'string' || !SPELLING.test(text)) return false;
  try {
    const cid = CID.parse(text);
    const known = cid.code === CODES.raw || cid.code === CODES['dag-json'];
    const sha = cid.multihash.code === SHA2_256 && cid.multihash.digest.length === 32;
    return cid.version === 1 && known && sha && cid.toString() === text;
  } catch {
    return false;
  }
}

export function digestOf(cid: Cid): Digest {
  return Buffer.from(CID.parse(cid).multihash.digest).toString('hex') as Digest;
}

export function codecOf(cid: Cid): Codec {
  return CID.parse(cid).code === CODES.raw ? 'raw' : 'dag-json';
}

export function isDigest(text: unknown): text is Digest {
  return typeof text === 'string' && DIGEST.test(text);
}

export function isEvidence(text: unknown): text is Evidence {
  return typeof text === 'string' && EVIDENCE.test(text);
}

export function evidence(digest: Digest): Evidence {
  return `sha256:${digest}`;
}

/** The digest inside an evidence reference. */
export function digestOfEvidence(reference: Evidence): Digest {
  return reference.slice(7) as Digest;
}

export function link(cid: Cid): Link {
  return Object.freeze({ '/': cid });
}

/** The binary CID, as CAR frames and varint-prefixed formats carry it. */
export function cidBytes(cid: Cid): Uint8Array {
  return CID.parse(cid).bytes;
}

/** Reads a binary CID. Throws E_CID when it is none of ours. */
export function cidFromBytes(bytes: Uint8Array): Cid {
  let text: string;
  try {
    text = CID.decode(bytes).toString();
  } catch (cause) {
    fail('E_CID', { found: 'unreadable binary CID', cause });
  }
  return parseCid(text);
}
