/**
 * Log checkpoints (C2SP tlog-checkpoint) and offline proofs of logging (C2SP tlog-proof v1).
 * Promises: one text per checkpoint and per proof; another spelling is E_NOTE.
 * Does not promise: that a checkpoint is believed: `openCheckpoint` and `verifyLogged` want the keys.
 */
import { fromBase64, toBase64 } from './base64.ts';
import { fail } from './errors.ts';
import { type Hash, verifyInclusion } from './merkle.ts';
import { type NoteSigner, type OpenedNote, openNote, signNote, type VerifierKey } from './note.ts';

export interface Checkpoint {
  /** Names the log for ever; also the name of its key. */
  readonly origin: string;
  /** Leaves. */
  readonly size: number;
  readonly root: Hash;
  /** Opaque lines after the root; absent in every checkpoint of ours. */
  readonly extensions?: readonly string[];
}

/** The note text of a checkpoint. Throws E_NOTE for one that no text can hold. */
export function printCheckpoint({ origin, size, root, extensions = [] }: Checkpoint): string {
  const lines = [origin, ...extensions];
  if (lines.some((line) => line === '' || line.includes('\n'))) {
    fail('E_NOTE', { where: 'checkpoint', wanted: 'an origin and extensions of one line each' });
  }
  if (!isCount(size) || root.length !== 32) {
    fail('E_NOTE', {
      where: 'checkpoint',
      wanted: 'a size and 32 bytes',
      found: `${size}, ${root.length} bytes`,
    });
  }
  return `${[origin, String(size), toBase64(root), ...extensions].join('\n')}\n`;
}

/** Reads the note text of a checkpoint. Throws E_NOTE. */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = '', size = '', root = '', ...extensions] = text.slice(0, -1).split('\n');
  const hash = fromBase64(root);
  if (hash === undefined)
    fail('E_NOTE', { where: 'checkpoint root', wanted: 'base64', found: JSON.stringify(root) });
  const plain = { origin, size: count(size, 'checkpoint size'), root: hash };
  const checkpoint = extensions.length === 0 ? plain : { ...plain, extensions };
  if (printCheckpoint(checkpoint) !== text) {
    fail('E_NOTE', {
      where: 'checkpoint',
      wanted: 'origin, size and root, a line each',
      found: JSON.stringify(text),
    });
  }
  return checkpoint;
}

/** The signed note of a checkpoint, by the log itself: the signer's name must be the origin. Throws E_NOTE. */
export function signCheckpoint(checkpoint: Checkpoint, log: NoteSigner): Uint8Array {
  sameName(log.key.name, checkpoint.origin);
  return signNote(printCheckpoint(checkpoint), [log]);
}

export interface OpenedCheckpoint extends OpenedNote {
  readonly checkpoint: Checkpoint;
}

/**
 * Reads and verifies a signed checkpoint of the log that owns `log` (several keys where it changed its key, all of
 * one name); `witnesses` are verified where they signed. Throws E_NOTE when malformed or of another origin,
 * E_SIGNATURE when the log's signature is absent or any known key's is wrong.
 */
export function openCheckpoint(
  bytes: Uint8Array,
  log: VerifierKey | readonly VerifierKey[],
  witnesses: readonly VerifierKey[] = [],
): OpenedCheckpoint {
  const logs = [log].flat();
  const opened = openNote(bytes, [...logs, ...witnesses]);
  const checkpoint = parseCheckpoint(opened.text);
  for (const { name } of logs) sameName(name, checkpoint.origin);
  if (!opened.verified.some(({ key }) => logs.includes(key))) {
    const wanted = `a signature of ${logs.map(({ name, id }) => `${name}+${id}`).join(' or ')}`;
    fail('E_SIGNATURE', { where: 'checkpoint', wanted });
  }
  return { ...opened, checkpoint };
}

function sameName(name: string, origin: string): void {
  if (name !== origin) {
    fail('E_NOTE', {
      where: 'checkpoint origin',
      wanted: JSON.stringify(name),
      found: JSON.stringify(origin),
    });
  }
}

/** An entry's place in a log, with all that an offline check needs. */
export interface LogProof {
  readonly index: number;
  /** Inclusion proof, leaf's sibling first. */
  readonly proof: readonly Hash[];
  /** The signed checkpoint, verbatim. */
  readonly checkpoint: Uint8Array;
  /** Opaque and not authenticated. */
  readonly extra?: Uint8Array;
}

const HEADER = 'c2sp.org/tlog-proof@v1';

/** The bytes of a `.tlog-proof` file. */
export function printLogProof({ index, proof, checkpoint, extra }: LogProof): Uint8Array {
  const lines = [HEADER];
  if (extra !== undefined) lines.push(`extra ${toBase64(extra)}`);
  lines.push(`index ${index}`, ...proof.map(toBase64), '', '');
  return Buffer.concat([Buffer.from(lines.join('\n')), checkpoint]);
}

/** Reads a `.tlog-proof` file; its checkpoint is not yet believed. Throws E_NOTE. */
export function parseLogProof(bytes: Uint8Array): LogProof {
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf('\n\n');
  if (end < 0) fail('E_NOTE', { where: 'log proof', wanted: 'an empty line before the checkpoint' });
  const lines = Buffer.from(bytes.subarray(0, end)).toString('latin1').split('\n').slice(1);
  const extra = lines[0]?.startsWith('extra ') ? fromBase64(lines.shift()?.slice(6) ?? '') : undefined;
  const index = count(lines.shift()?.replace(/^index /, '') ?? '', 'log proof index');
  const hashes = lines.map((line) => fromBase64(line) ?? new Uint8Array());
  const plain = { index, proof: hashes, checkpoint: bytes.subarray(end + 2) };
  const read = extra === undefined ? plain : { ...plain, extra };
  if (hashes.some((hash) => hash.length !== 32) || Buffer.compare(printLogProof(read), bytes) !== 0) {
    fail('E_NOTE', {
      where: 'log proof',
      wanted: `${HEADER}, extra, index, hashes, a checkpoint`,
      found: 'another text',
    });
  }
  return read;
}

/** Throws unless `leaf` stands where the proof says, in a tree that `log` signed: E_NOTE, E_SIGNATURE or E_PROOF. */
export function verifyLogged(
  { index, proof, checkpoint }: LogProof,
  leaf: Hash,
  log: VerifierKey,
  witnesses: readonly VerifierKey[] = [],
): OpenedCheckpoint {
  const opened = openCheckpoint(checkpoint, log, witnesses);
  const { size, root } = opened.checkpoint;
  verifyInclusion({ index, size, leaf, root, proof });
  return opened;
}

const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;

function count(text: string, where: string): number {
  const value = Number(text);
  if (!/^(?:0|[1-9]\d{0,15})$/.test(text) || !isCount(value)) {
    fail('E_NOTE', { where, wanted: 'decimal digits up to 2^53-1', found: JSON.stringify(text) });
  }
  return value;
}
