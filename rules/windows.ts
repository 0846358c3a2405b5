/**
 * Reading a long byte stream through windows of bounded size.
 * Promises: windows lie at fixed offsets, whatever the chunks; bytes are read as Latin-1, so that one character is one
 * byte; what begins in a window and is no longer than `OVERLAP` is whole in it.
 * Does not promise: decoding; a pattern must be written for bytes.
 */

/** Bytes that a window owns. */
export const WINDOW = 1 << 20;
/** Bytes that it shows behind those. */
export const OVERLAP = 1 << 16;
/** Bytes that it shows before those. */
export const LEFT = 256;

export interface Window {
  readonly text: string;
  /** Index of the first byte owned. */
  readonly from: number;
  /** Index behind the last byte owned. */
  readonly own: number;
}

/** Blocks of exactly `size` bytes, the last one shorter. Gives none for no bytes. */
export async function* blocksOf(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<string> {
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const end = Math.min(chunk.length, at + size - length);
      parts.push(latin1(chunk.subarray(at, end)));
      length += end - at;
      at = end;
      if (length < size) continue;
      yield parts.join('');
      parts = [];
      length = 0;
    }
  }
  if (length > 0) yield parts.join('');
}

/** The windows of a stream. Memory is bounded by two windows. */
export async function* windowsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Window> {
  let left = '';
  let text = '';
  for await (const block of blocksOf(chunks, WINDOW)) {
    text += block;
    if (text.length < WINDOW + OVERLAP) continue;
    yield { text: left + text, from: left.length, own: left.length + WINDOW };
    left = text.slice(WINDOW - LEFT, WINDOW);
    text = text.slice(WINDOW);
  }
  if (text.length > 0) yield { text: left + text, from: left.length, own: left.length + text.length };
}

export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
