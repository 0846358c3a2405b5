/** JSON Lines as agents write them: each line strict JSON; a torn last line is left out, any other bad line is a fault. */
import { fail, isFault } from '../../store/format/errors.ts';
import { type Json, parseJson } from '../../store/format/json.ts';

export type JsonMap = Readonly<Record<string, Json>>;

/** The objects of a JSON Lines file with their line numbers. Throws E_JSON for a bad line that is not the torn last. */
export function* readLines(bytes: Uint8Array): Generator<{ line: number; value: JsonMap }> {
  let from = 0;
  for (let line = 1; from < bytes.length; line++) {
    const found = bytes.indexOf(0x0a, from);
    const end = found < 0 ? bytes.length : found;
    const value = end > from ? readLine(bytes.subarray(from, end), line, found < 0) : undefined;
    if (value !== undefined) yield { line, value };
    from = end + 1;
  }
}

// An agent that was killed leaves half a line at the end: it was never said.
function readLine(bytes: Uint8Array, line: number, last: boolean): JsonMap | undefined {
  try {
    const value = parseJson(bytes, { maxBytes: 256 << 20 });
    if (isMap(value)) return value;
  } catch (error) {
    if (last && isFault(error, 'E_JSON')) return undefined;
    throw error;
  }
  return fail('E_JSON', { where: `line ${line}`, wanted: 'an object', found: 'another value' });
}

export const isMap = (value: Json | undefined): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const asMap = (value: Json | undefined): JsonMap => (isMap(value) ? value : {});
export const asList = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
export const asText = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
export const asCount = (value: Json | undefined): number =>
  Number.isSafeInteger(value) ? (value as number) : 0;
