/**
 * Small SVG words. Promises: the same values give the same bytes: positions are exact rationals cut to hundredths.
 * Colours are classes; the page, or the file's own style, gives them for light and dark.
 */
import { parse, type Rational, rational, subtract } from '../../statistics/rational.ts';
import type { Figure } from '../document.ts';

export const escaped = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

/** A position as it is written: at most two decimals. */
export const place = (value: number): string => String(Math.round(value * 100) / 100);

export function words(x: number, y: number, content: string, kind = 'ink', anchor = 'start'): string {
  const at = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  return `<text class="${kind}" x="${place(x)}" y="${place(y)}"${at}>${escaped(content)}</text>`;
}

export function line(kind: string, x1: number, y1: number, x2: number, y2: number): string {
  return `<line class="${kind}" x1="${place(x1)}" y1="${place(y1)}" x2="${place(x2)}" y2="${place(y2)}"/>`;
}

export function box(
  kind: string,
  x: number,
  y: number,
  width: number,
  height = width,
  title?: string,
): string {
  const inner = title === undefined ? '/>' : `><title>${escaped(title)}</title></rect>`;
  return `<rect class="${kind}" x="${place(x)}" y="${place(y)}" width="${place(width)}" height="${place(height)}"${inner}`;
}

export interface Scale {
  readonly from: number;
  readonly to: number;
  readonly least: Rational;
  readonly most: Rational;
}

/** Where a decimal or rational stands on a scale; the ends for what lies beyond. */
export function on({ from, to, least, most }: Scale, value: string): number {
  const found = parse(value) ?? least;
  const part = subtract(found, least);
  const whole = subtract(most, least);
  const share = rational(part.num * whole.den, part.den * whole.num);
  const hundredths = Number((share.num * BigInt(Math.round((to - from) * 100))) / share.den);
  return Math.min(to, Math.max(from, from + hundredths / 100));
}

/** Lines of at most `size` characters, broken at spaces; a longer word is cut. */
export function wrapped(text: string, size: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of text.split(' ').flatMap((each) => pieces(each, size))) {
    if (current === '') current = word;
    else if (Array.from(`${current} ${word}`).length <= size) current += ` ${word}`;
    else {
      lines.push(current);
      current = word;
    }
  }
  return current === '' && lines.length > 0 ? lines : [...lines, current];
}

function pieces(word: string, size: number): string[] {
  const characters = Array.from(word);
  const count = Math.max(1, Math.ceil(characters.length / size));
  return Array.from({ length: count }, (_, i) => characters.slice(i * size, (i + 1) * size).join(''));
}

/** The figure as an element; `style` for a file of its own. */
export function svgOf({ name, title, drawing, width, height }: Figure, style = ''): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${name}-title">`;
  const inner = style === '' ? '' : `<style>${style}</style>`;
  return `${head}<title id="${name}-title">${escaped(title)}</title>${inner}${drawing}</svg>`;
}
