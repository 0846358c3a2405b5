/**
 * The report as one HTML page that needs nothing else: style and figures inside, no script, nothing loaded.
 * Promises: the same document gives the same bytes; words of others are text and never markup; the page's own policy
 * forbids every request.
 */
import { type Block, type Document, type Fact, type Section, visible } from './document.ts';
import { escaped, svgOf } from './figures/svg.ts';
import { PAGE_STYLE } from './style.ts';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

/** The whole page, ending in a line end. `footer` says where it came from. */
export function htmlReport({ title, warning, sections }: Document, footer: string): string {
  return `${[
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="${escaped(POLICY)}">`,
    `<title>${shown(title)}</title>`,
    `<style>${PAGE_STYLE}</style>`,
    '</head>',
    '<body>',
    '<main>',
    `<h1>${shown(title)}</h1>`,
    ...(warning === undefined ? [] : [`<p class="warning">${shown(warning)}</p>`]),
    `<nav>${sections.map(({ id, title: name }) => `<a href="#${id}">${shown(name)}</a>`).join(' ')}</nav>`,
    ...sections.map(sectionText),
    `<footer>${shown(footer)}</footer>`,
    '</main>',
    '</body>',
    '</html>',
  ].join('\n')}\n`;
}

const shown = (text: string): string => escaped(visible(text));

const sectionText = ({ id, title, blocks }: Section): string =>
  [`<section id="${id}">`, `<h2>${shown(title)}</h2>`, ...blocks.map(blockText), '</section>'].join('\n');

function blockText(block: Block): string {
  switch (block.type) {
    case 'facts':
      return `<dl>${block.rows.map(factText).join('')}</dl>`;
    case 'table':
      return tableText(block.head, block.rows);
    case 'list':
      return `<ul>${block.items.map((item) => `<li>${shown(item)}</li>`).join('')}</ul>`;
    case 'words':
      return `<p>${shown(block.text)}</p>`;
    case 'heading':
      return `<h3>${shown(block.text)}</h3>`;
    case 'figure':
      return `<figure><figcaption><b>${shown(block.figure.title)}.</b> ${shown(block.figure.caption)}</figcaption><div class="wide">${svgOf(block.figure)}</div></figure>`;
  }
}

const factText = ({ label, text }: Fact): string =>
  `<dt>${shown(label)}</dt><dd${label === 'verdict' ? ' class="verdict"' : ''}>${shown(text)}</dd>`;

function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (text: string) =>
    `<td${Array.from(text).length > 32 ? ' class="long"' : ''}>${shown(text)}</td>`;
  const heads = head.map((name) => `<th scope="col">${shown(name)}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('\n');
  return `<div class="wide"><table><thead><tr>${heads}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}
