/**
 * Stopping early for free: only when every way the remaining pairs could fall gives the same decision.
 * Promises: no type I cost, because the decision is the one the full sample would have given.
 */
import { fail } from '../../store/format/errors.ts';
import { criticalCounts } from './critical.ts';
import { type Alternative, alphaOf, alternativeOf, count, fields, refuse } from './input.ts';
import { HALF, multiply } from './rational.ts';

const MAX_PLANNED = 20_000;

export type CurtailDecision = 'stop-reject' | 'stop-no-reject' | 'continue';

/** {plannedPairs, completedPairs, b, c, alpha, alternative} -> {decision}. A pair may still be b, c or concordant. */
export function stopRuleCurtail(input: unknown): { readonly decision: CurtailDecision } {
  const given = fields(input, ['plannedPairs', 'completedPairs', 'b', 'c', 'alpha', 'alternative']);
  const planned = count(given.plannedPairs, 'plannedPairs');
  const completed = count(given.completedPairs, 'completedPairs');
  const [b, c] = [count(given.b, 'b'), count(given.c, 'c')];
  if (completed > planned) refuse('completedPairs', `at most plannedPairs = ${planned}`, completed);
  if (b + c > completed) refuse('b + c', `at most completedPairs = ${completed}`, b + c);
  if (planned > MAX_PLANNED)
    fail('E_STATS_LIMIT', {
      where: 'stopRuleCurtail',
      wanted: `at most ${MAX_PLANNED} planned pairs`,
      found: `${planned}`,
      hint: 'Run the registered sample and use mcnemar',
    });
  const alternative = alternativeOf(given.alternative);
  const alpha = alphaOf(given.alpha);
  const limits = criticalCounts(
    b + c + planned - completed,
    alternative === 'two-sided' ? multiply(alpha, HALF) : alpha,
  );
  return { decision: decide({ b, c, remaining: planned - completed, alternative, limits }) };
}

interface Standing {
  readonly b: number;
  readonly c: number;
  readonly remaining: number;
  readonly alternative: Alternative;
  /** limits[n]: the test rejects when the count that tells against it is at most this. */
  readonly limits: readonly number[];
}

/** For each final number of discordant pairs, the extreme values of the losing count decide. O(remaining). */
function decide({ b, c, remaining, alternative, limits }: Standing): CurtailDecision {
  let anyRejects = false;
  let anyKeeps = false;
  for (let more = 0; more <= remaining && !(anyRejects && anyKeeps); more += 1) {
    const limit = limits[b + c + more]!;
    const { least, most } = losing(b, c, more, alternative);
    if (least <= limit) anyRejects = true;
    if (most > limit) anyKeeps = true;
  }
  return anyRejects && anyKeeps ? 'continue' : anyRejects ? 'stop-reject' : 'stop-no-reject';
}

/** Range of the losing count when `more` further pairs are discordant. */
function losing(
  b: number,
  c: number,
  more: number,
  alternative: Alternative,
): { least: number; most: number } {
  if (alternative === 'greater') return { least: c, most: c + more };
  if (alternative === 'less') return { least: b, most: b + more };
  const half = (b + c + more) >> 1;
  return { least: Math.min(b, c), most: Math.min(half, Math.min(b, c) + more) };
}
