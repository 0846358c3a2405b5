/** The manifest against the listing: every file there with its bytes, none extra, none twice, no links. */
import { type Cid, cidOf } from '../../store/format/cid.ts';
import { decode } from '../../store/format/codec.ts';
import { hasher } from '../../store/format/crypto.ts';
import type { Full } from '../contracts/kit.ts';
import { isRefused } from '../contracts/kit.ts';
import type { Release } from '../contracts/release.ts';
import { parseAs } from '../contracts/table.ts';
import { MANIFEST, SEAL } from '../release/files.ts';
import { type Faults, guarded } from './fault.ts';
import type { ListedFile, Publication } from './source.ts';

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
    else if (await sameBytes(source, path, { digest, size }, faults)) right.add(path);
  }
  return right;
}

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
    if (type !== 'file') faults.add('file-irregular', path, `a ${type}, not a file`);
    if (shared) faults.add('file-irregular', path, 'shares its bytes with another name');
    if (!wanted.has(path) && path !== MANIFEST && !path.startsWith(SEAL)) {
      faults.add('file-extra', path, 'not in the manifest');
    }
  }
}

async function sameBytes(
  source: Publication,
  path: string,
  wanted: { readonly digest: string; readonly size: number },
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
  if (found.digest === wanted.digest && found.size === wanted.size) return true;
  faults.add(
    'file-changed',
    path,
    `wanted ${wanted.digest} (${wanted.size} bytes), found ${found.digest} (${found.size})`,
  );
  return false;
}
