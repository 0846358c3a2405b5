/**
 * The files of one log, open: what every part of a log works on.
 * Promises: origin, key and checkpoint fit each other and the folder; what does not is E_STORE_DAMAGED with the file's
 * name, whatever the bytes in it.
 * Does not promise: leaves that fit the checkpoint (sign.ts) or hashes that fit the leaves (tree.ts).
 */
import { damaged, otherwiseDamaged } from '../damage.ts';
import type { OnFault } from '../faults.ts';
import { type Files, readWhole, writeDurably } from '../files.ts';
import { type Checkpoint, openCheckpoint } from '../format/checkpoint.ts';
import type { Cid } from '../format/cid.ts';
import { type Frontier, type Hash, openFrontier } from '../format/merkle.ts';
import { parseVerifierKey, type VerifierKey } from '../format/note.ts';
import { isPulled, type Layout, type LogFiles, pulledName } from '../keys.ts';
import type { LogKey } from './key.ts';
import type { LocalLeaf } from './leaf.ts';

/** How far the catalog has read: leaves, and the offset of the next one. */
export interface LogCursor {
  readonly count: number;
  readonly offset: number;
}

/** A line of the leaves file. */
export interface Line {
  readonly index: number;
  readonly offset: number;
  /** Offset of the next line. */
  readonly end: number;
  readonly bytes: Uint8Array;
  /** null where the bytes are damaged: the tree keeps the hash, the leaf is lost. */
  readonly leaf: LocalLeaf | null;
}

export interface LogOptions {
  readonly files: Files;
  readonly layout: Layout;
  readonly name: string;
  readonly family: Cid | null;
  /** null: cannot append or sign. */
  readonly key: LogKey | null;
  readonly writable: boolean;
  /** Leaves before it were looked at before. */
  readonly from: LogCursor;
  readonly onFault: OnFault;
}

export interface State extends LogOptions {
  readonly paths: LogFiles;
  readonly origin: string;
  readonly vkey: string;
  readonly leaves: number;
  /** null: there is no file, and none can be made. */
  readonly hashes: number | null;
  /** Bytes of the file of hashes before the leaves were looked at: beside an owner that appends, both grow meanwhile. */
  readonly hashed: number;
  frontier: Frontier;
  /** End of the last durable leaf. */
  bytes: number;
  /** After a failed append nobody knows what the file holds. */
  broken: unknown;
  /** Hashes that the file does not hold, or holds wrong, by position. */
  readonly unwritten: Map<number, Hash>;
  /** Leaves whose bytes are not those that were entered; known once `sound` has looked. */
  readonly damaged: Set<number>;
  /** The look at leaves and hashes as a whole, once. */
  sound: Promise<void> | null;
  /** Checkpoints are signed one after the other. */
  signing: Promise<unknown>;
  stored: { readonly bytes: Uint8Array; readonly checkpoint: Checkpoint } | null;
}

/** A text of one line, or null where there is no file or no closed line. */
export function readLine(files: Files, path: string): string | null {
  const bytes = readWhole(files, path);
  const text = bytes === null ? '' : Buffer.from(bytes).toString();
  return text.endsWith('\n') ? text.slice(0, -1) : null;
}

/** Opens the files. Throws E_STORE_DAMAGED, E_IO. */
export async function openState(options: LogOptions): Promise<State> {
  const { files, layout, name, writable } = options;
  const paths = layout.log(name);
  const { origin, vkey, key } = readIdentity(files, paths, name);
  const stored = storedCheckpoint(files, paths, key, isPulled(name));
  if (files.size(paths.leaves) === null) damaged(paths.leaves, 'the leaves', 'nothing');
  if (writable && files.size(paths.hashes) === null)
    await writeDurably(files, paths.hashes, new Uint8Array(), layout.temporary());
  const open = (path: string) => (writable ? files.openWrite(path) : Promise.resolve(files.openRead(path)));
  const leaves = await open(paths.leaves);
  const hashed = files.size(paths.hashes);
  const hashes = hashed === null ? null : await open(paths.hashes);
  const fresh = {
    frontier: openFrontier(),
    bytes: 0,
    broken: null,
    unwritten: new Map(),
    damaged: new Set<number>(),
    sound: null,
    signing: Promise.resolve(),
  };
  return { ...options, paths, origin, vkey, leaves, hashes, hashed: hashed ?? 0, stored, ...fresh };
}

export function closeState({ files, leaves, hashes }: State): void {
  files.close(leaves);
  if (hashes !== null) files.close(hashes);
}

/** The id in a vkey is a hash over name and key: where it fits, another origin is the one that is wrong. */
function readIdentity(files: Files, paths: LogFiles, name: string) {
  const vkey = readLine(files, paths.vkey) ?? damaged(paths.vkey, 'a verifier key', 'no closed line');
  const key = otherwiseDamaged(paths.vkey, 'a verifier key', () => parseVerifierKey(vkey));
  const origin = readLine(files, paths.origin) ?? damaged(paths.origin, key.name, 'no closed line');
  if (origin !== key.name) damaged(paths.origin, key.name, JSON.stringify(origin));
  const folder = isPulled(name) ? pulledName(origin) : origin.slice(origin.lastIndexOf('/') + 1);
  if (folder !== name) damaged(paths.folder, `the folder ${folder} of ${origin}`, name);
  return { vkey, origin, key };
}

function storedCheckpoint(files: Files, paths: LogFiles, key: VerifierKey, needed: boolean): State['stored'] {
  const bytes = readWhole(files, paths.checkpoint);
  if (bytes === null && needed) damaged(paths.checkpoint, 'the checkpoint that came with it', 'nothing');
  if (bytes === null) return null;
  const open = () => openCheckpoint(bytes, key).checkpoint;
  return { bytes, checkpoint: otherwiseDamaged(paths.checkpoint, 'a signed checkpoint', open) };
}
