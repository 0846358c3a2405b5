/**
 * The only file that knows `node:crypto`: SHA-256 and Ed25519 (RFC 8032) over raw bytes.
 * Promises: digests are of exactly the bytes given; raw 32-byte keys in and out.
 * Does not promise: constant-time comparison of digests (none of them is a secret).
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';

/** One-shot `crypto.hash` is measured faster below this size, incremental reads above it (bytes). */
export const ONE_SHOT_LIMIT = 1 << 20;

/** SHA-256 as 32 bytes. O(length). */
export function sha256(bytes: Uint8Array): Uint8Array {
  return Buffer.from(sha256Hex(bytes), 'hex');
}

/** SHA-256 as 64 lower-case hexadecimal digits. O(length). */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** A running SHA-256. `hex` may be asked once, `soFar` at any time before. */
export interface Hasher {
  update(bytes: Uint8Array): void;
  hex(): string;
  /** The digest of all bytes up to now. O(1). */
  soFar(): string;
}

export function hasher(algorithm: 'sha256' | 'sha1' = 'sha256'): Hasher {
  const running = createHash(algorithm);
  return {
    update: (bytes) => void running.update(bytes),
    hex: () => running.digest('hex'),
    soFar: () => running.copy().digest('hex'),
  };
}

/** SHA-1 in hexadecimal, for Git object ids only: never an identity of ours. */
export function sha1Hex(bytes: Uint8Array): string {
  return hash('sha1', bytes, 'hex');
}

// DER prefixes of RFC 8410 for an Ed25519 key: what remains is the 32 raw bytes.
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** A fresh Ed25519 key as raw 32-byte seed and public key. */
export function generateKey(): { seed: Uint8Array; publicKey: Uint8Array } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8.length);
  return { seed, publicKey: publicKeyOf(seed) };
}

export function publicKeyOf(seed: Uint8Array): Uint8Array {
  const spki = createPublicKey(privateKey(seed)).export({ format: 'der', type: 'spki' });
  return spki.subarray(SPKI.length);
}

function privateKey(seed: Uint8Array) {
  return createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
}

export function signEd25519(seed: Uint8Array, message: Uint8Array): Uint8Array {
  return sign(null, message, privateKey(seed));
}

/** False for a wrong signature, and for a key or signature of the wrong length. */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  const key = createPublicKey({ key: Buffer.concat([SPKI, publicKey]), format: 'der', type: 'spki' });
  return verify(null, message, key, signature);
}

/** `count` bytes of the system's randomness: tokens and temporary names, never an identity. */
export function random(count: number): Uint8Array {
  return randomBytes(count);
}
