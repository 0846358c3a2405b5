/** Forest plot: every comparison's difference with its exact interval, on one axis from -1 to 1. */
import type { Comparison } from '../../contracts/summary.ts';
import { printDifference, printInterval } from '../../statistics/print.ts';
import { ONE } from '../../statistics/rational.ts';
import { intervalText, percentOf } from '../comparison.ts';
import { type Figure, visible } from '../document.ts';
import { box, line, on, type Scale, words, wrapped } from './svg.ts';

const WIDTH = 360;
const AXIS: Scale = { from: 14, to: 346, least: { num: -1n, den: 1n }, most: ONE };
const TICKS = ['-1', '-0.5', '0', '0.5', '1'];
const LINE = 16;

/** The marker stands at the difference per pair, which the interval is of. Hollow: exploratory. */
export function forestFigure(comparisons: readonly Comparison[]): Figure {
  let y = 20;
  const rows: string[] = [];
  const top = y - 8;
  for (const each of comparisons) {
    const drawn = row(each, y);
    rows.push(drawn.drawing);
    y = drawn.next;
  }
  const grid = TICKS.map((tick) =>
    line(tick === '0' ? 'zero' : 'grid', on(AXIS, tick), top, on(AXIS, tick), y),
  );
  const labels = TICKS.map((tick) => words(on(AXIS, tick), y + 16, signed(tick), 'soft', 'middle'));
  const foot = [
    words(AXIS.from, y + 34, '◂ control better', 'soft'),
    words(AXIS.to, y + 34, 'treatment better ▸', 'soft', 'end'),
  ];
  return {
    name: 'forest',
    title: 'Paired differences over pairs, with exact intervals',
    caption:
      'Treatment minus control over pairs (n pairs in how many tasks); exact unconditional intervals ordered by the score. The interval speaks of these tasks only where a task has several epochs. Filled: registered; hollow: exploratory.',
    drawing: [...grid, ...rows, ...labels, ...foot].join(''),
    width: WIDTH,
    height: y + 42,
    words: comparisons.map(
      (each) => `${each.id}: ${printDifference(each.differencePairs)}; ${intervalText(each)}`,
    ),
  };
}

const signed = (tick: string): string => (tick.startsWith('-') || tick === '0' ? tick : `+${tick}`);

function row(each: Comparison, from: number): { readonly drawing: string; readonly next: number } {
  const { differenceInterval: interval, differencePairs, standing } = each;
  const names = wrapped(visible(each.id), 46);
  const text = names.map((name, i) => words(AXIS.from, from + i * LINE, name, 'ink halo'));
  const y = from + names.length * LINE;
  const at = on(AXIS, differencePairs);
  const kind = standing === 'registered' ? 'mark' : 'mark hollow';
  const bar =
    'refused' in interval
      ? words(AXIS.from, y + 4, 'no exact interval', 'soft')
      : [
          line('interval', on(AXIS, interval.lo), y, on(AXIS, interval.hi), y),
          line('interval', on(AXIS, interval.lo), y - 5, on(AXIS, interval.lo), y + 5),
          line('interval', on(AXIS, interval.hi), y - 5, on(AXIS, interval.hi), y + 5),
        ].join('');
  const numbers = words(
    AXIS.from,
    y + 20,
    `${printDifference(differencePairs)}  ${shortInterval(each)}  ${each.verdict}`,
    'soft halo',
  );
  const drawing = [
    ...text,
    bar,
    box(kind, at - 5, y - 5, 10, 10, printDifference(differencePairs)),
    numbers,
  ].join('');
  return { drawing, next: y + 46 };
}

function shortInterval({ differenceInterval: interval, pairs, tasks }: Comparison): string {
  const size = `n ${pairs} in ${tasks}`;
  return 'refused' in interval ? size : `${percentOf(interval.level)} ${printInterval(interval)}  ${size}`;
}
