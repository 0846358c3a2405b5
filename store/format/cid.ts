/**
 * Identity: SHA-256 over the exact bytes, written as CIDv1 (multiformats CID spec), codec `raw` (0x55) for files
 * and `dag-json` (0x0129) for records and tree nodes.
 * Promises: one spelling per identity; nothing is trimmed, case-folded or prefix-matched.
 * Does not promise: other hash functions or CID versions.
 */
import { CID } from 'multiformats/cid';
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
// CIDv1 + sha2-256 in lower-case base32 without padding: `01 55 12 20` and a digest, or `01 a9 02 12 20` and a digest.
// The classes at the seams hold exactly the characters whose spare bits are those of the prefix or zero.
const SPELLING = /^b(?:afkrei[a-h][a-z2-7]{50}[aeimquy4]|aguqeera[a-z2-7]{51}[aq])$/;
const PREFIX: Record<Codec, Uint8Array> = {
  raw: Uint8Array.of(0x01, CODES.raw, SHA2_256, 32),
  'dag-json': Uint8Array.of(0x01, (CODES['dag-json'] & 0x7f) | 0x80, CODES['dag-json'] >> 7, SHA2_256, 32),
};

/** The CID of these bytes. O(length). */
export function cidOf(codec: Codec, bytes: Uint8Array): Cid {
  return cidFromDigest(codec, sha256Hex(bytes) as Digest);
}

export function cidFromDigest(codec: Codec, digest: Digest): Cid {
  return base32(Buffer.concat([PREFIX[codec], Buffer.from(digest, 'hex')])) as Cid;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const VALUES = Uint8Array.from(
  { length: 128 },
  (_, code) => ALPHABET.indexOf(String.fromCharCode(code)) & 31,
);

const CODES_OF = Buffer.from(ALPHABET, 'latin1');
const scratch = Buffer.from('b'.padEnd(61), 'latin1');

/** Multibase base32 (RFC 4648, lower case, no padding), written out because every block passes here. */
function base32(bytes: Uint8Array): string {
  let bits = 0;
  let held = 0;
  let at = 1;
  for (const byte of bytes) {
    held = ((held & 0xff) << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) scratch[at++] = CODES_OF[(held >> (bits - 5)) & 31] as number;
  }
  if (bits > 0) scratch[at++] = CODES_OF[(held << (5 - bits)) & 31] as number;
  // One flat string: pieces added up make a rope, which every later check would have to flatten.
  return scratch.toString('latin1', 0, at);
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
  return typeof text === 'string' && SPELLING.test(text);
}

/** Whether `text` is a CID of any version, codec or hash, in a spelling that multiformats reads: also those not of ours. */
export function isForeignCid(text: string): boolean {
  try {
    CID.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function digestOf(cid: Cid): Digest {
  const bytes = cidBytes(cid);
  return Buffer.from(bytes.buffer, bytes.byteOffset + bytes.length - 32, 32).toString('hex') as Digest;
}

export function codecOf(cid: Cid): Codec {
  return cid.startsWith('bafk') ? 'raw' : 'dag-json';
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
  if (!isCid(cid)) fail('E_CID', { wanted: 'a base32 CIDv1', found: JSON.stringify(cid) });
  const bytes = new Uint8Array(((cid.length - 1) * 5) >> 3);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = 1; i < cid.length; i++) {
    held = ((held & 0xff) << 5) | (VALUES[cid.charCodeAt(i)] as number);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = held >> bits;
  }
  return bytes;
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
