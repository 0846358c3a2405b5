/** The manifest against the listing: every file there with its bytes, none extra, none twice, no links. */
import { type Cid, cidOf, digestOf } from '../../store/format/cid.ts';
import { decode } from '../../store/format/codec.ts';
import { hasher } from '../../store/format/crypto.ts';
import { counted } from '../../store/format/words.ts';
import type { Full } from '../contracts/kit.ts';
import { isRefused } from '../contracts/kit.ts';
import type { Release } from '../contracts/release.ts';
import { parseAs } from '../contracts/table.ts';
import { cidOfPath, MANIFEST, SEAL_FILES } from '../release/files.ts';
import { type Faults, guarded } from './fault.ts';
import { type ListedFile, type Publication, whatIs } from './source.ts';

export interface Manifest {
  readonly cid: Cid;
  readonly value: Full<Release>;
}

/** Reads the manifest; undefined (and a fault) where there is none that can be read. */
export async function readManifest(source: Publication, faults: Faults): Promise<Manifest | undefined> {
  return guarded(faults, 'manifest', MANIFEST, async () => {
    const bytes = await source.read(MANIFEST);
    const value = parseAs('release', decode(bytes));
    if (isRefused(value)) throw new Error('the release was refused by its own rule');
    return { cid: cidOf('dag-json', bytes), value };
  });
}

/** Compares. Gives the paths whose bytes are right. O(bytes). */
export async function checkFiles(
  source: Publication,
  manifest: Manifest,
  faults: Faults,
): Promise<ReadonlySet<string>> {
  const listed = await source.list();
  checkListing(listed, manifest, faults);
  const present = new Map(listed.map((file) => [file.path, file]));
  const right = new Set<string>();
  for (const { path, digest, size } of manifest.value.files) {
    const file = present.get(path);
    if (file === undefined) faults.add('file-missing', path, 'listed in the manifest, not there');
    else if (file.type === 'file' && (await sameBytes(source, path, { digest, size }, faults)))
      right.add(path);
  }
  return right;
}

/**
 * The files where no manifest can be read: a block is named by its own digest, and nothing vouches for what is neither
 * block, manifest nor seal. Gives the paths of blocks whose bytes are right. O(bytes).
 */
export async function checkWithoutManifest(
  source: Publication,
  faults: Faults,
): Promise<ReadonlySet<string>> {
  const right = new Set<string>();
  for (const { path, type } of await source.list()) {
    const cid = cidOfPath(path);
    if (type !== 'file') faults.add('file-irregular', path, whatIs({ type }));
    else if (cid !== undefined) {
      if (await sameBytes(source, path, { digest: digestOf(cid) }, faults)) right.add(path);
    } else if (!UNLISTED.has(path)) faults.add('file-extra', path, 'no manifest that can be read lists it');
  }
  return right;
}

/** Files that a manifest cannot list. */
const UNLISTED: ReadonlySet<string> = new Set([MANIFEST, ...Object.values(SEAL_FILES)]);

function checkListing(listed: readonly ListedFile[], manifest: Manifest, faults: Faults): void {
  const wanted = new Set<string>();
  for (const { path } of manifest.value.files) {
    if (wanted.has(path)) faults.add('file-irregular', path, 'listed twice in the manifest');
    wanted.add(path);
  }
  const seen = new Set<string>();
  for (const { path, type, shared } of listed) {
    if (seen.has(path)) faults.add('file-irregular', path, 'there twice');
    seen.add(path);
    if (type !== 'file') faults.add('file-irregular', path, whatIs({ type }));
    if (shared) faults.add('file-irregular', path, 'shares its bytes with another name');
    if (!wanted.has(path) && !UNLISTED.has(path)) {
      faults.add('file-extra', path, 'not in the manifest');
    }
  }
}

async function sameBytes(
  source: Publication,
  path: string,
  wanted: { readonly digest: string; readonly size?: number },
  faults: Faults,
): Promise<boolean> {
  const found = await guarded(faults, 'file-changed', path, async () => {
    const hash = hasher();
    let size = 0;
    for await (const chunk of source.stream(path)) {
      hash.update(chunk);
      size += chunk.length;
    }
    return { size, digest: hash.hex() };
  });
  if (found === undefined) return false;
  const size = wanted.size ?? found.size;
  if (found.digest === wanted.digest && found.size === size) return true;
  const both = `wanted ${wanted.digest} (${counted(size, 'byte')}), found ${found.digest} (${found.size})`;
  faults.add('file-changed', path, both);
  return false;
}
