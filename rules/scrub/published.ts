/** Where the scrubbed bytes of a receipt's evidence are: published under a link, or held back under a digest alone. */
import {
  type Cid,
  cidFromDigest,
  digestOfEvidence,
  type Evidence,
  type Link,
} from '../../store/format/cid.ts';
import type { Full } from '../contracts/kit.ts';
import type { HeldFile, Scrub } from '../contracts/scrub.ts';

type File = Full<Scrub>['files'][number];

/** The raw block of a link or of an evidence reference. */
export const blockOf = (reference: Link | Evidence): Cid =>
  typeof reference === 'string' ? cidFromDigest('raw', digestOfEvidence(reference)) : reference['/'];

/** CID of the scrubbed bytes of one evidence file, published or not; undefined where the receipt has none of that name. */
export function scrubbedCid(scrub: Full<Scrub>, name: string): Cid | undefined {
  const file = scrub.files.find((each) => each.name === name);
  return file === undefined ? undefined : blockOf(file.scrubbed);
}

export const isHeld = (file: File): file is HeldFile => 'held' in file;

/** CID of a file's bytes where they are published. */
export const publishedCid = (file: File): Cid | undefined =>
  isHeld(file) ? undefined : blockOf(file.scrubbed);
