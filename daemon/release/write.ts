/**
 * Writes a release as a folder: what its manifest lists, the manifest itself, and the seal that proves its own leaf.
 * Promises: the folder appears whole or not at all; every byte is re-hashed on its way out of the store.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
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
import { fail } from '../../store/format/errors.ts';
import { parseNote } from '../../store/format/note.ts';
import type { Store } from '../../store/store.ts';
import { openFolderTarget } from '../../store/target.ts';
import { publish } from '../decide/close.ts';
import { c2Of } from '../decide/sealed.ts';
import type { Trigger } from '../trigger.ts';
import { viewOf } from '../view.ts';

/**
 * Publishes a close into a folder that is new or empty. A folder that cannot be written is refused before anything is
 * logged. If we die after the release has its leaf, releasing the close again writes the same release.
 * Throws what `publish` and `writeRelease` throw.
 */
export async function releaseTo(store: Store, trigger: Trigger, close: Cid, folder: string): Promise<Cid> {
  return into(folder, async (part) => {
    const release = await publish(store, trigger, close);
    await writeAll(store, release, part);
    return release;
  });
}

/** Writes a release that is in the store. Throws E_STORE_EXISTS, E_NOT_FOUND, E_DIGEST, E_IO, E_GATE. */
export async function writeRelease(store: Store, release: Cid, folder: string): Promise<void> {
  await into(folder, (part) => writeAll(store, release, part));
}

async function into<T>(folder: string, use: (part: string) => Promise<T>): Promise<T> {
  const { part, commit, discard } = await openFolderTarget(folder);
  try {
    const done = await use(part);
    await commit();
    return done;
  } finally {
    await discard();
  }
}

async function writeAll(store: Store, release: Cid, folder: string): Promise<void> {
  const value = await viewAs('release', release, viewOf(store));
  if (!('files' in value))
    fail('E_GATE', { where: release, wanted: 'a readable release', found: 'a refused one' });
  await writeFiles(store, release, value, folder);
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
  const c2 = await c2Of(store, release);
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
