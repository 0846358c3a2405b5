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
import { type Leaf, leafLines, parseLeaf } from '../close/entries.ts';
import { LOG_FILES, SEAL_FILES } from '../release/files.ts';
import { type Faults, guarded } from './fault.ts';
import type { Publication } from './source.ts';

export interface ReplayedLog {
  readonly key: VerifierKey;
  readonly vkey: string;
  /** The leaves that C1 covers. */
  readonly leaves: readonly Leaf[];
  readonly lines: readonly Uint8Array[];
  readonly c0: Checkpoint | undefined;
  readonly c1: Checkpoint | undefined;
}

/** Replays the log of a publication. Undefined where key or leaves cannot be read at all. */
export async function replayLog(
  source: Publication,
  release: Cid,
  faults: Faults,
): Promise<ReplayedLog | undefined> {
  const vkey = await guarded(faults, 'log', LOG_FILES.vkey, async () =>
    text(await source.read(LOG_FILES.vkey)).trimEnd(),
  );
  const key =
    vkey === undefined
      ? undefined
      : await guarded(faults, 'log', LOG_FILES.vkey, () => parseVerifierKey(vkey));
  const lines = await guarded(faults, 'log', LOG_FILES.entries, async () =>
    leafLines(await source.read(LOG_FILES.entries)),
  );
  if (vkey === undefined || key === undefined || lines === undefined) return undefined;
  const read = (path: string) =>
    guarded(faults, 'log', path, async () => openCheckpoint(await source.read(path), key).checkpoint);
  const c0 = await read(LOG_FILES.c0);
  const c1 = await read(LOG_FILES.c1);
  if (c0 !== undefined) checkRoot(c0, lines, LOG_FILES.c0, faults);
  if (c1 !== undefined) checkCover(c1, lines, faults);
  const log = { key, vkey, leaves: await readLeaves(lines, faults), lines, c0, c1 };
  await checkSeal(source, log, release, faults);
  return log;
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
  else faults.add('log', LOG_FILES.entries, `C1 covers ${c1.size} leaves, ${lines.length} are there`);
}

function checkRoot(checkpoint: Checkpoint, lines: readonly Uint8Array[], at: string, faults: Faults): void {
  const { size, root } = checkpoint;
  if (size > lines.length) {
    faults.add('log', at, `covers ${size} leaves, ${lines.length} are there`);
    return;
  }
  const found = treeRoot(lines.slice(0, size).map(leafHash));
  if (Buffer.compare(found, root) !== 0)
    faults.add('log', at, `the leaves give another root than the signed one`);
}

/** The seal: leaves after C1, the later checkpoint, and that the release's leaf is among them. */
async function checkSeal(source: Publication, log: ReplayedLog, release: Cid, faults: Faults): Promise<void> {
  const more = await guarded(faults, 'log', SEAL_FILES.entries, async () =>
    leafLines(await source.read(SEAL_FILES.entries)),
  );
  const c2 = await guarded(faults, 'log', SEAL_FILES.c2, async () => {
    const bytes = await source.read(SEAL_FILES.c2);
    return { bytes, checkpoint: openCheckpoint(bytes, log.key).checkpoint };
  });
  if (more === undefined || c2 === undefined) return;
  const lines = [...log.lines, ...more];
  if (c2.checkpoint.size !== lines.length) {
    faults.add(
      'log',
      SEAL_FILES.entries,
      `C2 covers ${c2.checkpoint.size} leaves, ${lines.length} are there`,
    );
  } else checkRoot(c2.checkpoint, lines, SEAL_FILES.c2, faults);
  await guarded(faults, 'log', SEAL_FILES.consistency, async () => {
    const proof = hashLines(await source.read(SEAL_FILES.consistency));
    if (log.c1 === undefined) return;
    const { size: size1, root: root1 } = log.c1;
    const { size: size2, root: root2 } = c2.checkpoint;
    verifyConsistency({ size1, root1, size2, root2, proof });
  });
  await guarded(faults, 'log', SEAL_FILES.proof, async () => {
    const proof = parseLogProof(await source.read(SEAL_FILES.proof));
    const line = lines[proof.index];
    if (Buffer.compare(proof.checkpoint, c2.bytes) !== 0)
      fail('E_PROOF', { wanted: 'the proof of C2', found: 'another' });
    if (line === undefined)
      fail('E_PROOF', { wanted: 'a leaf', found: `index ${proof.index} of ${lines.length}` });
    verifyLogged(proof, leafHash(line), log.key);
    const leaf = parseLeaf(line);
    if (leaf.kind !== 'release' || leaf.cid !== release) {
      fail('E_PROOF', { wanted: `the leaf of release ${release}`, found: `${leaf.kind} ${leaf.cid}` });
    }
  });
}

function hashLines(bytes: Uint8Array): Uint8Array[] {
  const lines = text(bytes).split('\n');
  if (lines.pop() !== '') fail('E_PROOF', { wanted: 'lines closed by LF' });
  return lines.map((line) => fromBase64(line) ?? fail('E_PROOF', { wanted: 'base64', found: line }));
}
