/**
 * The family log, replayed whole: signatures of C0, C1 and C2, their roots recomputed from every leaf, the consistency
 * proof, and the inclusion of the release's own leaf.
 */

import { fromBase64 } from '../../store/format/base64.ts';
import {
  type Checkpoint,
  openCheckpoint,
  parseLogProof,
  verifyLogged,
} from '../../store/format/checkpoint.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { leafHash, treeRoot, verifyConsistency } from '../../store/format/merkle.ts';
import { parseVerifierKey, type VerifierKey } from '../../store/format/note.ts';
import { counted } from '../../store/format/words.ts';
import { type Leaf, leafLines, parseLeaf } from '../close/entries.ts';
import { LOG_FILES, MANIFEST, SEAL_FILES } from '../release/files.ts';
import { type Faults, guarded } from './fault.ts';
import type { Publication } from './source.ts';

export interface ReplayedLog {
  readonly key: VerifierKey | undefined;
  readonly vkey: string | undefined;
  /** The leaves that C1 covers. */
  readonly leaves: readonly Leaf[];
  readonly lines: readonly Uint8Array[];
  readonly c0: Checkpoint | undefined;
  readonly c1: Checkpoint | undefined;
}

/** Replays the log of a publication. What cannot be read is a fault, and empty for all that follows. */
export async function replayLog(
  source: Publication,
  release: Cid | undefined,
  faults: Faults,
): Promise<ReplayedLog> {
  const vkey = await guarded(faults, 'log', LOG_FILES.vkey, async () =>
    text(await source.read(LOG_FILES.vkey)).trimEnd(),
  );
  const key =
    vkey === undefined
      ? undefined
      : await guarded(faults, 'log', LOG_FILES.vkey, () => parseVerifierKey(vkey));
  const lines =
    (await guarded(faults, 'log', LOG_FILES.entries, async () =>
      leafLines(await source.read(LOG_FILES.entries)),
    )) ?? [];
  const read = (path: string) =>
    guarded(faults, 'log', path, async () => opened(await source.read(path), key).checkpoint);
  const c0 = await read(LOG_FILES.c0);
  const c1 = await read(LOG_FILES.c1);
  if (c0 !== undefined) checkRoot(c0, lines, LOG_FILES.c0, faults);
  if (c1 !== undefined) checkCover(c1, lines, faults);
  const log = { key, vkey, leaves: await readLeaves(lines, faults), lines, c0, c1 };
  checkFamily(log, faults);
  await checkSeal(source, log, release, faults);
  return log;
}

function opened(bytes: Uint8Array, key: VerifierKey | undefined) {
  if (key === undefined) fail('E_SIGNATURE', { wanted: 'a log key', found: 'none that can be read' });
  return openCheckpoint(bytes, key);
}

/** A log is named after the first version of its study: another study's log is not this one's. */
function checkFamily({ key, leaves }: ReplayedLog, faults: Faults): void {
  const family = leaves[0]?.cid;
  if (key !== undefined && family !== undefined && !key.name.endsWith(`/${family}`))
    faults.add('log', LOG_FILES.vkey, `the key is of ${key.name}, the log begins with ${family}`);
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

async function readLeaves(lines: readonly Uint8Array[], faults: Faults): Promise<Leaf[]> {
  const leaves: Leaf[] = [];
  for (const [i, line] of lines.entries()) {
    const leaf = await guarded(faults, 'log', `leaf ${i}`, () => parseLeaf(line));
    if (leaf !== undefined) leaves.push(leaf);
  }
  return leaves;
}

function checkCover(c1: Checkpoint, lines: readonly Uint8Array[], faults: Faults): void {
  if (c1.size === lines.length) checkRoot(c1, lines, LOG_FILES.c1, faults);
  else
    faults.add(
      'log',
      LOG_FILES.entries,
      `C1 covers ${counted(c1.size, 'leaf', 'leaves')}, ${lines.length} are there`,
    );
}

function checkRoot(
  checkpoint: Checkpoint,
  lines: readonly Uint8Array[],
  at: string,
  faults: Faults,
  last: string = LOG_FILES.entries,
): void {
  const { size, root } = checkpoint;
  if (size > lines.length) {
    faults.add('log', at, `covers ${counted(size, 'leaf', 'leaves')}, ${lines.length} are there`);
    return;
  }
  const found = treeRoot(lines.slice(0, size).map(leafHash));
  if (Buffer.compare(found, root) !== 0)
    faults.add('log', at, `the leaves up to ${last} give another root than the signed one`);
}

/** The seal: leaves after C1, the later checkpoint, and that the release's leaf is among them. */
async function checkSeal(
  source: Publication,
  log: ReplayedLog,
  release: Cid | undefined,
  faults: Faults,
): Promise<void> {
  const more = await guarded(faults, 'log', SEAL_FILES.entries, async () => {
    const lines = leafLines(await source.read(SEAL_FILES.entries));
    const named = lines.map(parseLeaf).filter(({ kind }) => kind === 'release');
    if (release !== undefined && !named.some(({ cid }) => cid === release)) {
      const found = named.map(({ cid }) => cid).join(', ') || 'no release';
      faults.add('manifest', MANIFEST, `is ${release}; ${SEAL_FILES.entries} names ${found}`);
    }
    return lines;
  });
  const c2 = await guarded(faults, 'log', SEAL_FILES.c2, async () => {
    const bytes = await source.read(SEAL_FILES.c2);
    return { bytes, checkpoint: opened(bytes, log.key).checkpoint };
  });
  const lines = [...log.lines, ...(more ?? [])];
  if (c2 === undefined) faults.add('log', SEAL_FILES.entries, 'no C2 that can be read covers it');
  else if (more !== undefined) checkEnd(c2.checkpoint, lines, faults);
  await guarded(faults, 'log', SEAL_FILES.consistency, async () => {
    const proof = hashLines(await source.read(SEAL_FILES.consistency));
    if (log.c1 === undefined || c2 === undefined)
      fail('E_PROOF', { wanted: 'C1 and C2', found: 'one that cannot be read' });
    const { size: size1, root: root1 } = log.c1;
    const { size: size2, root: root2 } = c2.checkpoint;
    verifyConsistency({ size1, root1, size2, root2, proof });
  });
  await guarded(faults, 'log', SEAL_FILES.proof, async () =>
    checkProof(await source.read(SEAL_FILES.proof), { log, lines, c2: c2?.bytes, release }),
  );
}

function checkEnd(c2: Checkpoint, lines: readonly Uint8Array[], faults: Faults): void {
  if (c2.size === lines.length) checkRoot(c2, lines, SEAL_FILES.c2, faults, SEAL_FILES.entries);
  else
    faults.add(
      'log',
      SEAL_FILES.entries,
      `C2 covers ${counted(c2.size, 'leaf', 'leaves')}, ${lines.length} are there`,
    );
}

interface Sealed {
  readonly log: ReplayedLog;
  readonly lines: readonly Uint8Array[];
  readonly c2: Uint8Array | undefined;
  readonly release: Cid | undefined;
}

/** The inclusion of the release's own leaf. Throws E_NOTE, E_SIGNATURE, E_PROOF. */
function checkProof(bytes: Uint8Array, { log, lines, c2, release }: Sealed): void {
  const proof = parseLogProof(bytes);
  const line = lines[proof.index];
  if (c2 === undefined || Buffer.compare(proof.checkpoint, c2) !== 0)
    fail('E_PROOF', { wanted: 'the proof of C2', found: 'another' });
  if (line === undefined)
    fail('E_PROOF', { wanted: 'a leaf', found: `index ${proof.index} of ${lines.length}` });
  if (log.key === undefined) fail('E_SIGNATURE', { wanted: 'a log key', found: 'none that can be read' });
  verifyLogged(proof, leafHash(line), log.key);
  const leaf = parseLeaf(line);
  if (proof.index < log.lines.length || leaf.kind !== 'release')
    fail('E_PROOF', { wanted: 'a release after C1', found: `${leaf.kind} at ${proof.index}` });
  if (release !== undefined && leaf.cid !== release)
    fail('E_PROOF', { wanted: `the leaf of ${release}`, found: leaf.cid });
}

function hashLines(bytes: Uint8Array): Uint8Array[] {
  const lines = text(bytes).split('\n');
  if (lines.pop() !== '') fail('E_PROOF', { wanted: 'lines closed by LF' });
  return lines.map((line) => fromBase64(line) ?? fail('E_PROOF', { wanted: 'base64', found: line }));
}
