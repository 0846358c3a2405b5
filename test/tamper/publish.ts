/** The last act of a forger: signs the edited log with a key of their own and lays a publication out. */
import type { RecordOf } from '../../rules/contracts/table.ts';
import { MANIFEST, SEAL_FILES } from '../../rules/release/files.ts';
import { releaseV1 } from '../../rules/release/v1.ts';
import { applyRule, type Rule } from '../../rules/rule.ts';
import { toBase64 } from '../../store/format/base64.ts';
import { printLogProof, signCheckpoint } from '../../store/format/checkpoint.ts';
import { type Cid, cidFromDigest, type Digest, link } from '../../store/format/cid.ts';
import { encode, encodeBlock, type Value } from '../../store/format/codec.ts';
import { generateKey } from '../../store/format/crypto.ts';
import { fail } from '../../store/format/errors.ts';
import { consistencyProof, inclusionProof, leafHash, treeRoot } from '../../store/format/merkle.ts';
import { type NoteSigner, noteSigner, printVerifierKey } from '../../store/format/note.ts';
import type { Forge, ForgedLeaf, Publishing } from './forge.ts';
import type { Files } from './publication.ts';

/** A leaf's line as the store writes it. */
const leafLine = ({ kind, cid, at }: ForgedLeaf): Uint8Array =>
  encode({ kind, cid: link(cid), at } as unknown as Value);

/** The bytes of an entries file. */
export const entriesOf = (leaves: readonly ForgedLeaf[]): Uint8Array =>
  Buffer.concat(leaves.flatMap((leaf) => [leafLine(leaf), Buffer.from('\n')]));
export const rootOf = (leaves: readonly ForgedLeaf[]): Uint8Array =>
  treeRoot(leaves.map((leaf) => leafHash(leafLine(leaf))));

/** Signs the log, derives the release and lays out its files. */
export async function publish(at: Forge, options: Publishing): Promise<Files> {
  const family = at.leaves.find(({ kind }) => kind === 'study')?.cid;
  const signer = noteSigner(`ashlar.forged/${family}`, options.seed ?? generateKey().seed);
  const close = at.leaves.at(-1)?.cid as Cid;
  const covered = at.leaves;
  const log = {
    vkey: Buffer.from(`${printVerifierKey(signer.key)}\n`),
    c0: signed(signer, covered.slice(0, options.c0Size ?? 1)),
    c1: signed(signer, covered),
    entries: entriesOf(covered),
  };
  const inputs = {
    close,
    summary: at.all('summary')[0] as Cid,
    reports: at.all('report'),
    claims: at.all('claim'),
    vkey: at.raw(log.vkey),
    c0: at.raw(log.c0),
    c1: at.raw(log.c1),
    entries: at.raw(log.entries),
  };
  const release = await applyRule(releaseV1 as unknown as Rule, { inputs }, at);
  if (!('files' in release)) fail('E_INTERNAL', { where: 'forge', found: JSON.stringify(release) });
  return written(at, release as RecordOf<'release'>, signer);
}

const signed = (signer: NoteSigner, leaves: readonly ForgedLeaf[]): Uint8Array =>
  signCheckpoint({ origin: signer.key.name, size: leaves.length, root: rootOf(leaves) }, signer);

async function written(at: Forge, release: RecordOf<'release'>, signer: NoteSigner): Promise<Files> {
  const files: Files = new Map();
  const { bytes, cid } = encodeBlock(release as unknown as Value);
  for (const { path, digest } of 'files' in release ? release.files : [])
    files.set(path, await at.reader.get(cidFromDigest('raw', digest as Digest)));
  files.set(MANIFEST, bytes);
  const n = at.leaves.length;
  const leaves = [...at.leaves, { kind: 'release', cid, at: at.leaves.at(-1)?.at ?? '' }];
  const hashes = leaves.map((leaf) => leafHash(leafLine(leaf)));
  const read = (level: number, index: number) =>
    treeRoot(hashes.slice(index * 2 ** level, (index + 1) * 2 ** level));
  const c2 = signed(signer, leaves);
  const proof = await inclusionProof(n, n + 1, read);
  files.set(SEAL_FILES.entries, entriesOf(leaves.slice(n)));
  files.set(SEAL_FILES.c2, c2);
  files.set(SEAL_FILES.proof, printLogProof({ index: n, proof, checkpoint: c2 }));
  const consistency = await consistencyProof(n, n + 1, read);
  files.set(SEAL_FILES.consistency, Buffer.from(consistency.map((hash) => `${toBase64(hash)}\n`).join('')));
  return files;
}
