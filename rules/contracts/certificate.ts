/** `certificate`: findings over everything that exists before a study. It covers surfaces; it gives no verdict. */
import { z } from 'zod';
import { derived, link, positive, sentence } from './kit.ts';

export const FINDING_KINDS = [
  'auto-loaded-context',
  'suspicious-metadata',
  'benchmark-awareness',
  'patch-or-diff',
  'solution-leak',
  'identifier',
  'surface-missing',
] as const;

export const finding = z.strictObject({
  kind: z.enum(FINDING_KINDS),
  /** Name of the surface, as listed in `surfaces`. */
  surface: sentence(),
  /** Printable path or JSON pointer inside the surface; empty for the surface itself. */
  path: z.string(),
  line: positive().exactOptional(),
  /** What was matched: the pattern's name, never the secret itself. */
  pattern: sentence(),
  /** Found by name or by content: only content findings of `patch-or-diff` can be accepted. */
  by: z.enum(['name', 'content']),
  digest: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .exactOptional(),
});
export type Finding = z.infer<typeof finding>;

export const surface = z.strictObject({ name: sentence(), cid: link('*') });

export const certificate = derived('certificate', {
  challenge: link('challenge'),
  fixture: link('fixture'),
  policy: link('raw'),
  surfaces: z.array(surface).min(1),
  findings: z.array(finding),
});
export type Certificate = z.infer<typeof certificate>;
