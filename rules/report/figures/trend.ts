/** Trend by build: an arm's rate under each build. Two points are joined only under equal comparability keys. */
import type { Trend } from '../../contracts/summary.ts';
import { printInterval, printShare } from '../../statistics/print.ts';
import { ONE, print, rational, ZERO } from '../../statistics/rational.ts';
import { type Figure, visible } from '../document.ts';
import { box, line, on, type Scale, words, wrapped } from './svg.ts';

const WIDTH = 360;
const LEFT = 14;
const BAR: Scale = { from: 14, to: 346, least: ZERO, most: ONE };
const STEP = 56;

/** Builds run downward in the order of first use, rates to the right: long names of builds have their own line. */
export function trendFigure(trends: readonly Trend[]): Figure {
  let y = 20;
  const drawing: string[] = [];
  for (const trend of trends) {
    drawing.push(words(LEFT, y, visible(trend.arm), 'ink strong'));
    y += 20;
    for (const [i, point] of trend.points.entries()) {
      const before = trend.points[i - 1];
      const drawn = drawPoint(point, before, y);
      drawing.push(drawn.drawing);
      y = drawn.next;
    }
    y += 16;
  }
  const axis = ['0', '0.5', '1'].map((tick) =>
    words(
      on(BAR, tick),
      y,
      `${Number(tick) * 100}%`,
      'soft',
      tick === '0' ? 'start' : tick === '1' ? 'end' : 'middle',
    ),
  );
  return {
    name: 'trend',
    title: 'Rates by build under test',
    caption:
      'Share of counted runs solved by one arm under each build, with Clopper-Pearson intervals over runs (these tasks). Joined only under equal comparability keys.',
    drawing: [...drawing, ...axis].join(''),
    width: WIDTH,
    height: y + 12,
    words: trends.flatMap(({ arm, points }) =>
      points.map(
        ({ build, rate, differs }) =>
          `${arm}, ${build}: ${printShare(rate.solved, rate.runs)} ${printInterval(rate.interval)}${differs.length === 0 ? '' : `; not joined, other ${differs.join(', ')}`}`,
      ),
    ),
  };
}

type Point = Trend['points'][number];

function drawPoint(point: Point, before: Point | undefined, from: number): { drawing: string; next: number } {
  const { build, rate, differs } = point;
  const broken = before !== undefined && differs.length > 0;
  const why = broken ? wrapped(`not joined, other ${differs.join(', ')}`, 50) : [];
  const names = wrapped(`${visible(build)}  ${printShare(rate.solved, rate.runs)}`, 46);
  const drawing = why.map((text, i) => words(LEFT, from + i * 16, text, 'alert'));
  const top = from + why.length * 16;
  drawing.push(...names.map((name, i) => words(LEFT, top + i * 16, name, 'soft halo')));
  const y = top + (names.length - 1) * 16 + 16;
  const at = on(BAR, shareOf(rate));
  if (before !== undefined && !broken)
    drawing.unshift(line('join', on(BAR, shareOf(before.rate)), from - STEP + 16, at, y));
  drawing.push(
    line('interval', on(BAR, rate.interval.lo), y, on(BAR, rate.interval.hi), y),
    box('mark', at - 4, y - 4, 8, 8, printShare(rate.solved, rate.runs)),
  );
  return { drawing: drawing.join(''), next: y + STEP - 16 };
}

const shareOf = ({ solved, runs }: Point['rate']): string =>
  runs === 0 ? '0' : print(rational(BigInt(solved), BigInt(runs)));
