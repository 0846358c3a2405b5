/** `release`: the manifest of a publication: every file but itself and `seal/`, with its digest. */
import { z } from 'zod';
import { count, derived, evidence, hex, link, portablePath, sentence, treePath } from './kit.ts';

export const release = derived('release', {
  close: link('close'),
  /** Verifier key of the family log (C2SP vkey). */
  vkey: link('raw'),
  /** The signed checkpoint that covers the study and stands before the first start. */
  c0: link('raw'),
  /** The signed checkpoint that covers the close. */
  c1: link('raw'),
  /** The leaves that C1 covers, one a line. */
  entries: link('raw'),
  summary: link('summary'),
  reports: z.array(link('report')),
  claims: z.array(link('claim')),
  pages: z.array(z.strictObject({ name: sentence(), bytes: link('raw') })),
  /** Every published file, sorted by path. */
  files: z.array(z.strictObject({ path: portablePath(), digest: hex(64), size: count() })),
  /** Workspace files that hygiene holds back, by where they stand; their tree nodes are published. */
  withheld: z.array(z.strictObject({ receipt: link('receipt'), path: treePath(), bytes: evidence() })),
  /** Evidence references in the published records whose bytes are not published. */
  unpublished: count(),
});
export type Release = z.infer<typeof release>;
