/** Outcome matrix: a block a task, a row an arm, a column an epoch, so that what is paired stands in one column. */
import type { Full } from '../../contracts/kit.ts';
import type { Summary } from '../../contracts/summary.ts';
import { type Figure, visible } from '../document.ts';
import { box, line, words, wrapped } from './svg.ts';

const WIDTH = 360;
const LEFT = 14;
const CELLS = 132;
const ROW = 22;

type Task = Full<Summary>['tasks'][number];

/** Filled: solved. Crossed: not solved. Dot: no run counts. Columns get narrower beyond what fits. */
export function matrixFigure({ tasks }: Full<Summary>): Figure {
  let y = 18;
  const drawing: string[] = [];
  for (const task of tasks) {
    const names = wrapped(visible(task.challenge), 46);
    drawing.push(...names.map((name, i) => words(LEFT, y + i * 16, name, 'ink strong')));
    y += (names.length - 1) * 16 + 10;
    for (const [arm, { outcomes }] of Object.entries(task.arms)) {
      drawing.push(armRow(arm, outcomes, y));
      y += ROW;
    }
    y += 22;
  }
  drawing.push(legend(y));
  return {
    name: 'matrix',
    title: 'Outcomes by task, arm and epoch',
    caption: `${tasks.length} tasks; a row an arm, a column an epoch: what is paired stands in one column. Counted runs only.`,
    drawing: drawing.join(''),
    width: WIDTH,
    height: y + 22,
    words: tasks.flatMap(wordsOf),
  };
}

function armRow(arm: string, outcomes: Task['arms'][string]['outcomes'], y: number): string {
  const pitch = Math.min(20, (WIDTH - CELLS - LEFT) / Math.max(1, outcomes.length));
  const label = words(LEFT, y + 13, cut(visible(arm), 17), 'soft');
  return (
    label +
    outcomes
      .map((outcome, i) => cell(outcome, CELLS + i * pitch, y, pitch - 3, `${arm}, epoch ${i + 1}`))
      .join('')
  );
}

function cell(outcome: 0 | 1 | null, x: number, y: number, side: number, where: string): string {
  const top = y + (18 - side) / 2;
  if (outcome === 1) return box('solved', x, top, side, side, `${where}: solved`);
  if (outcome === null) return box('absent', x + side / 2 - 1.5, y + 7.5, 3, 3, `${where}: no run counts`);
  const cross = [
    line('cross', x + 3, top + 3, x + side - 3, top + side - 3),
    line('cross', x + side - 3, top + 3, x + 3, top + side - 3),
  ];
  return box('failed', x, top, side, side, `${where}: not solved`) + cross.join('');
}

const legend = (y: number): string =>
  [
    cell(1, LEFT, y - 9, 14, 'legend'),
    words(LEFT + 20, y + 4, 'solved', 'soft'),
    cell(0, LEFT + 76, y - 9, 14, 'legend'),
    words(LEFT + 96, y + 4, 'not solved', 'soft'),
    cell(null, LEFT + 172, y - 9, 14, 'legend'),
    words(LEFT + 192, y + 4, 'no run counts', 'soft'),
  ].join('');

const cut = (text: string, size: number): string => {
  const characters = Array.from(text);
  return characters.length <= size ? text : `${characters.slice(0, size - 1).join('')}…`;
};

const wordsOf = ({ challenge, arms }: Task): string[] => [
  challenge,
  ...Object.entries(arms).map(
    ([arm, { outcomes }]) =>
      `  ${arm}: ${outcomes.map((outcome) => (outcome === null ? '.' : outcome)).join(' ')}`,
  ),
];
