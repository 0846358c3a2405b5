/**
 * What the parts of one meter share: its configuration, what it must report, and its first fault.
 * Promises: after a fault is noted, every later request is refused.
 * Does not promise: anything about the bytes; see exchange.ts.
 */
import type { Cap, Price, Usage } from '../../rules/cost.ts';
import type { Memory } from '../../rules/memory/block.ts';
import type { Cid } from '../../store/format/cid.ts';
import { AshlarError } from '../../store/format/errors.ts';
import type { Emit } from '../../store/format/reader.ts';
import type { RunBudget } from './budget.ts';
import type { Upstream, UpstreamConfig } from './upstream.ts';

/** What is promised before a request leaves. */
export interface Reservation {
  /** 1 for the first request of this meter that was not refused. */
  readonly sequence: number;
  readonly request: Cid;
  readonly bytes: number;
  readonly model: string;
  readonly maxTokens: number;
  readonly worstCaseMicros: number;
}

/** What came of it. */
export interface Booking {
  /** The name that `reserve` gave. */
  readonly reservation: string;
  readonly sequence: number;
  readonly request: Cid;
  /** Empty where no answer began. */
  readonly response: Cid;
  /** HTTP status of the upstream; 0 where none came. */
  readonly status: number;
  /** Absent where none came back whole. */
  readonly usage?: Usage;
  readonly micros: number;
  /** `worst-case` where there is no usage. */
  readonly basis: 'usage' | 'worst-case';
  /** The answer arrived whole. */
  readonly complete: boolean;
}

/** Asks the memory under test. A rejection is a fault of ours (or of the product), never the agent's. */
export type Recall = (asked: { query: string; limit: number }) => Promise<readonly Memory[]>;

export interface MeterConfig {
  readonly listen: { readonly socket: string; readonly mode?: number } | { readonly port: number };
  readonly upstream: UpstreamConfig;
  /** Registered models and their prices; another model is not called. */
  readonly prices: Readonly<Record<string, Price>>;
  readonly budget: RunBudget;
  /** Puts the ledger reservation and gives its name; the request is stored already. */
  readonly reserve: (reservation: Reservation) => Promise<string>;
  /** Puts the exchange (and with it the booking). Called exactly once for every reservation. */
  readonly book: (booking: Booking) => Promise<void>;
  readonly emit: Emit;
  /** Answers the memory tool, where the condition declares it. */
  readonly recall?: Recall;
  readonly maxRequestBytes?: number;
  readonly maxResponseBytes?: number;
}

/** What all parts of one meter share. */
export interface Desk extends Omit<MeterConfig, 'upstream' | 'listen'> {
  readonly upstream: Upstream;
  readonly key: string | undefined;
  readonly maxRequestBytes: number;
  readonly maxResponseBytes: number;
  readonly seen: { sent: number; exchanges: number; refusedBy?: Cap; fault?: AshlarError; first?: Cid };
}

/** The first fault stays; it names neither key nor body. */
export function noteFault(desk: Desk, where: string, cause: unknown): void {
  desk.seen.fault ??=
    cause instanceof AshlarError
      ? cause
      : new AshlarError('E_METER', {
          where,
          found: cause instanceof Error ? cause.message : 'a fault',
          cause,
        });
}
