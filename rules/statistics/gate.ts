/**
 * Whether a continuous measure may be tested at all.
 * Promises: below five paired attempts the answer is `exploratory`, and no p-value is computed.
 */
import { count, fields } from './input.ts';

/** Paired attempts from which on a continuous measure has a p-value; its floor is then 1/16. */
export const LEAST_ATTEMPTS = 5;

/** {attempts} -> {status}. */
export function continuousGate(input: unknown): { readonly status: 'exploratory' | 'tested' } {
  const attempts = count(fields(input, ['attempts']).attempts, 'attempts');
  return { status: attempts < LEAST_ATTEMPTS ? 'exploratory' : 'tested' };
}
