/**
 * The first bytes of a stream, the rest read and dropped.
 * Promises: bytes stay bytes; memory is at most the cap plus one chunk. Does not promise: order between two streams.
 */

export interface Capture {
  add(chunk: Uint8Array): void;
  readonly bytes: () => Uint8Array;
  readonly truncated: () => boolean;
}

export function capture(cap: number): Capture {
  const kept: Uint8Array[] = [];
  let length = 0;
  let truncated = false;
  return {
    add(chunk) {
      const part = chunk.subarray(0, Math.max(0, cap - length));
      if (part.length < chunk.length) truncated = true;
      if (part.length === 0) return;
      kept.push(part);
      length += part.length;
    },
    bytes: () => Buffer.concat(kept),
    truncated: () => truncated,
  };
}

/** Seconds since `since` (of `process.hrtime.bigint`) as a decimal with three places. */
export function secondsSince(since: bigint): string {
  const ms = (process.hrtime.bigint() - since) / 1_000_000n;
  return `${ms / 1000n}.${String(ms % 1000n).padStart(3, '0')}`;
}
