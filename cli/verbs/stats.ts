/**
 * `stats`: one exact statistic from the command line, or one for each line of standard input.
 * Promises for `-`: one answer a line, in order, blank lines aside; a line that cannot be answered gives an error with its
 * id, or with its line number where it has none, and the exit status is then not 0; ids need not differ. Memory stays
 * flat: no line above MOST bytes is held.
 */
import { statistics } from '../../rules/statistics/index.ts';
import { fail } from '../../store/format/errors.ts';
import { type Json, parseJson } from '../../store/format/json.ts';
import { counted } from '../../store/format/words.ts';
import { faultData, faultOf } from '../fault.ts';
import { type Line, linesOf } from '../lines.ts';
import { maybe, verb, word } from '../verb.ts';

type Compute = (input: unknown) => unknown;
const TABLE = statistics as Record<string, Compute>;
/** Longest line of standard input, in bytes: the limit of JSON from outside. */
const MOST = 16 << 20;

export const command = verb<Record<never, never>, [name: string, input?: string]>({
  example: `ashlar stats mcnemar '{"b": 9, "c": 2}'\nashlar stats - < cases.jsonl`,
  about: `Without a store. \`-\` reads lines of {"id", "function", "input"} and writes {"id", "result"} or {"id", "error"}.\nFunctions: ${Object.keys(statistics).join(', ')}.`,
  flags: {},
  args: {
    kind: 'tuple',
    parameters: [word('FUNCTION', 'Name of the statistic, or -'), maybe('INPUT', 'Its input as JSON')],
  },
  async run({ out, stdin }, _flags, name, input) {
    if (name !== '-') {
      const result = functionOf(name)(
        jsonOf(Buffer.from(input ?? fail('E_USAGE', { wanted: 'INPUT', found: 'nothing' }), 'utf8')),
      );
      return out.print(result, JSON.stringify(result));
    }
    let failed = 0;
    for await (const line of linesOf(stdin, MOST)) {
      if (isBlank(line)) continue;
      const answer = answerTo(line);
      if ('error' in answer) failed += 1;
      await out.print(answer, JSON.stringify(answer));
    }
    if (failed > 0)
      fail('E_STATS_INPUT', {
        where: 'standard input',
        found: `${counted(failed, 'line')} without a result`,
      });
  },
});

function functionOf(name: unknown): Compute {
  const found = typeof name === 'string' && Object.hasOwn(TABLE, name) ? TABLE[name] : undefined;
  if (found !== undefined) return found;
  const shown = typeof name === 'string' ? name : name === undefined ? 'nothing' : JSON.stringify(name);
  return fail('E_STATS_INPUT', { where: 'function', wanted: Object.keys(TABLE).join(', '), found: shown });
}

const jsonOf = (bytes: Uint8Array): Json => parseJson(bytes, { maxBytes: MOST });

/** Spaces, tabs and line ends only. */
const isBlank = ({ bytes }: Line): boolean =>
  bytes?.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d) ?? false;

/** A line that cannot be answered does not keep the others from being answered. */
function answerTo({ number, size, bytes }: Line) {
  let id: unknown;
  try {
    if (bytes === undefined)
      fail('E_JSON', { where: `line ${number}`, wanted: `at most ${MOST} bytes`, found: String(size) });
    const asked = askedOf(jsonOf(bytes));
    id = asked.id;
    return { id: id ?? null, result: functionOf(asked.function)(asked.input) };
  } catch (error) {
    const where = id === undefined ? { line: number } : {};
    return { id: id ?? null, ...where, error: faultData(faultOf(error)) };
  }
}

/** Fields beside these three are ignored: a line of a file of cases is a question as it stands. */
function askedOf(value: Json): { readonly [key: string]: Json } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    fail('E_STATS_INPUT', {
      where: 'the line',
      wanted: 'a map of id, function, input',
      found: Array.isArray(value) ? 'a list' : JSON.stringify(value).slice(0, 40),
    });
  return value as { readonly [key: string]: Json };
}
