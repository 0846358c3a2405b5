/**
 * Lines of a stream of bytes, ended by LF or CRLF; the last one needs no end.
 * Promises: memory stays below `most` and one chunk, however long a line is; time is linear in the bytes.
 */
export interface Line {
  /** From 1, blank lines counted. */
  readonly number: number;
  /** Its length without its end. */
  readonly size: number;
  /** Its bytes; absent where there are more than `most`. */
  readonly bytes: Uint8Array | undefined;
}

const LF = 0x0a;
const CR = 0x0d;

export async function* linesOf(chunks: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Line> {
  let number = 1;
  let size = 0;
  let parts: Uint8Array[] = [];
  let lastByte = 0;
  const add = (part: Uint8Array): void => {
    if (part.length === 0) return;
    size += part.length;
    lastByte = part[part.length - 1] ?? 0;
    // One byte more than fits may be the CR of the line's end.
    if (size <= most + 1) parts.push(part);
    else parts = [];
  };
  const finished = (): Line => {
    const length = lastByte === CR && size > 0 ? size - 1 : size;
    const bytes = length > most ? undefined : Buffer.concat(parts).subarray(0, length);
    const line = { number, size: length, bytes };
    [number, size, parts, lastByte] = [number + 1, 0, [], 0];
    return line;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      add(chunk.subarray(from, end));
      from = end + 1;
      yield finished();
    }
    add(chunk.subarray(from));
  }
  if (size > 0) yield finished();
}
