/** The report as Markdown. Words of others are escaped, so that they stand as they were written. */
import { type Block, type Document, visible } from './document.ts';

/** The whole report; a figure is a link to its file beside it. */
export function markdownReport({ title, warning, sections }: Document): string {
  const parts = [
    `# ${escapedMarkdown(title)}`,
    ...(warning === undefined ? [] : [`> **${escapedMarkdown(warning)}**`]),
    ...sections.flatMap((section) => [
      `## ${escapedMarkdown(section.title)}`,
      ...section.blocks.map(blockText),
    ]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Text that Markdown shows as it is. */
export function escapedMarkdown(text: string): string {
  return visible(text)
    .replace(/[\\`*_{}[\]<>|#~]/g, '\\$&')
    .replace(/&/g, '&amp;')
    .replace(/^([-+=])(?= |$)/, '\\$1')
    .replace(/^(\d+)([.)])(?= |$)/, '$1\\$2');
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'facts':
      return tableText(
        ['', ''],
        block.rows.map(({ label, text }) => [label, text]),
      );
    case 'table':
      return tableText(block.head, block.rows);
    case 'list':
      return block.items.map((item) => `- ${escapedMarkdown(item)}`).join('\n');
    case 'words':
      return escapedMarkdown(block.text);
    case 'heading':
      return `### ${escapedMarkdown(block.text)}`;
    case 'figure':
      return `![${escapedMarkdown(block.figure.title)}](${block.figure.name}.svg)\n\n${escapedMarkdown(block.figure.caption)}`;
  }
}

function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapedMarkdown).join(' | ')} |`;
  return [line(head), `|${head.map(() => ' --- |').join('')}`, ...rows.map(line)].join('\n');
}
