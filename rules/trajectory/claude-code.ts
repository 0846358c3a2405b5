/**
 * Reads a Claude Code session file (reference: the vendor calls it internal, so unknown record types are passed over
 * and only the types that count are read strictly).
 * Promises: `hook_additional_context` is an injection, its strings joined with nothing between, as one record is one
 * text; `hook_system_message` is a notice to the user; a record marked `isCompactSummary` is a recap.
 */
import { callsOf, resultsOf, textOf } from './content.ts';
import { asCount, asMap, asText, type JsonMap, readLines } from './lines.ts';
import type { Step, Transcript } from './step.ts';

/** Throws E_JSON. O(size). */
export function readClaudeCode(bytes: Uint8Array): Transcript {
  const steps: Step[] = [];
  const tools = new Map<string, string>();
  let model: string | undefined;
  for (const { line, value } of readLines(bytes)) {
    const message = asMap(value.message);
    model ??= typeof message.model === 'string' ? message.model : undefined;
    for (const call of callsOf(message.content)) tools.set(call.id, call.name);
    steps.push(...stepsOf(value, message, asText(value.uuid) || String(line), tools));
  }
  return { steps, model };
}

function stepsOf(
  value: JsonMap,
  message: JsonMap,
  native: string,
  tools: ReadonlyMap<string, string>,
): Step[] {
  if (value.type === 'attachment') return attachmentSteps(asMap(value.attachment), native);
  if (value.type === 'assistant') return [agentStep(message, native)];
  if (value.type !== 'user') return [];
  const text = textOf(message.content);
  if (value.isCompactSummary === true) return [{ native, source: 'recap', text }];
  const results = resultsOf(message.content, native, tools);
  return text === '' ? results : [...results, { native, source: 'user', text }];
}

function attachmentSteps(attachment: JsonMap, native: string): Step[] {
  const text = textOf(attachment.content);
  if (attachment.type === 'hook_system_message') return [{ native, source: 'notice', text }];
  if (attachment.type !== 'hook_additional_context') return [];
  return [{ native, source: 'injection', text, channel: channelOf(text, asText(attachment.hookEvent)) }];
}

/** A provenance comment names the channel; without one, the hook does. */
function channelOf(text: string, hook: string): string {
  const named = /^<!-- memory channel=([a-z]+)/.exec(text);
  return named?.[1] ?? (hook === 'UserPromptSubmit' ? 'prompt' : 'hook');
}

function agentStep(message: JsonMap, native: string): Step {
  const usage = asMap(message.usage);
  const spent = { input: asCount(usage.input_tokens), output: asCount(usage.output_tokens) };
  return {
    native,
    source: 'agent',
    text: textOf(message.content),
    calls: callsOf(message.content),
    usage: spent,
  };
}
