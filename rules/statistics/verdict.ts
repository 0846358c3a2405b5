/**
 * The word that a comparison ends with.
 * Promises: one of a closed list; "no difference" is not in it. A p above alpha alone is inconclusive.
 * Does not promise: which estimand; the caller says what p and interval are of.
 */
import { compare, negate, parse, type Rational } from './rational.ts';

export type Verdict =
  | 'exploratory'
  | 'inconclusive'
  | 'supports benefit'
  | 'supports harm'
  | `supports no worse than -${string}`;

export interface Evidence {
  /** Registered, and enough attempts for a test. */
  readonly confirmatory: boolean;
  /** Holm-adjusted p; null where the test was not run. */
  readonly adjustedP: Rational | null;
  readonly alpha: Rational;
  /** Sign of the estimate: positive favours the treatment. */
  readonly estimate: Rational | null;
  /** Lower end of the exact interval of the difference, and the registered margin as it was written, for a control. */
  readonly noWorse?: { readonly lo: string; readonly margin: string };
}

/** The verdict of one registered comparison. A control challenge is judged by its margin, not by p. */
export function verdict({ confirmatory, adjustedP, alpha, estimate, noWorse }: Evidence): Verdict {
  if (!confirmatory) return 'exploratory';
  if (noWorse !== undefined)
    return withinMargin(noWorse.lo, noWorse.margin)
      ? `supports no worse than -${noWorse.margin}`
      : 'inconclusive';
  if (adjustedP === null || estimate === null || compare(adjustedP, alpha) > 0) return 'inconclusive';
  return estimate.num > 0n ? 'supports benefit' : estimate.num < 0n ? 'supports harm' : 'inconclusive';
}

/** Whether the lower end of the exact interval lies above -margin. */
export function withinMargin(lo: string, margin: string): boolean {
  const [end, room] = [parse(lo), parse(margin)];
  return end !== undefined && room !== undefined && compare(end, negate(room)) > 0;
}
