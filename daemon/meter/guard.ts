/**
 * Keeps a secret out of what is recorded and handed on.
 * Promises: no byte of a secret found in the stream is released, across chunk borders, in the spellings listed here.
 * Does not promise: to find a secret that was encrypted, split by other text, or encoded twice.
 */

/** Longest pattern plus one chunk is all the memory it takes. */
export interface Guard {
  /** Bytes that are now known to be clean; nothing once the secret was seen. */
  feed(chunk: Uint8Array): Uint8Array;
  /** What was held back, at the end of the stream. */
  rest(): Uint8Array;
  /** Whether the secret was seen. Then the rest of the stream must be dropped. */
  tripped(): boolean;
}

/** Looks for `secret`; without one everything passes. */
export function openGuard(secret: string | undefined): Guard {
  const patterns = secret === undefined ? [] : spellings(secret);
  const hold = patterns.reduce((most, pattern) => Math.max(most, pattern.length - 1), 0);
  let held: Buffer = Buffer.alloc(0);
  let found = false;
  return {
    feed(chunk) {
      if (found) return Buffer.alloc(0);
      const all = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
      found = patterns.some((pattern) => all.includes(pattern));
      if (found) return Buffer.alloc(0);
      const clean = Math.max(0, all.length - hold);
      held = all.subarray(clean);
      return all.subarray(0, clean);
    },
    rest: () => (found ? Buffer.alloc(0) : held),
    tripped: () => found,
  };
}

/** Whether `secret` stands in `bytes`. */
export function holds(bytes: Uint8Array, secret: string | undefined): boolean {
  if (secret === undefined) return false;
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return spellings(secret).some((pattern) => all.includes(pattern));
}

/** The secret as it is, in JSON escapes, percent-encoded, in hexadecimal, and in base64 at each of three offsets. */
function spellings(secret: string): Buffer[] {
  const bytes = Buffer.from(secret, 'utf8');
  const texts = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    bytes.toString('hex'),
  ];
  for (let shift = 0; shift < 3; shift++) texts.push(...inBase64(bytes, shift));
  return [...new Set(texts)].map((text) => Buffer.from(text, 'utf8'));
}

/** The characters that the secret alone decides when `shift` unknown bytes precede it. */
function inBase64(bytes: Buffer, shift: number): string[] {
  const whole = Math.floor((shift + bytes.length) / 3) * 4;
  const first = Math.ceil((shift * 8) / 6);
  const padded = Buffer.concat([Buffer.alloc(shift), bytes]);
  return (['base64', 'base64url'] as const).map((code) => padded.toString(code).slice(first, whole));
}
