/**
 * Standard base64 (RFC 4648 section 4, padded), strictly: one spelling per byte string.
 * Promises: `fromBase64` refuses missing or extra padding, stray characters and non-zero trailing bits.
 * Does not promise: the URL alphabet.
 */

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/** The bytes of `text`, or undefined when `toBase64` would not write exactly this. */
export function fromBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
