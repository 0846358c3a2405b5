/** What the route plugins share: the store, limits, and the hook that decides who may write. */
import type { onRequestHookHandler } from 'fastify';
import type { Cid } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import type { Store } from '../../store/store.ts';

/** Limits of one server. */
export interface Limits {
  /** Bytes of a JSON body. */
  readonly bodyBytes: number;
  /** Bytes of one record. */
  readonly recordBytes: number;
  /** Bytes of an upload (blocks, CAR, log). */
  readonly uploadBytes: number;
  /** CIDs in one question. */
  readonly cids: number;
  /** Requests a minute from one address; null: no limit. */
  readonly requestsPerMinute: number | null;
  /** Milliseconds in which a request must have come in whole. */
  readonly requestMilliseconds: number;
  /** Mean delay of the event loop above which requests are sent away; null: never. */
  readonly loopMilliseconds: number | null;
  /** Open event streams. */
  readonly listeners: number;
}

export const LIMITS: Limits = {
  bodyBytes: 2 << 20,
  recordBytes: 64 << 20,
  uploadBytes: 2 ** 40,
  cids: 10_000,
  requestsPerMinute: 1200,
  requestMilliseconds: 600_000,
  loopMilliseconds: 5000,
  listeners: 64,
};

/** Why something does not run: one answer of the daemon's closed list. */
export interface Reason {
  readonly subject: Cid;
  readonly reason: string;
  readonly detail: string;
}

export interface Parts {
  readonly store: Store;
  readonly limits: Limits;
  /** Refuses who may not write, before the body is read. */
  readonly mayWrite: onRequestHookHandler;
  /** True for the store's owner on its own socket: also the store log and the path are told. */
  readonly owner: boolean;
  /** What waits to be run, as plain data; absent where there is no scheduler. */
  readonly pending?: () => Promise<readonly Value[]>;
  /** Why it does not run, or does. */
  readonly why?: (cid: Cid) => Promise<readonly Reason[]>;
}
