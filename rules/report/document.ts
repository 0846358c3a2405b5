/** A report before it is text, Markdown or HTML: sections of facts, tables, lists and figures. */

export interface Fact {
  readonly label: string;
  readonly text: string;
}

export interface Figure {
  /** File name without its ending. */
  readonly name: string;
  readonly title: string;
  /** What is drawn: estimand, kind of interval, counts. */
  readonly caption: string;
  /** Inner SVG of a drawing this many units wide and high. */
  readonly drawing: string;
  readonly width: number;
  readonly height: number;
  /** The same in words, for a reader without pictures. */
  readonly words: readonly string[];
}

export type Block =
  | { readonly type: 'facts'; readonly rows: readonly Fact[] }
  | {
      readonly type: 'table';
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }
  | { readonly type: 'list'; readonly items: readonly string[] }
  | { readonly type: 'words'; readonly text: string }
  /** A comparison's own heading. */
  | { readonly type: 'heading'; readonly text: string }
  | { readonly type: 'figure'; readonly figure: Figure };

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

export interface Document {
  readonly title: string;
  /** What a reader must know before any number. */
  readonly warning: string | undefined;
  readonly sections: readonly Section[];
}

export const facts = (...rows: readonly (Fact | undefined)[]): Block => ({
  type: 'facts',
  rows: rows.filter((row) => row !== undefined),
});
export const fact = (label: string, text: string): Fact => ({ label, text });
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): Block => ({
  type: 'table',
  head,
  rows,
});
export const words = (text: string): Block => ({ type: 'words', text });

/** Text of others on one line and without control characters, which a terminal would obey. */
export function visible(text: string): string {
  let shown = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const control = code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e);
    if (code === 0x0a || code === 0x09) shown += ' ';
    else if (control || (code >= 0x2066 && code <= 0x2069)) shown += `\\u{${code.toString(16)}}`;
    else shown += character;
  }
  return shown;
}

/** `name 3, other 1`, or `-` for nothing. */
export const listed = (counts: Readonly<Record<string, number | undefined>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ') || '-';
