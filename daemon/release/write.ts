/**
 * Writes a release as a folder: what its manifest lists, the manifest itself, and the seal that proves its own leaf.
 * Promises: the folder appears whole or not at all; every byte is re-hashed on its way out of the store.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Full } from '../../rules/contracts/kit.ts';
import type { Release } from '../../rules/contracts/release.ts';
import { MANIFEST, SEAL_FILES } from '../../rules/release/files.ts';
import { viewAs } from '../../rules/runs.ts';
import { ensureFolder } from '../../store/files.ts';
import { parseCheckpoint, printLogProof } from '../../store/format/checkpoint.ts';
import { type Cid, cidFromDigest, type Digest } from '../../store/format/cid.ts';
import { random } from '../../store/format/crypto.ts';
import { fail } from '../../store/format/errors.ts';
import { parseNote } from '../../store/format/note.ts';
import type { Store } from '../../store/store.ts';
import { viewOf } from '../view.ts';

/** Throws E_STORE_EXISTS where `target` stands already, E_NOT_FOUND, E_DIGEST, E_IO. */
export async function writeRelease(store: Store, release: Cid, target: string): Promise<void> {
  if ((await stat(target).catch(() => undefined)) !== undefined) fail('E_STORE_EXISTS', { where: target });
  const value = await viewAs('release', release, viewOf(store));
  if (!('files' in value))
    fail('E_GATE', { where: release, wanted: 'a readable release', found: 'a refused one' });
  // A name that nobody else has: what stands beside the target is not ours.
  const part = `${target}.${Buffer.from(random(8)).toString('hex')}.part`;
  try {
    await writeFiles(store, release, value, part);
    // Dying before this leaves `<target>.<random>.part`, which no one takes for a release.
    await rename(part, target);
  } catch (error) {
    await rm(part, { recursive: true, force: true });
    throw error;
  }
}

async function writeFiles(store: Store, release: Cid, value: Full<Release>, folder: string): Promise<void> {
  for (const { path, digest } of value.files) {
    const at = join(folder, path);
    ensureFolder(dirname(at));
    await pipeline(
      Readable.from(store.stream(cidFromDigest('raw', digest as Digest))),
      createWriteStream(at, { flags: 'wx' }),
    );
  }
  await writeFile(join(folder, MANIFEST), await store.get(release), { flag: 'wx' });
  await mkdir(join(folder, 'seal'));
  for (const [path, bytes] of await sealFiles(store, release, value))
    await writeFile(join(folder, path), bytes, { flag: 'wx' });
}

async function sealFiles(store: Store, release: Cid, value: Full<Release>): Promise<[string, Uint8Array][]> {
  const leaf = await store.leafOf(release);
  if (leaf === null) fail('E_INTERNAL', { where: release, wanted: 'a leaf' });
  const { log, index } = leaf;
  const sizeOf = (note: Uint8Array) => parseCheckpoint(parseNote(note).text).size;
  const c1 = sizeOf(await store.get(value.c1['/']));
  const c2 = await store.logs.checkpoint(log, index + 1);
  const size = sizeOf(c2);
  const lines: Uint8Array[] = [];
  for await (const line of store.logs.leafBytes(log, { start: c1, end: size })) lines.push(line);
  const inclusion = await store.logs.inclusion(log, index, size);
  const consistency = await store.logs.consistency(log, c1, size);
  return [
    [SEAL_FILES.entries, Buffer.concat(lines)],
    [SEAL_FILES.c2, c2],
    [SEAL_FILES.proof, printLogProof({ index, proof: inclusion, checkpoint: c2 })],
    [
      SEAL_FILES.consistency,
      Buffer.from(consistency.map((hash) => `${Buffer.from(hash).toString('base64')}\n`).join('')),
    ],
  ];
}
