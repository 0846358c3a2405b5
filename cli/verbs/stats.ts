/** `stats`: one exact statistic from the command line, or one for each line of standard input. */
import { statistics } from '../../rules/statistics/index.ts';
import { AshlarError, fail } from '../../store/format/errors.ts';
import { type Json, parseJson } from '../../store/format/json.ts';
import { counted } from '../../store/format/words.ts';
import { faultData } from '../fault.ts';
import { linesOf } from '../lines.ts';
import { maybe, verb, word } from '../verb.ts';

type Compute = (input: unknown) => unknown;
const TABLE = statistics as Record<string, Compute>;

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
        jsonOf(input ?? fail('E_USAGE', { wanted: 'INPUT', found: 'nothing' })),
      );
      return out.print(result, JSON.stringify(result));
    }
    let failed = 0;
    for await (const line of linesOf(stdin)) {
      if (line.trim() === '') continue;
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

function functionOf(name: string): Compute {
  const found = Object.hasOwn(TABLE, name) ? TABLE[name] : undefined;
  return (
    found ?? fail('E_STATS_INPUT', { where: 'function', wanted: Object.keys(TABLE).join(', '), found: name })
  );
}

function jsonOf(text: string): Json {
  return parseJson(Buffer.from(text, 'utf8'));
}

/** A line that cannot be answered does not keep the others from being answered. */
function answerTo(line: string) {
  let id: unknown = null;
  try {
    const asked = jsonOf(line) as { id?: unknown; function?: unknown; input?: unknown };
    id = asked?.id ?? null;
    return { id, result: functionOf(String(asked?.function))(asked?.input) };
  } catch (error) {
    if (!(error instanceof AshlarError)) throw error;
    return { id, error: faultData(error) };
  }
}
