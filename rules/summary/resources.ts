/** Money, tokens and agent seconds of runs: exact sums. No test stands here; a ratio is a ratio. */

import type { Resources } from '../contracts/summary.ts';
import { decimalOfMicros } from '../cost.ts';
import { parse, print, type Rational, rational } from '../statistics/rational.ts';
import type { SummedRun } from './runs.ts';

export function resourcesOf(runs: readonly SummedRun[]): Resources {
  const solved = runs.filter(({ grade }) => grade?.value.reward === 1).length;
  const micros = sum(runs.map(({ receipt }) => receipt.value.spend.micros));
  return {
    runs: runs.length,
    solved,
    micros,
    tokens: sum(runs.map(tokensOf)),
    seconds: decimalOfMicros(sum(runs.map(microsecondsOf))),
    perSolved: solved === 0 ? null : print(rational(BigInt(micros), BigInt(solved))),
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export const tokensOf = ({ receipt }: SummedRun): number =>
  receipt.value.spend.inputTokens + receipt.value.spend.outputTokens;

/** Agent turns in whole microseconds, rounded down; 0 where the run has none. */
export function microsecondsOf({ receipt }: SummedRun): number {
  const { num, den } = parse(receipt.value.timings.turns ?? '0') as Rational;
  return Number((num * 1_000_000n) / den);
}
