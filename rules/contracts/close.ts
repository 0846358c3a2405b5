/** `close`, a decision: the family log below this size is what results are computed from. */
import type { z } from 'zod';
import { count, decision, hex, link, record } from './kit.ts';

export const close = record('close', {
  ...decision,
  study: link('study'),
  /** Number of leaves of the family log that are covered. */
  size: count(),
  /** Root hash of those leaves (RFC 6962). */
  root: hex(64),
  /** The covered leaves, one a line. */
  entries: link('raw'),
});
export type Close = z.infer<typeof close>;
