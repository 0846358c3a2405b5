/**
 * The engine's multiplexed stream (Docker Engine API, attach): 8 bytes of header, then a payload, over and over.
 * Promises: whatever the chunking, each stream's bytes are complete and in order; an empty frame is not an end.
 * Does not promise: anything about a terminal's stream, which has no frames; no container here has a terminal.
 */
import { fail } from '../../../store/format/errors.ts';

const HEADER = 8;

export interface FrameSink {
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
}

/** Takes chunks as they come. Throws E_EXECUTOR for a stream number that the engine does not have. */
export function frameReader(sink: FrameSink): (chunk: Uint8Array) => void {
  let header = Buffer.alloc(0);
  let left = 0;
  let out: (bytes: Uint8Array) => void = sink.stdout;
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const part = chunk.subarray(at, at + left);
        out(part);
        left -= part.length;
        at += part.length;
        continue;
      }
      const part = chunk.subarray(at, at + HEADER - header.length);
      header = Buffer.concat([header, part]);
      at += part.length;
      if (header.length < HEADER) continue;
      out = streamOf(header[0] as number, sink);
      left = header.readUInt32BE(4);
      header = Buffer.alloc(0);
    }
  };
}

function streamOf(number: number, sink: FrameSink): (bytes: Uint8Array) => void {
  if (number === 2) return sink.stderr;
  if (number === 0 || number === 1) return sink.stdout;
  return fail('E_EXECUTOR', { where: 'attached stream', wanted: 'frame 0, 1 or 2', found: String(number) });
}
