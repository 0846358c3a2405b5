/**
 * JSON from outside (RFC 8259), read on its raw bytes, and written in one spelling.
 * Promises: what is returned is what the text says, or E_JSON names the line, the column and the JSON pointer:
 * duplicate keys (however escaped), a BOM, bad UTF-8, lone surrogates, numbers that do not read back, too deep, too
 * large, and anything before or after the one value are refused.
 * Does not promise: comments, trailing commas, NaN, or the insignificant white space of the input.
 */
import { fail } from './errors.ts';

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }
  | JsonNumber;

/** A number as it was written, where `numbers: 'text'` was asked for. Told from a map by `isJsonNumber`. */
export interface JsonNumber {
  readonly number: string;
}

export interface JsonLimits {
  /** Bytes; 16 MiB when absent. */
  readonly maxBytes?: number;
  /** Levels of lists and maps; 128 when absent. */
  readonly maxDepth?: number;
  /**
   * `exact` (when absent): a JavaScript number, refused unless it prints the same decimal value (0.1, 1e2 and -0,
   * which is 0, pass; 1e400 and 9007199254740993 do not). `text`: a `JsonNumber` with the characters as they stand.
   */
  readonly numbers?: 'exact' | 'text';
}

const DEFAULTS = { maxBytes: 16 << 20, maxDepth: 128, numbers: 'exact' } as const;

/** Where the reader is: the text, how far it got, and the keys and indexes that lead there. */
interface Cursor {
  readonly text: string;
  readonly limits: Required<JsonLimits>;
  readonly pointer: (string | number)[];
  at: number;
}

/** The one value of these bytes. Throws E_JSON. O(size). */
export function parseJson(bytes: Uint8Array, limits: JsonLimits = {}): Json {
  const full = { ...DEFAULTS, ...limits };
  if (bytes.length > full.maxBytes) {
    fail('E_JSON', {
      where: 'the text',
      wanted: `at most ${full.maxBytes} bytes`,
      found: String(bytes.length),
    });
  }
  const cursor: Cursor = { text: decodeUtf8(bytes), limits: full, pointer: [], at: 0 };
  if (cursor.text.startsWith('\ufeff')) refuse(cursor, 'JSON without a byte order mark', 'a byte order mark');
  space(cursor);
  const value = read(cursor);
  space(cursor);
  if (cursor.at < cursor.text.length) refuse(cursor, 'nothing after the value', seen(cursor));
  return value;
}

/** Whether a value of `parseJson(…, {numbers: 'text'})` is a number rather than a map with the key `number`. */
export function isJsonNumber(value: unknown): value is JsonNumber {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === NUMBER;
}

// A prototype of its own tells a number from a map of the same shape.
const NUMBER = Object.freeze({});

function jsonNumber(text: string): JsonNumber {
  return Object.freeze(Object.create(NUMBER, { number: { value: text, enumerable: true } }) as JsonNumber);
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    // A lenient decoder puts U+FFFD for the first bad byte, so that is where the re-encoding first differs.
    const lenient = Buffer.from(Buffer.from(bytes).toString('utf8'));
    const bad = bytes.findIndex((byte, i) => byte !== lenient[i]);
    const { line, column } = position(Buffer.from(bytes.subarray(0, bad)).toString('utf8'));
    fail('E_JSON', {
      where: `line ${line}, column ${column}`,
      wanted: 'UTF-8',
      found: `byte ${bytes[bad]}`,
      cause,
    });
  }
}

const SPACE = /[ \t\n\r]*/y;
// Everything but the quote, the backslash and the control characters below U+0020.
const PLAIN = /[ !#-[\]-\uffff]*/y;
const NUMERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NUMERIC = '0123456789.eE+-';
const WORDS = { true: true, false: false, null: null } as const;

function space(cursor: Cursor): void {
  if (cursor.text.charCodeAt(cursor.at) <= 0x20) cursor.at = endOf(SPACE, cursor.text, cursor.at);
}

/** Where the run of a sticky pattern ends; `at` itself when it matches nothing there. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function read(cursor: Cursor): Json {
  const next = cursor.text[cursor.at];
  if (next === '"') return readString(cursor);
  if (next === '{') return nested(cursor, readMap);
  if (next === '[') return nested(cursor, readList);
  if (next === '-' || (next !== undefined && next >= '0' && next <= '9')) return readNumber(cursor);
  for (const [word, value] of Object.entries(WORDS)) {
    if (cursor.text.startsWith(word, cursor.at)) {
      cursor.at += word.length;
      return value;
    }
  }
  return refuse(cursor, 'a value', seen(cursor));
}

function nested(cursor: Cursor, inner: (cursor: Cursor) => Json): Json {
  if (cursor.pointer.length >= cursor.limits.maxDepth) {
    refuse(cursor, `at most ${cursor.limits.maxDepth} levels`, 'one more');
  }
  cursor.at++;
  space(cursor);
  return inner(cursor);
}

function readList(cursor: Cursor): Json {
  const items: Json[] = [];
  if (took(cursor, ']')) return items;
  do {
    space(cursor);
    cursor.pointer.push(items.length);
    items.push(read(cursor));
    cursor.pointer.pop();
    space(cursor);
  } while (took(cursor, ','));
  if (!took(cursor, ']')) refuse(cursor, ', or ]', seen(cursor));
  return items;
}

function readMap(cursor: Cursor): Json {
  const map: Record<string, Json> = {};
  if (took(cursor, '}')) return map;
  do {
    space(cursor);
    const start = cursor.at;
    if (cursor.text[start] !== '"') refuse(cursor, 'a key in double quotes', seen(cursor));
    const key = readString(cursor);
    if (Object.hasOwn(map, key)) {
      cursor.at = start;
      refuse(cursor, 'each key once', `${JSON.stringify(key)} again`);
    }
    cursor.pointer.push(key);
    space(cursor);
    if (!took(cursor, ':')) refuse(cursor, ':', seen(cursor));
    space(cursor);
    if (key === '__proto__') ownProto(map, read(cursor));
    else map[key] = read(cursor);
    cursor.pointer.pop();
    space(cursor);
  } while (took(cursor, ','));
  if (!took(cursor, '}')) refuse(cursor, ', or }', seen(cursor));
  return map;
}

// Assigning to `__proto__` would set the prototype and lose the key.
function ownProto(map: Record<string, Json>, value: Json): void {
  Object.defineProperty(map, '__proto__', { value, enumerable: true, configurable: true, writable: true });
}

function took(cursor: Cursor, character: string): boolean {
  if (cursor.text[cursor.at] !== character) return false;
  cursor.at++;
  return true;
}

function readString(cursor: Cursor): string {
  const { text } = cursor;
  const start = cursor.at + 1;
  let end = endOf(PLAIN, text, start);
  while (text[end] === '\\') end = endOf(PLAIN, text, end + 2);
  const raw = text.slice(start, end);
  if (text[end] !== '"') {
    cursor.at = end;
    refuse(cursor, 'a string that ends', seen(cursor));
  }
  const value = raw.includes('\\') ? unescaped(cursor, raw) : raw;
  cursor.at = end + 1;
  return value;
}

function unescaped(cursor: Cursor, raw: string): string {
  let value: string;
  try {
    value = JSON.parse(`"${raw}"`) as string;
  } catch {
    refuse(cursor, 'the escapes of JSON', 'another');
  }
  if (!value.isWellFormed()) refuse(cursor, 'well-formed Unicode', 'a lone surrogate');
  return value;
}

function readNumber(cursor: Cursor): Json {
  const end = endOf(NUMERAL, cursor.text, cursor.at);
  const text = cursor.text.slice(cursor.at, end);
  if (text === '' || NUMERIC.includes(cursor.text[end] ?? ' ')) {
    refuse(cursor, 'a number of JSON', seen(cursor));
  }
  const value = cursor.limits.numbers === 'text' ? jsonNumber(text) : exact(cursor, text);
  cursor.at = end;
  return value;
}

function exact(cursor: Cursor, text: string): number {
  const value = Number(text);
  if (String(value) === text) return value;
  if (!Number.isFinite(value) || !sameDecimal(text, String(value))) {
    refuse(cursor, 'a number that reads back', text.slice(0, 40));
  }
  // Minus zero prints as 0, so it is 0.
  return value === 0 ? 0 : value;
}

function sameDecimal(a: string, b: string): boolean {
  const [x, y] = [scientific(a), scientific(b)];
  return x.negative === y.negative && x.digits === y.digits && x.exponent === y.exponent;
}

/** A numeral as 0.digits * 10^exponent, without zeros at either end; zero has no digits and no sign. */
function scientific(text: string): { negative: boolean; digits: string; exponent: number } {
  const [mantissa = '', power = '0'] = text.replace(/^-/, '').split(/[eE]/);
  const [whole = '', part = ''] = mantissa.split('.');
  const all = whole + part;
  const leading = all.length - all.replace(/^0+/, '').length;
  const digits = all.replace(/^0+/, '').replace(/0+$/, '');
  if (digits === '') return { negative: false, digits, exponent: 0 };
  return { negative: text.startsWith('-'), digits, exponent: whole.length - leading + Number(power) };
}

/**
 * The canonical decimal of a number's text: no exponent, no zeros that say nothing, no sign on zero.
 * Undefined when it would take more than 400 digits.
 */
export function decimalOf(text: string): string | undefined {
  const { negative, digits, exponent } = scientific(text);
  if (digits === '') return '0';
  if (Math.abs(exponent) + digits.length > 400) return undefined;
  const whole = digits.slice(0, Math.max(exponent, 0)).padEnd(exponent, '0') || '0';
  const part = exponent > 0 ? digits.slice(exponent) : '0'.repeat(-exponent) + digits;
  return `${negative ? '-' : ''}${whole}${part === '' ? '' : `.${part}`}`;
}

function seen({ text, at }: Cursor): string {
  const character = text.codePointAt(at);
  return character === undefined ? 'the end' : JSON.stringify(String.fromCodePoint(character));
}

function refuse(cursor: Cursor, wanted: string, found: string): never {
  const { line, column } = position(cursor.text.slice(0, cursor.at));
  const pointer = cursor.pointer
    .map((key) => `/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`)
    .join('');
  fail('E_JSON', { where: `line ${line}, column ${column} (${JSON.stringify(pointer)})`, wanted, found });
}

/** Line and column, from 1, of the character after `before`; a column is a code point. */
function position(before: string): { line: number; column: number } {
  const lines = before.split('\n');
  return { line: lines.length, column: Array.from(lines.at(-1) ?? '').length + 1 };
}

/**
 * The one text of a value: RFC 8785 (keys in UTF-16 order, no white space). Throws E_JSON for what JSON cannot say:
 * undefined, numbers that are not finite, lone surrogates, and numbers kept as text.
 */
export function canonicalJson(value: Json): string {
  return written(value, [], (map) => Object.keys(map).sort(), '');
}

/** The same value for people: two spaces, keys as they stand, a newline at the end. Throws like `canonicalJson`. */
export function prettyJson(value: Json): string {
  return `${written(value, [], Object.keys, '\n')}\n`;
}

type Keys = (map: object) => string[];

function written(value: unknown, at: readonly (string | number)[], keys: Keys, newline: string): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string' && value.isWellFormed()) return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value !== 'object' || isJsonNumber(value)) return unwritable(value, at);
  const inner = newline === '' ? '' : `${newline}  `;
  const parts = Array.isArray(value)
    ? value.map((item, i) => written(item, [...at, i], keys, inner))
    : keys(value).map((key) => {
        const name = written(key, [...at, key], keys, inner);
        return `${name}:${newline && ' '}${written(Reflect.get(value, key), [...at, key], keys, inner)}`;
      });
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return parts.length === 0
    ? `${open}${close}`
    : `${open}${inner}${parts.join(`,${inner}`)}${newline}${close}`;
}

function unwritable(value: unknown, at: readonly (string | number)[]): never {
  fail('E_JSON', { where: `/${at.join('/')}`, wanted: 'a value that JSON can say', found: String(value) });
}
