/**
 * The registered order of plans and arms: a pure function of the study's seed, so that nobody chooses it.
 * Promises: the same order on every machine; no arm is first more often than chance gives.
 */
import { sha256Hex } from '../../store/format/crypto.ts';

/** `names` ordered by SHA-256 of seed, context and name. O(n log n). */
export function seededOrder(seed: string, context: string, names: readonly string[]): string[] {
  const place = (name: string) => sha256Hex(Buffer.from(JSON.stringify([seed, context, name]), 'utf8'));
  return [...names]
    .map((name) => ({ name, at: place(name) }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ name }) => name);
}
