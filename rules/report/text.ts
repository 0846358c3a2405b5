/** The report as plain text: at most 100 columns, nothing that depends on a terminal, no control character. */
import { type Block, type Document, type Fact, visible } from './document.ts';
import { wrapped } from './figures/svg.ts';
import { table } from './table.ts';

const WIDTH = 100;
const LABEL = 14;

/** The whole report, ending in a line end. */
export function textReport({ title, warning, sections }: Document): string {
  const parts = [
    visible(title),
    ...(warning === undefined ? [] : [`!  ${visible(warning)}`]),
    ...sections.map((section) => [heading(section.title), ...section.blocks.flatMap(blockLines)].join('\n')),
  ];
  return `${parts.join('\n\n')}\n`;
}

const heading = (title: string): string => `${title}\n${'='.repeat(Array.from(title).length)}`;

function blockLines(block: Block): string[] {
  switch (block.type) {
    case 'facts':
      return block.rows.flatMap(factLines);
    case 'table':
      return tableLines(block.head, block.rows);
    case 'list':
      return block.items.flatMap((item) => hung('- ', visible(item)));
    case 'words':
      return hung('', visible(block.text));
    case 'heading':
      return ['', visible(block.text), '-'.repeat(Math.min(WIDTH, Array.from(visible(block.text)).length))];
    case 'figure':
      return [];
  }
}

const factLines = ({ label, text }: Fact): string[] => hung(label.padEnd(LABEL), visible(text));

/** Wrapped lines, the first after `first`, the others under its end. */
function hung(first: string, text: string): string[] {
  const indent = ' '.repeat(Array.from(first).length);
  return wrapped(text, WIDTH - indent.length).map((line, i) =>
    `${i === 0 ? first : indent}${line}`.trimEnd(),
  );
}

/** A table that is too wide is printed as one group of facts a row. */
function tableLines(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(visible));
  const lines = table(head, cells);
  if (lines.every((line) => Array.from(line).length <= WIDTH)) return lines;
  const label = Math.max(...head.map((name) => name.length)) + 2;
  return cells.flatMap((row, i) => [
    ...(i === 0 ? [] : ['']),
    ...row.flatMap((cell, j) => hung((head[j] ?? '').padEnd(label), cell)),
  ]);
}
