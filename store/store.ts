/**
 * What a store is to everyone outside it. The folder on disk (open.ts), and a client of a daemon, are both this.
 * Promises: names, types and faults of every verb. A block handed out has the digest asked for; a record exists only
 * once its leaf is durable; what resolved is on disk.
 * Does not promise: anything about what a record means. Record kinds come in as a `KindTable`.
 */
import type { Cid, Codec, Digest, Evidence } from './format/cid.ts';
import type { Value } from './format/codec.ts';
import type { Range, Reader } from './format/reader.ts';
import type { Tile } from './format/tile.ts';

/** A block expected behind a link: a file, a tree node, a snapshot, anything, or a record of that kind. */
export type WantedKind = 'raw' | 'tree' | 'snapshot' | '*' | (string & {});

export interface WantedLink {
  readonly cid: Cid;
  readonly kinds: readonly WantedKind[];
}

/** All that the store needs to know of a record. */
export interface RecordFacts {
  readonly kind: string;
  readonly links: readonly WantedLink[];
  /** Digests that must be present where the record is made, and that no closure follows. */
  readonly evidence: readonly Digest[];
  /** Two records of one log never share this key. */
  readonly unique?: string;
  /** Two records of one store never share this key. */
  readonly derivation?: Digest;
}

export interface KindTable {
  /** Throws E_CONTRACT for a value that is no record of any kind, and E_KIND for an unknown kind. */
  facts(value: Value): RecordFacts;
  /** The first study whose family log takes this record, or null for the store log. `read` gives linked records. */
  family(value: Value, cid: Cid, read: (cid: Cid) => Promise<Value>): Promise<Cid | null>;
}

/** One entry of a log: the exact value whose canonical dag-json bytes are the leaf. */
export interface Leaf {
  readonly kind: string;
  readonly cid: Cid;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
}

/** Where a record stands. */
export interface LeafPlace extends Leaf {
  /** The origin line of the log. */
  readonly log: string;
  /** Zero-based. */
  readonly index: number;
}

export interface Recorded extends LeafPlace {
  /** False when the record stood there already. */
  readonly added: boolean;
}

export interface RecordOptions {
  /** The record was made in another store: its evidence need not be here. */
  readonly imported?: boolean;
}

/** A record in the order in which this store came to know it. */
export interface Arrival extends LeafPlace {
  /** Pass it to `since` to go on after this one. Opaque; valid for this catalog, and read as "from the start" by another. */
  readonly cursor: string;
}

export interface NameHead {
  readonly name: string;
  /** Null: the name was withdrawn. */
  readonly target: Cid | null;
  /** The `name` record that says so. */
  readonly record: Cid;
}

export interface LogInfo {
  readonly origin: string;
  /** The first study of a family log; null for the store log. */
  readonly family: Cid | null;
  /** Number of leaves. */
  readonly size: number;
  /** Whether this store can append to it. */
  readonly writable: boolean;
  /** The verifier key (C2SP signed note) of the log. */
  readonly vkey: string;
}

/** All that another store needs to hold a family log. */
export interface LogCopy {
  readonly origin: string;
  readonly family: Cid;
  readonly vkey: string;
  /** The leaves, one a line, each line closed by LF. */
  readonly leaves: Uint8Array;
  /** The signed checkpoint; its size is the number of leaves. */
  readonly checkpoint: Uint8Array;
}

/** C2SP tlog views of the logs. `log` is an origin; E_NOT_FOUND when there is no such log. */
export interface Logs {
  list(): Promise<readonly LogInfo[]>;
  /** The log that takes the records of this family, made on its first record. Null when there is none. */
  ofFamily(study: Cid): Promise<LogInfo | null>;
  /**
   * A signed checkpoint over at least `size` leaves (default: all). A size is signed once, and only when its leaves
   * are durable. Throws E_LOG_KEY where the key is absent and no signed checkpoint covers that size.
   */
  checkpoint(log: string, size?: number): Promise<Uint8Array>;
  /** Leaves of a half-open range (default: all). */
  leaves(log: string, range?: Range): AsyncIterable<Leaf>;
  /** The same leaves as exact bytes, one a line. */
  leafBytes(log: string, range?: Range): AsyncIterable<Uint8Array>;
  /** The root hash (32 bytes) of the first `size` leaves. */
  root(log: string, size: number): Promise<Uint8Array>;
  /** RFC 6962 audit path of leaf `index` in the tree of `size` leaves. O(log n). */
  inclusion(log: string, index: number, size: number): Promise<readonly Uint8Array[]>;
  /** RFC 6962 consistency proof between two sizes. O(log n). */
  consistency(log: string, from: number, to: number): Promise<readonly Uint8Array[]>;
  /** The bytes of a C2SP tile of hashes or bundle of entries. Throws E_NOT_FOUND for one the log does not fill. */
  tile(log: string, tile: Tile): Promise<Uint8Array>;
  /** Keeps a family log of another store, read-only, under its origin. Its records must be here already. */
  adopt(copy: LogCopy): Promise<LogInfo>;
}

export interface PutOptions {
  /** How the block will be linked; `raw` unless said. It is not part of the block's place. */
  readonly codec?: Codec;
  /** Refuse with E_DIGEST, and keep nothing, unless the bytes have this CID. */
  readonly expect?: Cid;
}

export interface Stored {
  readonly cid: Cid;
  /** Bytes. */
  readonly size: number;
  /** False when a sound copy was there already. */
  readonly added: boolean;
}

/** One block of a batch. */
export interface NewBlock extends PutOptions {
  readonly bytes: Uint8Array;
}

/** How a process that owns a store can be reached. */
export interface Owner {
  readonly pid: number;
  /** Path of a unix socket, or an http URL. */
  readonly socket?: string;
}

/** Content in, CID out; records in, leaves out. Every promise of a write resolves once it is durable. */
export interface Store extends Reader {
  /** Real path of the folder, or URL of the daemon. */
  readonly path: string;
  readonly writable: boolean;
  /** Set where another process owns the store, and this one only asks it. */
  readonly remote?: true;
  /** Bytes of a block. E_NOT_FOUND. */
  size(cid: Cid): Promise<number>;
  /** Stores bytes or a stream; this is an `Emit`. */
  put(content: Uint8Array | AsyncIterable<Uint8Array>, codec?: Codec): Promise<Cid>;
  /** The same for a stream, with an expectation, telling size and whether it was new. Memory flat. */
  putStream(content: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<Stored>;
  /** Stores a batch with few fsyncs; results in order. A refused block (E_DIGEST) refuses the call. */
  putMany(blocks: Iterable<NewBlock> | AsyncIterable<NewBlock>): Promise<readonly Stored[]>;

  /**
   * Gives a record its leaf. Idempotent: a record that stands already is answered with its place. Throws E_CONTRACT,
   * E_KIND, E_LINK (absent or of another kind), E_DUPLICATE (unique or derivation key taken), E_NAME_CONFLICT,
   * E_LOG_KEY, E_READ_ONLY.
   */
  record(value: Value, options?: RecordOptions): Promise<Recorded>;
  /** The value of a record, tree node or snapshot, deeply frozen. */
  value(cid: Cid): Promise<Value>;
  /** Cids of all records of a kind, in arrival order (leaf order within a log). */
  byKind(kind: string): AsyncIterable<Cid>;
  /** Records that link to this cid, in cid order. */
  linkers(cid: Cid, kind?: string): AsyncIterable<Cid>;
  /** Records that hold this evidence reference, in cid order. */
  evidenceOf(reference: Evidence, kind?: string): AsyncIterable<Cid>;
  /** The record of a derivation key. */
  derived(derivation: Digest): Promise<Cid | null>;
  /** The kind of a record; null for blocks without a leaf. */
  kindOf(cid: Cid): Promise<string | null>;
  leafOf(cid: Cid): Promise<LeafPlace | null>;
  /** Records that came after the cursor, up to now; no cursor: all. O(answer). */
  since(cursor?: string): AsyncIterable<Arrival>;
  /** Calls back after every batch of new records; returns the way to stop. */
  onRecords(listener: () => void): () => void;

  /** The head of a name; null when there never was one. */
  name(name: string): Promise<NameHead | null>;
  names(prefix?: string): AsyncIterable<NameHead>;
  /**
   * Points a name at a target (null withdraws it). `previous` is the record that the caller saw as the head (null: none;
   * left out: whatever it is now). E_NAME_CONFLICT when the head is another.
   */
  setName(name: string, target: Cid | null, previous?: Cid | null): Promise<NameHead>;

  readonly logs: Logs;
  /** Tells other processes how to reach this one. Written after lock and listen. */
  announce(owner: Owner): Promise<void>;
  close(): Promise<void>;
}
