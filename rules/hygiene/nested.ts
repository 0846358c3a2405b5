/**
 * A text and what is encoded in it: JSON strings inside JSON, percent escapes, Base64, to a bounded depth.
 * Promises: a phrase that stands in any of these layers stands in one of the texts given.
 * Does not promise: compressed, encrypted or taken-apart text.
 */

/** Layers that are undone, one inside the other. */
const DEPTH = 6;
const JSON_ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/g;
const PERCENT = /%([0-9A-Fa-f]{2})/g;
const BASE64 = /[A-Za-z0-9+/_-]{24,}={0,2}/g;
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
  for (const [token] of text.matchAll(BASE64)) {
    const decoded = Buffer.from(token, 'base64').toString('latin1');
    if (isText(decoded)) visit(decoded, depth - 1, found);
  }
}

function unescaped(text: string): string {
  return text.replace(JSON_ESCAPE, (_, hex?: string, one = '') =>
    hex === undefined ? (CONTROLS[one] ?? one) : character(hex),
  );
}

const character = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** Whether bytes read as Latin-1 are text: nine of ten are printable ASCII or white space. */
function isText(text: string): boolean {
  const plain = text.match(/[ -~\s]/g)?.length ?? 0;
  return plain * 10 >= text.length * 9;
}
