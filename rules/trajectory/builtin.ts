/** Reads the session file of the built-in agent loop (daemon/agents/builtin): one JSON object a line, appended. */
import { callsOf, resultsOf, textOf } from './content.ts';
import { asCount, asMap, asText, type JsonMap, readLines } from './lines.ts';
import type { Step, Transcript } from './step.ts';

/** Throws E_JSON. O(size). */
export function readBuiltin(bytes: Uint8Array): Transcript {
  const steps: Step[] = [];
  const tools = new Map<string, string>();
  let model: string | undefined;
  for (const { line, value } of readLines(bytes)) {
    if (value.type === 'session') model = asText(value.model);
    for (const call of callsOf(value.content)) tools.set(call.id, call.name);
    steps.push(...stepsOf(value, String(line), tools));
  }
  return { steps, model };
}

function stepsOf(value: JsonMap, native: string, tools: ReadonlyMap<string, string>): Step[] {
  switch (value.type) {
    case 'injection':
      return [{ native, source: 'injection', text: asText(value.text), channel: asText(value.channel) }];
    case 'user':
      return [{ native, source: 'user', text: asText(value.text) }];
    case 'assistant':
      return [agentStep(value, native)];
    case 'tool_results':
      return resultsOf(value.content, native, tools);
    default:
      return [];
  }
}

function agentStep(value: JsonMap, native: string): Step {
  const usage = asMap(value.usage);
  const spent = { input: asCount(usage.input_tokens), output: asCount(usage.output_tokens) };
  return {
    native,
    source: 'agent',
    text: textOf(value.content),
    calls: callsOf(value.content),
    usage: spent,
  };
}
