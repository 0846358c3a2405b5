/** What a release publishes beside what it links: the blocks of its files, which its manifest names by digest. */
import { cidOfPath } from '../../rules/release/files.ts';
import { type Cid, cidFromDigest, isDigest } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';

/** None for a value that is no release. */
export function filesOf(value: Value): Cid[] {
  const { kind, files } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, Value>;
  if (kind !== 'release' || !Array.isArray(files)) return [];
  return files.flatMap(({ path, digest }: { path?: unknown; digest?: unknown }) => {
    const block = typeof path === 'string' ? cidOfPath(path) : undefined;
    return block !== undefined ? [block] : isDigest(digest) ? [cidFromDigest('raw', digest)] : [];
  });
}
