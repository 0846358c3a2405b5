/** Content blocks of the Anthropic Messages shape, as native transcripts carry them. */
import type { Json } from '../../store/format/json.ts';
import { asList, asMap, asText } from './lines.ts';
import type { Step, ToolCall } from './step.ts';

/** Text of a message: blocks of one message are one text, joined with nothing between, as the model reads them. */
export function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((block) => (typeof block === 'string' ? block : asText(asMap(block).text)))
    .join('');
}

export function callsOf(content: Json | undefined): ToolCall[] {
  return asList(content)
    .map(asMap)
    .filter((block) => block.type === 'tool_use')
    .map((block) => ({ id: asText(block.id), name: asText(block.name), input: block.input ?? null }));
}

/** The tool results of a message, each a step; `tools` maps a call's id to its tool. */
export function resultsOf(
  content: Json | undefined,
  native: string,
  tools: ReadonlyMap<string, string>,
): Step[] {
  return asList(content)
    .map(asMap)
    .filter((block) => block.type === 'tool_result')
    .map((block) => {
      const call = asText(block.tool_use_id);
      const answers = { call, tool: tools.get(call) };
      return { native, source: 'tool', text: textOf(block.content), channel: 'tool', answers };
    });
}
