/**
 * What a publication holds back, by its own account: files of the kinds that its study withholds, and what hygiene found.
 * Whether the account is right is the rules' matter: `scrub`, `trajectory` and `release` are applied again.
 */
import { type Digest, digestOf, digestOfEvidence } from '../../store/format/cid.ts';
import type { AnyRecord } from '../contracts/table.ts';
import { isHeld } from '../scrub/published.ts';
import type { Library } from './library.ts';

/** Reason (a kind of the study's list, or `hygiene`) -> number of files. */
export type Withheld = Readonly<Record<string, number>>;

/** The files that are held back and not here, counted by reason. */
export function withheldFiles(library: Library, release: AnyRecord | undefined): Withheld {
  const counts: Record<string, number> = {};
  const here = hereIn(library);
  for (const { digest, why } of accounts(library, release))
    if (!here.has(digest)) counts[why] = (counts[why] ?? 0) + 1;
  return counts;
}

/** Digests of what is held back and not here. */
export function heldBack(library: Library, release: AnyRecord | undefined): ReadonlySet<string> {
  const here = hereIn(library);
  return new Set(
    [...accounts(library, release)].map(({ digest }) => digest).filter((digest) => !here.has(digest)),
  );
}

const hereIn = ({ blocks }: Library): ReadonlySet<Digest> => new Set([...blocks].map(digestOf));

function* accounts({ records }: Library, release: AnyRecord | undefined) {
  for (const record of records.values()) {
    if (record.kind === 'scrub' && 'files' in record)
      for (const file of record.files)
        if (isHeld(file)) yield { digest: digestOfEvidence(file.scrubbed), why: file.held };
    if (record.kind === 'trajectory' && 'atif' in record && typeof record.atif === 'string')
      yield { digest: digestOfEvidence(record.atif), why: 'trajectories' };
  }
  if (release?.kind === 'release' && 'withheld' in release)
    for (const { bytes } of release.withheld) yield { digest: digestOfEvidence(bytes), why: 'hygiene' };
}
