/**
 * What is wrong with a store, as data: found at opening and by check, never thrown.
 * Promises: each fault names what it is about, so that a person can act on it.
 * Does not promise: a cure; repair.ts has those.
 */

export type FaultKind =
  /** Bytes behind the last flush record or leaf: somebody died there. Nothing that was acknowledged. */
  | 'torn'
  /** Bytes in front of it that no longer read. */
  | 'damaged'
  /** A block, or part of it, has another digest. */
  | 'wrong-digest'
  | 'cut'
  | 'missing'
  /** A file that no store makes. */
  | 'extra'
  /** Catalog, logs and blocks say different things. */
  | 'disagree'
  | 'signature'
  | 'rollback';

export interface Fault {
  readonly kind: FaultKind;
  /** A cid, `sha256:<hex>`, a path below the store, or a log with an index. */
  readonly where: string;
  readonly wanted?: string;
  readonly found: string;
}

export type OnFault = (fault: Fault) => void;
