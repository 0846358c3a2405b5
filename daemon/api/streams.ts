/**
 * Bodies that come as they are read.
 * Promises: a fault before the first piece is an ordinary refusal; a later one cuts the connection, so no half answer
 * ends like a whole one.
 */
import { Readable } from 'node:stream';
import { encode, type Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';

/** A body whose first piece is already there. Throws what reading it throws. */
export async function body(source: AsyncIterable<Uint8Array>): Promise<Readable> {
  const pieces = source[Symbol.asyncIterator]();
  const first = await pieces.next();
  return Readable.from(resumed(first, pieces), { objectMode: false });
}

async function* resumed(
  first: IteratorResult<Uint8Array>,
  pieces: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; next.done !== true; next = await pieces.next()) {
      // An empty piece would end a byte stream that is not at its end.
      if (next.value.length > 0) yield next.value;
    }
  } finally {
    await pieces.return?.();
  }
}

/** Lines are gathered up to this many bytes. */
const GATHER = 1 << 16;

/** Newline-delimited canonical dag-json. */
export async function* ndjson(values: AsyncIterable<object>): AsyncGenerator<Uint8Array> {
  let lines: Uint8Array[] = [];
  let size = 0;
  for await (const value of values) {
    const line = Buffer.concat([encode(value as Value), Buffer.from('\n')]);
    lines.push(line);
    size += line.length;
    if (size < GATHER) continue;
    yield Buffer.concat(lines);
    lines = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(lines);
}

export const NDJSON = 'application/x-ndjson';

/** The same pieces, and E_TOO_LARGE once there are more bytes than `limit`. */
export async function* limited(source: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of source) {
    size += piece.length;
    if (size > limit) fail('E_TOO_LARGE', { where: 'body', wanted: `at most ${limit} bytes` });
    yield piece;
  }
}
