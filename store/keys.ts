/**
 * Where everything lies: the only file that knows the layout of a store on disk and the spelling of catalog keys.
 * Promises: one path per thing, one key per question.
 * Does not promise: that anything is there.
 *
 *   ashlar.json                     marker: format version and the store's own id
 *   segments/00000001.car           small blocks, CARv1 with flush records
 *   big/<digest>                    one block of 1 MiB or more
 *   big/<digest>.leaves             SHA-256 of each of its MiB
 *   logs/<name>/{origin,leaves,hashes,checkpoint,vkey}   name: `store`, a first study's cid, or `pulled-<32 hex>`
 *   level/                          the catalog; can be deleted
 *   lock/                           open = owned
 *   owner.json                      how to reach the owner; a hint
 *   tmp/                            unfinished files; emptied by the next owner
 *   quarantine/                     what was torn or damaged, kept
 */
import { join } from 'node:path';
import { type Cid, type Digest, isCid } from './format/cid.ts';
import { random, sha256Hex } from './format/crypto.ts';

/** Version of all that this file spells. */
export const FORMAT = 1;
/** Where small becomes big, and the size of a big block's leaf (bytes). */
export const MEBIBYTE = 1 << 20;
/** A segment is closed when the next flush would pass this size (bytes). */
export const SEGMENT_LIMIT = 128 * MEBIBYTE;

export interface LogFiles {
  readonly folder: string;
  readonly origin: string;
  readonly leaves: string;
  readonly hashes: string;
  readonly checkpoint: string;
  readonly vkey: string;
}

export interface Layout {
  readonly root: string;
  readonly marker: string;
  readonly segments: string;
  readonly big: string;
  readonly logs: string;
  readonly level: string;
  readonly lock: string;
  readonly owner: string;
  readonly tmp: string;
  readonly quarantine: string;
  segment(number: number): string;
  bigBlock(digest: Digest): string;
  bigLeaves(digest: Digest): string;
  log(name: string): LogFiles;
  /** A name that nobody else has. */
  temporary(): string;
  quarantined(name: string): string;
}

export function layoutOf(root: string): Layout {
  const at = (...names: string[]) => join(root, ...names);
  return {
    root,
    marker: at('ashlar.json'),
    segments: at('segments'),
    big: at('big'),
    logs: at('logs'),
    level: at('level'),
    lock: at('lock'),
    owner: at('owner.json'),
    tmp: at('tmp'),
    quarantine: at('quarantine'),
    segment: (number) => at('segments', `${String(number).padStart(8, '0')}.car`),
    bigBlock: (digest) => at('big', digest),
    bigLeaves: (digest) => at('big', `${digest}.leaves`),
    log: (name) => logFilesIn(at('logs', name)),
    temporary: () => at('tmp', Buffer.from(random(16)).toString('hex')),
    quarantined: (name) => at('quarantine', name),
  };
}

export const logFilesIn = (folder: string): LogFiles => ({
  folder,
  origin: join(folder, 'origin'),
  leaves: join(folder, 'leaves'),
  hashes: join(folder, 'hashes'),
  checkpoint: join(folder, 'checkpoint'),
  vkey: join(folder, 'vkey'),
});

/** Folders that a store has from the start. */
export const folders = (layout: Layout): readonly string[] => [
  layout.segments,
  layout.big,
  layout.logs,
  layout.tmp,
  layout.quarantine,
];

/** The number of a segment by its file name, or null for another file. */
export function segmentNumber(name: string): number | null {
  const [, digits] = /^(\d{8,})\.car$/.exec(name) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** Folder of a log made elsewhere. */
export const pulledName = (origin: string): string => `pulled-${sha256Hex(Buffer.from(origin)).slice(0, 32)}`;
export const isPulled = (name: string): boolean => name.startsWith('pulled-');
export const STORE_LOG = 'store';
/** Whether a folder of this name may be a log. */
export const isLogName = (name: string): boolean =>
  name === STORE_LOG || isCid(name) || /^pulled-[0-9a-f]{32}$/.test(name);

/** Fixed width, so that keys sort by number. */
const padded = (n: number): string => String(n).padStart(16, '0');

/** Catalog keys. Every question is one `get` or one range. */
export const key = {
  block: (digest: Digest) => `b/${digest}`,
  record: (cid: Cid) => `r/${cid}`,
  kind: (kind: string, sequence: number) => `k/${kind}/${padded(sequence)}`,
  arrival: (sequence: number) => `s/${padded(sequence)}`,
  linker: (to: string, kind: string, from: Cid) => `l/${to}/${kind}/${from}`,
  derivation: (digest: Digest) => `d/${digest}`,
  unique: (log: string, unique: string) => `u/${log}/${sha256Hex(Buffer.from(unique))}`,
  name: (name: string) => `n/${name}`,
  leaf: (log: string, index: number) => `g/${log}/${padded(index)}`,
  logCursor: (log: string) => `c/log/${log}`,
  segmentCursor: 'c/segment',
  flush: (segment: number, end: number) => `f/${padded(segment)}/${padded(end)}`,
  catalogId: 'c/id',
  sequence: 'c/sequence',
} as const;

export const prefix = {
  blocks: 'b/',
  records: 'r/',
  kind: (kind: string) => `k/${kind}/`,
  arrivals: 's/',
  linkers: (to: string) => `l/${to}/`,
  linkersOfKind: (to: string, kind: string) => `l/${to}/${kind}/`,
  names: (start: string) => `n/${start}`,
  leaves: (log: string) => `g/${log}/`,
  logCursors: 'c/log/',
  flushes: 'f/',
  flushesOf: (segment: number) => `f/${padded(segment)}/`,
} as const;

/** What stands after the last slash. */
export const lastPart = (text: string): string => text.slice(text.lastIndexOf('/') + 1);
