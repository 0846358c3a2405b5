/**
 * Many small blocks on their way at once, big ones one by one.
 * Promises: a cid is ours to compute, so the node above can be made while a store still flushes; memory stays bounded.
 * Does not promise: that a block is stored before `done` resolves.
 */
import { type Cid, type Codec, cidOf } from '../../store/format/cid.ts';
import { ONE_SHOT_LIMIT } from '../../store/format/crypto.ts';
import type { Emit } from '../../store/format/reader.ts';
import { openWindow } from '../../store/window.ts';

export interface Emitter {
  put(bytes: Uint8Array, codec?: Codec): Promise<Cid>;
  /** A file of this size. */
  file(source: AsyncIterable<Uint8Array>, size: number): Promise<Cid>;
  done(): Promise<void>;
}

export function openEmitter(emit: Emit): Emitter {
  const window = openWindow(256, 16 << 20);
  const put = async (bytes: Uint8Array, codec: Codec = 'raw') => {
    const cid = cidOf(codec, bytes);
    await window.add(bytes.length, emit(bytes, codec));
    return cid;
  };
  return {
    put,
    async file(source, size) {
      if (size >= ONE_SHOT_LIMIT) return emit(source);
      const chunks: Uint8Array[] = [];
      for await (const chunk of source) chunks.push(chunk);
      return put(Buffer.concat(chunks));
    },
    done: window.done,
  };
}
