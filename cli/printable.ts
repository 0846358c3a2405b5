/**
 * Foreign text on a terminal: names of files, what a release or a store says of itself.
 * Promises: what is printed cannot move the cursor, clear, retitle or reorder what stands beside it, and one line stays
 * one; nothing is left out: a character that would act is shown as `\uXXXX`, as JSON has it.
 * Does not promise: a text that reads back: a name may hold the six characters themselves.
 */

// Controls (C0, DEL, C1), line and paragraph separators, and what turns the direction of the text around it.
const ACTING = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;
const LAYOUT = new Set(['\n', '\t']);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text of several lines. */
export const printable = (text: string): string =>
  text.replace(ACTING, (character) => (LAYOUT.has(character) ? character : escaped(character)));

/** A part of a line: a line break in it is shown too. */
export const oneLine = (text: string): string => text.replace(ACTING, escaped);
