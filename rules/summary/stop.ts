/**
 * The registered stop rule beside the data. Promises: under `spending` the p-value is the exact crossing probability up
 * to the look at which the boundary was crossed; a count that is no registered look gives none.
 */
import type { Study } from '../contracts/study.ts';
import type { Comparison, TestChoice } from '../contracts/summary.ts';
import { stopRuleCurtail } from '../statistics/curtail.ts';
import { sequentialBoundary, stopRuleSequential } from '../statistics/sequential.ts';

type Stop = Comparison['stop'];

export interface Reached {
  readonly planned: number;
  readonly completed: number;
  readonly b: number;
  readonly c: number;
  /** Of the test, as a rational. */
  readonly threshold: string;
}

/** `registered`: an exploratory comparison follows no stop rule. */
export function stopOf(rule: Study['stop'], test: TestChoice, registered: boolean, reached: Reached): Stop {
  const { planned, completed, b, c, threshold } = reached;
  const counts = { plannedPairs: planned, completedPairs: completed, discordant: b + c };
  const whole = completed === planned ? ('complete' as const) : ('incomplete' as const);
  if (!registered || rule.rule === 'fixed' || test.statistic !== 'mcnemar')
    return { rule: 'fixed', ...counts, decision: whole, cumulative: [] };
  if (rule.rule === 'curtailment') {
    const asked = {
      plannedPairs: planned,
      completedPairs: completed,
      b,
      c,
      alpha: threshold,
      alternative: test.sides,
    };
    const decision = completed === planned ? whole : stopRuleCurtail(asked).decision;
    return { rule: 'curtailment', ...counts, decision, cumulative: [] };
  }
  const plan = { looks: rule.looks, cumulativeAlpha: rule.spend };
  const cumulative = [...sequentialBoundary(plan).cumulativeExact];
  return {
    rule: 'spending',
    ...counts,
    decision: stopRuleSequential({ ...plan, b, c }).decision,
    cumulative,
  };
}

/** p under `spending`; undefined where the rule is another, so that p is the plain one. */
export function spendingP(
  rule: Study['stop'],
  { rule: used, discordant, decision, cumulative }: Stop,
): { readonly p: string | null; readonly why?: string } | undefined {
  if (used !== 'spending' || rule.rule !== 'spending') return undefined;
  if (decision === 'stop-reject') return { p: cumulative[rule.looks.indexOf(discordant)] ?? '1/1' };
  if (decision === 'stop-no-reject') return { p: '1/1', why: 'the last look did not cross its boundary' };
  const why =
    decision === 'continue'
      ? 'the boundary of this look is not crossed'
      : `${discordant} discordant pairs are no look`;
  return { p: null, why };
}
