/**
 * Signed notes (C2SP signed-note) with Ed25519 signatures (type 01) and Ed25519 cosignatures (type 04,
 * C2SP tlog-cosignature v1).
 * Promises: one byte string per note and key: what does not re-encode to the same bytes is E_NOTE; a signature of
 * a known key that does not verify is E_SIGNATURE, and so is a note that no known key signed.
 * Does not promise: other signature types (lines of unknown keys are kept and named), or a meaning of the text.
 */
import { fromBase64, toBase64 } from './base64.ts';
import { publicKeyOf, sha256, signEd25519, verifyEd25519 } from './crypto.ts';
import { fail } from './errors.ts';

/** 1: Ed25519 over the text. 4: Ed25519 cosignature over time and text. */
export type KeyType = 1 | 4;

export interface VerifierKey {
  readonly name: string;
  /** Eight lower-case hexadecimal digits. */
  readonly id: string;
  readonly type: KeyType;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** One signature line; `signature` is what follows the key id. */
export interface Signature {
  readonly name: string;
  readonly id: string;
  readonly signature: Uint8Array;
}

export interface Note {
  /** Ends with a newline. */
  readonly text: string;
  readonly signatures: readonly Signature[];
}

export interface NoteSigner {
  readonly key: VerifierKey;
  /** The signature of `text`, without the key id. */
  sign(text: string): Uint8Array;
}

/** A known key that signed, once each. `time` (seconds since 1970) stands at cosignatures only. */
export interface Verified {
  readonly name: string;
  readonly key: VerifierKey;
  readonly time?: number;
}

export interface OpenedNote {
  readonly text: string;
  readonly verified: readonly Verified[];
  /** Signature lines of keys that were not asked for: nothing is known of them. */
  readonly unknown: readonly Signature[];
}

/** Longest note in bytes and most signatures that are read; the specification demands at least 16 signatures. */
export const MAX_NOTE = 1 << 20;
export const MAX_SIGNATURES = 100;

const DASH = '\u2014 ';
// The characters of Unicode's White_Space property, and the plus sign: what a key name may not hold.
const UNFIT = /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000+]/;

/** A key with its id: SHA-256(name, newline, type, public key), first four bytes. Throws E_NOTE. */
export function verifierKey(name: string, type: KeyType, publicKey: Uint8Array): VerifierKey {
  if (!isKeyName(name)) fail('E_NOTE', { where: 'key name', found: JSON.stringify(name) });
  if (publicKey.length !== 32) {
    fail('E_NOTE', { where: `key ${name}`, wanted: '32 bytes', found: String(publicKey.length) });
  }
  const hash = sha256(Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([type]), publicKey]));
  return { name, id: Buffer.from(hash.subarray(0, 4)).toString('hex'), type, publicKey };
}

/** `<name>+<id>+<base64 of type and key>`. */
export function printVerifierKey({ name, id, type, publicKey }: VerifierKey): string {
  return `${name}+${id}+${toBase64(Buffer.concat([Buffer.from([type]), publicKey]))}`;
}

/** Reads a verifier key of type 01 or 04 whose id is the right one. Throws E_NOTE. */
export function parseVerifierKey(text: string): VerifierKey {
  const [name = '', id = ''] = text.split('+', 2);
  const bytes = fromBase64(text.slice(name.length + id.length + 2));
  const type = bytes?.[0];
  if (bytes === undefined || (type !== 1 && type !== 4) || bytes.length !== 33) {
    const wanted = '<name>+<8 hex>+<base64 of an Ed25519 key of type 01 or 04>';
    fail('E_NOTE', { where: 'verifier key', wanted, found: JSON.stringify(text) });
  }
  const key = verifierKey(name, type, bytes.subarray(1));
  if (printVerifierKey(key) !== text) {
    fail('E_NOTE', { where: 'verifier key', wanted: printVerifierKey(key), found: JSON.stringify(text) });
  }
  return key;
}

/** Signs texts as `name` with a raw 32-byte seed (type 01). */
export function noteSigner(name: string, seed: Uint8Array): NoteSigner {
  const key = verifierKey(name, 1, publicKeyOf(seed));
  return { key, sign: (text) => signEd25519(seed, Buffer.from(text)) };
}

/** Cosigns checkpoints as `name` at `time`, in whole seconds since 1970 (type 04). */
export function cosigner(name: string, seed: Uint8Array, time: number): NoteSigner {
  const key = verifierKey(name, 4, publicKeyOf(seed));
  if (!Number.isSafeInteger(time) || time < 0) {
    fail('E_NOTE', { where: 'cosignature time', wanted: 'whole seconds from 0 on', found: String(time) });
  }
  const sign = (text: string) => {
    const stamp = Buffer.alloc(8);
    stamp.writeBigUInt64BE(BigInt(time));
    return Buffer.concat([stamp, signEd25519(seed, cosigned(time, text))]);
  };
  return { key, sign };
}

const cosigned = (time: number | bigint, text: string) =>
  Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);

/** The bytes of `text` signed by each signer, in this order. Throws E_NOTE for a text that no note can have. */
export function signNote(text: string, signers: readonly NoteSigner[]): Uint8Array {
  return printNote({ text, signatures: signers.map((signer) => signatureBy(signer, text)) });
}

/** The note with more signature lines at its end. Throws E_NOTE. */
export function addSignatures(note: Uint8Array, signers: readonly NoteSigner[]): Uint8Array {
  const { text, signatures } = parseNote(note);
  return printNote({
    text,
    signatures: [...signatures, ...signers.map((signer) => signatureBy(signer, text))],
  });
}

function signatureBy({ key, sign }: NoteSigner, text: string): Signature {
  return { name: key.name, id: key.id, signature: sign(text) };
}

/** One signature line, with its newline: what a witness answers. */
export function printSignature({ name, id, signature }: Signature): string {
  return `${DASH}${name} ${toBase64(Buffer.concat([Buffer.from(id, 'hex'), signature]))}\n`;
}

/** The bytes of a note. Throws E_NOTE for a text or a number of signatures that no note can have. */
export function printNote({ text, signatures }: Note): Uint8Array {
  checkText(text);
  if (signatures.length === 0 || signatures.length > MAX_SIGNATURES) {
    fail('E_NOTE', { wanted: `1 to ${MAX_SIGNATURES} signatures`, found: String(signatures.length) });
  }
  for (const { name } of signatures) {
    if (!isKeyName(name)) fail('E_NOTE', { where: 'key name', found: JSON.stringify(name) });
  }
  return Buffer.from(`${text}\n${signatures.map(printSignature).join('')}`);
}

/** Reads a note without believing it. Throws E_NOTE. O(size). */
export function parseNote(bytes: Uint8Array): Note {
  if (bytes.length > MAX_NOTE)
    fail('E_NOTE', { wanted: `at most ${MAX_NOTE} bytes`, found: String(bytes.length) });
  const whole = utf8(bytes);
  const end = whole.lastIndexOf('\n\n');
  if (end < 0 || !whole.endsWith('\n')) fail('E_NOTE', { wanted: 'a text, an empty line, signature lines' });
  const note = {
    text: whole.slice(0, end + 1),
    signatures: whole
      .slice(end + 2, -1)
      .split('\n')
      .map(parseSignature),
  };
  if (Buffer.compare(printNote(note), bytes) !== 0)
    fail('E_NOTE', { wanted: 'the one spelling', found: 'another' });
  return note;
}

/** Reads one signature line, without its newline. Throws E_NOTE. */
export function parseSignature(line: string): Signature {
  const [dash, name = '', base64 = '', more] = line.split(' ');
  const bytes = fromBase64(base64);
  if (
    `${dash} ` !== DASH ||
    !isKeyName(name) ||
    more !== undefined ||
    bytes === undefined ||
    bytes.length < 5
  ) {
    fail('E_NOTE', {
      where: 'signature line',
      wanted: '\u2014 <name> <base64>',
      found: JSON.stringify(line),
    });
  }
  return { name, id: Buffer.from(bytes.subarray(0, 4)).toString('hex'), signature: bytes.subarray(4) };
}

/**
 * Reads a note and verifies it by `keys`. Throws E_NOTE when malformed; E_SIGNATURE when a known key's signature is
 * wrong or no known key signed.
 */
export function openNote(bytes: Uint8Array, keys: readonly VerifierKey[]): OpenedNote {
  const { text, signatures } = parseNote(bytes);
  const verified = new Map<VerifierKey, Verified>();
  const unknown: Signature[] = [];
  for (const signature of signatures) {
    const key = keys.find(({ name, id }) => name === signature.name && id === signature.id);
    if (key === undefined) unknown.push(signature);
    else if (!verified.has(key)) verified.set(key, verify(text, signature, key));
    else verify(text, signature, key);
  }
  if (verified.size === 0) {
    const found = unknown.map(({ name, id }) => `${name}+${id}`).join(', ');
    fail('E_SIGNATURE', { where: 'signed note', wanted: 'a signature of a known key', found });
  }
  return { text, verified: [...verified.values()], unknown };
}

function verify(text: string, { signature }: Signature, key: VerifierKey): Verified {
  const stamped = key.type === 4 && signature.length === 72;
  const time = stamped ? Buffer.from(signature).readBigUInt64BE() : 0n;
  const message = key.type === 4 ? cosigned(time, text) : Buffer.from(text);
  const inRange = time <= BigInt(Number.MAX_SAFE_INTEGER);
  if (!inRange || !verifyEd25519(key.publicKey, message, stamped ? signature.subarray(8) : signature)) {
    fail('E_SIGNATURE', { where: `signature of ${key.name}+${key.id}` });
  }
  return key.type === 4 ? { name: key.name, key, time: Number(time) } : { name: key.name, key };
}

function isKeyName(name: string): boolean {
  return name !== '' && !UNFIT.test(name) && printable(name);
}

// Well-formed, and no control character below U+0020 but the newline.
function printable(text: string): boolean {
  if (!text.isWellFormed()) return false;
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) < 0x20 && text[i] !== '\n') return false;
  }
  return true;
}

function checkText(text: string): void {
  if (!text.endsWith('\n') || !printable(text)) {
    fail('E_NOTE', { wanted: 'text that ends with a newline and has no other control character' });
  }
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    fail('E_NOTE', { wanted: 'UTF-8', cause });
  }
}
