/** What a release publishes beside what it links, and what it holds back of that. */
import { cidOfPath } from '../../rules/release/files.ts';
import { type Cid, cidFromDigest, digestOfEvidence, isDigest, isEvidence } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';

/** The blocks of its files, which its manifest names by digest. None for a value that is no release. */
export function filesOf(value: Value): Cid[] {
  return listOf(value, 'files').flatMap(({ path, digest }) => {
    const block = typeof path === 'string' ? cidOfPath(path) : undefined;
    return block !== undefined ? [block] : isDigest(digest) ? [cidFromDigest('raw', digest)] : [];
  });
}

/** Workspace files that hygiene holds back, though tree nodes link them. None for a value that is no release. */
export function heldBy(value: Value): Cid[] {
  return listOf(value, 'withheld').flatMap(({ bytes }) =>
    isEvidence(bytes) ? [cidFromDigest('raw', digestOfEvidence(bytes))] : [],
  );
}

function listOf(value: Value, field: string): Record<string, Value>[] {
  const map = (typeof value === 'object' && value !== null ? value : {}) as Record<string, Value>;
  const list = map.kind === 'release' ? map[field] : undefined;
  return Array.isArray(list) ? (list as Record<string, Value>[]) : [];
}
