/**
 * Family logs, copied whole.
 * Promises: a copy is signed by the key that the log had before (or that the caller pins), and the leaves have the signed
 * root, before a block is asked for. A log that lost or changed leaves is E_LOG_ROLLBACK.
 */
import { openCheckpoint } from '../../store/format/checkpoint.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { leafHash, treeRoot } from '../../store/format/merkle.ts';
import { parseVerifierKey } from '../../store/format/note.ts';
import { counted } from '../../store/format/words.ts';
import { parseLeaf } from '../../store/log/leaf.ts';
import type { LogCopy, LogInfo, Store } from '../../store/store.ts';
import { lines } from '../api/http.ts';
import type { Source } from './source.ts';

export interface FetchedLog {
  readonly copy: LogCopy;
  /** The records, in order. */
  readonly cids: readonly Cid[];
}

/** Longest log that is taken (bytes). */
const MAX_LOG = 1 << 30;

/** Throws E_SIGNATURE (another key than pinned or held), E_PROOF, E_NOTE, E_CODEC, E_REMOTE. */
export async function fetchLog(
  store: Store,
  source: Source,
  { origin, family, vkey }: LogInfo & { readonly family: Cid },
  keys?: readonly string[],
): Promise<FetchedLog> {
  const held = (await store.logs.list()).find((log) => log.origin === origin);
  const trusted = held === undefined ? keys : [held.vkey];
  if (trusted !== undefined && !trusted.includes(vkey))
    fail('E_SIGNATURE', { where: origin, wanted: trusted.join(' or '), found: vkey });
  const checkpoint = await source.checkpoint(family);
  const { size, root } = openCheckpoint(checkpoint, parseVerifierKey(vkey)).checkpoint;
  const leaves = await leavesOf(source, origin, size);
  const hashes: Uint8Array[] = [];
  const cids: Cid[] = [];
  for await (const line of lines(once(leaves))) {
    hashes.push(leafHash(line));
    cids.push(parseLeaf(line).cid);
  }
  if (hashes.length !== size || Buffer.compare(treeRoot(hashes), root) !== 0)
    fail('E_PROOF', {
      where: origin,
      wanted: `the signed root of ${counted(size, 'leaf', 'leaves')}`,
      found: 'another',
    });
  return { copy: { origin, family, vkey, leaves, checkpoint }, cids };
}

async function leavesOf(source: Source, origin: string, size: number): Promise<Buffer> {
  const all: Uint8Array[] = [];
  let held = 0;
  for await (const line of source.logs.leafBytes(origin, { start: 0, end: size })) {
    held += line.length;
    if (held > MAX_LOG) fail('E_TOO_LARGE', { where: origin, wanted: `at most ${MAX_LOG} bytes` });
    all.push(line);
  }
  return Buffer.concat(all);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
