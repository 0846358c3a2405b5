/**
 * One p-value from counts of equally likely outcomes on either side.
 * Promises: two-sided is min(1, twice the smaller one-sided), so that a test never contradicts the central interval.
 */
import type { Alternative } from './input.ts';
import { dyadic, ONE, type Rational, smaller } from './rational.ts';
import type { SignCounts } from './signed-sums.ts';

export function sidedP({ atLeast, atMost, k }: SignCounts, alternative: Alternative): Rational {
  if (alternative === 'greater') return dyadic(atLeast, k);
  if (alternative === 'less') return dyadic(atMost, k);
  return smaller(ONE, dyadic(2n * (atLeast < atMost ? atLeast : atMost), k));
}
