/**
 * A text and what is encoded in it: JSON strings inside JSON, percent escapes, Base64, to a bounded depth.
 * Promises: a phrase that stands in any of these layers stands in one of the texts given.
 * Does not promise: compressed, encrypted or taken-apart text.
 */

/** Layers that are undone, one inside the other. */
const DEPTH = 6;
const HEX4 = /^[0-9a-fA-F]{4}$/;
const PERCENT = /%([0-9A-Fa-f]{2})/g;
/** Shortest token that is taken for Base64. */
const SHORTEST = 24;
/** Which bytes stand in a token of either alphabet. */
const IN_TOKEN = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9+/_-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** The text itself first, then each decoded one, once. `text` is bytes read as Latin-1. O(size x layers). */
export function decodedTexts(text: string): readonly string[] {
  const found = new Set<string>();
  visit(text, DEPTH, found);
  return [...found];
}

function visit(text: string, depth: number, found: Set<string>): void {
  if (found.has(text)) return;
  found.add(text);
  if (depth === 0) return;
  if (text.includes('\\')) visit(unescaped(text), depth - 1, found);
  if (text.includes('%'))
    visit(
      text.replace(PERCENT, (_, hex) => character(hex)),
      depth - 1,
      found,
    );
  for (const token of tokensIn(text)) {
    const decoded = Buffer.from(token, 'base64').toString('latin1');
    if (isText(decoded)) visit(decoded, depth - 1, found);
  }
}

/** Every run of token characters that is long enough, with its padding left out. One pass. */
function* tokensIn(text: string): Generator<string> {
  let from = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && IN_TOKEN[text.charCodeAt(at)] === 1) continue;
    if (at - from >= SHORTEST) yield text.slice(from, at);
    from = at + 1;
  }
}

/** JSON escapes undone once; a backslash before a line end, or at the end, stays. */
function unescaped(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', from)) {
    parts.push(text.slice(from, at));
    const one = text[at + 1] ?? '\n';
    const hex = one === 'u' ? text.slice(at + 2, at + 6) : '';
    const stays = one === '\n' || one === '\r';
    if (HEX4.test(hex)) parts.push(character(hex));
    else parts.push(stays ? '\\' : (CONTROLS[one] ?? one));
    from = at + (HEX4.test(hex) ? 6 : stays ? 1 : 2);
  }
  parts.push(text.slice(from));
  return parts.join('');
}

const character = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** Whether bytes read as Latin-1 are text: nine of ten are printable ASCII or white space. */
function isText(text: string): boolean {
  const plain = text.match(/[ -~\s]/g)?.length ?? 0;
  return plain * 10 >= text.length * 9;
}
