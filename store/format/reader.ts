/**
 * How anything outside a place reads blocks, and how a rule hands blocks out.
 * Promises: what a Reader returns has the digest of the CID asked for.
 * Does not promise: where the bytes came from.
 */
import type { Cid, Codec } from './cid.ts';

/** Half-open byte range. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A checker's view of blocks: there is no `put`. `get` and `stream` throw E_NOT_FOUND and E_DIGEST. */
export interface Reader {
  get(cid: Cid): Promise<Uint8Array>;
  stream(cid: Cid, range?: Range): AsyncIterable<Uint8Array>;
  has(cid: Cid): Promise<boolean>;
}

/** Takes bytes, gives their CID (codec `raw` unless said). The daemon's stores them, the verifier's only hashes. */
export type Emit = (bytes: Uint8Array | AsyncIterable<Uint8Array>, codec?: Codec) => Promise<Cid>;
