/**
 * Files and streams of people that are read whole: an upper limit, whatever is there.
 * Promises: not more than the limit (and one chunk) is ever in memory, also of a device or a pipe.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { AshlarError, fail } from './format/errors.ts';

export interface Bounded {
  /** Bytes. */
  readonly max: number;
  /** What it should be, for faults. */
  readonly wanted: string;
}

/** The bytes of a file. Throws E_NOT_FOUND, E_TOO_LARGE, E_IO. */
export async function readBounded(path: string, { max, wanted }: Bounded): Promise<Uint8Array> {
  const refused = (cause: NodeJS.ErrnoException) => {
    const code = cause.code === 'ENOENT' || cause.code === 'ENOTDIR' ? 'E_NOT_FOUND' : 'E_IO';
    fail(code, { where: path, wanted, ...(cause.code === undefined ? {} : { found: cause.code }), cause });
  };
  const found = await stat(path).catch(refused);
  if (found?.isDirectory() === true) fail('E_NOT_FOUND', { where: path, wanted, found: 'a folder' });
  const source: AsyncIterable<Uint8Array> = createReadStream(path, { highWaterMark: 1 << 16 });
  return wholeOf(source, { max, wanted, where: path }).catch((cause: Error) =>
    cause instanceof AshlarError ? fail(cause.code, cause.data) : refused(cause),
  ) as Promise<Uint8Array>;
}

/** The bytes of a stream. Throws E_TOO_LARGE. */
export async function wholeOf(
  chunks: AsyncIterable<Uint8Array>,
  { max, wanted, where }: Bounded & { readonly where: string },
): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > max)
      fail('E_TOO_LARGE', { where, wanted: `${wanted} of at most ${max} bytes`, found: 'more' });
    all.push(chunk);
  }
  return Buffer.concat(all);
}
