/**
 * Reads lines and counted bytes from a byte stream, with at most one chunk held.
 * Promises: what was asked for, or `undefined` where the stream ended before it.
 * Does not promise: a limit on a line; the other side is a program of ours.
 */
export interface ByteSource {
  /** As `line` and `take`, from what is held already: no promise where none is needed. */
  heldLine(): string | undefined;
  heldBytes(count: number): Uint8Array | undefined;
  /** The next line, without its newline. */
  line(): Promise<string | undefined>;
  /** Exactly `count` bytes; the buffer may share memory with its neighbours. */
  take(count: number): Promise<Uint8Array | undefined>;
  /** Up to `limit` bytes, as they come. */
  some(limit: number): Promise<Uint8Array | undefined>;
}

export function byteSource(stream: AsyncIterable<Buffer>): ByteSource {
  const chunks = stream[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  const next = async (): Promise<Buffer | undefined> => {
    const { done, value } = await chunks.next();
    return done === true ? undefined : value;
  };
  const cut = (count: number): Buffer => {
    const part = held.subarray(0, count);
    held = held.subarray(count);
    return part;
  };
  const source: ByteSource = {
    heldLine() {
      const end = held.indexOf(0x0a);
      return end < 0 ? undefined : cut(end + 1).toString('latin1', 0, end);
    },
    heldBytes: (count) => (count <= held.length ? cut(count) : undefined),
    async line() {
      for (let from = 0; ; ) {
        const end = held.indexOf(0x0a, from);
        if (end >= 0) return cut(end + 1).toString('latin1', 0, end);
        from = held.length;
        const chunk = await next();
        if (chunk === undefined) return undefined;
        held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      }
    },
    async take(count) {
      if (count <= held.length) return cut(count);
      const bytes = Buffer.allocUnsafe(count);
      for (let at = 0; at < count; ) {
        const part = await source.some(count - at);
        if (part === undefined) return undefined;
        bytes.set(part, at);
        at += part.length;
      }
      return bytes;
    },
    async some(limit) {
      while (held.length === 0) {
        const chunk = await next();
        if (chunk === undefined) return undefined;
        held = chunk;
      }
      return cut(Math.min(limit, held.length));
    },
  };
  return source;
}
