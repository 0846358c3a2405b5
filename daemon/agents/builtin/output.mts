/** Output of bounded size. */

/** Keeps the first `limit` bytes and counts the rest. */
export function collector(limit: number): { add(bytes: Buffer): void; text(): string } {
  const parts: Buffer[] = [];
  let size = 0;
  return {
    add(bytes) {
      if (size < limit) parts.push(bytes.subarray(0, limit - size));
      size += bytes.length;
    },
    text: () => Buffer.concat(parts).toString('utf8') + (size > limit ? `\n[cut: ${size} bytes in all]` : ''),
  };
}
