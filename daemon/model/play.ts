/**
 * What the scripted model answers to one request: a pure function of behaviours and request bytes.
 * Promises: the same bytes give the same answer; what is not scripted is an error, never an invented answer.
 * Does not promise: understanding. It stands in for a model where none may be reached.
 *
 * Turn = the prompts so far (runs of user messages of which at least one holds no tool result). Step = assistant
 * messages since the last of them. The words a variant waits for are looked for in what the harness put there: the
 * system text, the prompts, and the answers of the memory tool; never in the model's own words or in files it read.
 */
import { z } from 'zod';
import { sha256Hex } from '../../store/format/crypto.ts';
import type { Behaviour, Step } from './behaviour.ts';

const block = z.looseObject({ type: z.string() });
const message = z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(block)]) });
const request = z.looseObject({
  model: z.string(),
  max_tokens: z.int().positive(),
  messages: z.array(message).min(1),
  system: z.union([z.string(), z.array(block)]).optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
  stream: z.boolean().optional(),
});
type Message = z.infer<typeof message>;
type Request = z.infer<typeof request>;

/** A Messages API message. */
export interface Reply {
  readonly kind: 'message';
  readonly stream: boolean;
  readonly message: {
    readonly id: string;
    readonly type: 'message';
    readonly role: 'assistant';
    readonly model: string;
    readonly content: readonly Record<string, unknown>[];
    readonly stop_reason: string;
    readonly stop_sequence: null;
    readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
  };
}
export interface Failure {
  readonly kind: 'error';
  readonly status: number;
  readonly type: string;
  readonly message: string;
}
export interface Hang {
  readonly kind: 'hang';
}
export interface Cut {
  readonly kind: 'cut';
  readonly at: 'before' | 'within';
}

/** Bytes that count as one token here. */
const TOKEN_BYTES = 4;

/** O(request size * behaviours). */
export function play(behaviours: readonly Behaviour[], body: Uint8Array): Reply | Failure | Hang | Cut {
  const read = request.safeParse(parsed(body));
  if (!read.success) return wrong(400, 'invalid_request_error', z.prettifyError(read.error));
  const asked = read.data;
  const first = promptText(asked.messages.find(isPrompt));
  const known = behaviours.filter(({ match }) => first.includes(match));
  const [script] = known;
  if (script === undefined) return wrong(404, 'not_found_error', 'no behaviour matches this prompt');
  if (known.length > 1)
    return wrong(400, 'invalid_request_error', 'more than one behaviour matches this prompt');
  const { turn, step } = position(asked.messages);
  const scripted = script.turns[turn - 1];
  if (scripted === undefined) return wrong(400, 'invalid_request_error', `no turn ${turn} in this behaviour`);
  const words = given(asked);
  const variant = scripted.variants.find(({ when }) => when.every((phrase) => words.includes(phrase)));
  if (variant === undefined) return wrong(400, 'invalid_request_error', `no variant of turn ${turn} fits`);
  const next = variant.steps[step];
  if (next === undefined) {
    return wrong(400, 'invalid_request_error', `no step ${step + 1} in ${variant.name} of turn ${turn}`);
  }
  return answer(next, asked, body);
}

function answer(step: Step, asked: Request, body: Uint8Array): Reply | Failure | Hang | Cut {
  if ('hang' in step) return { kind: 'hang' };
  if ('cut' in step) return { kind: 'cut', at: step.cut };
  if ('error' in step) return { kind: 'error', ...step.error };
  const id = sha256Hex(body).slice(0, 24);
  const content: Record<string, unknown>[] = [];
  if (step.say !== undefined) content.push({ type: 'text', text: step.say });
  if ('tool' in step) {
    const name = toolName(step.tool, asked);
    if (name === undefined)
      return wrong(400, 'invalid_request_error', `the tool ${step.tool} is not declared`);
    content.push({ type: 'tool_use', id: `toolu_${id}`, name, input: step.input });
  }
  const output = tokens(Buffer.byteLength(JSON.stringify(content)));
  if (output > asked.max_tokens) {
    return wrong(400, 'invalid_request_error', `max_tokens: the scripted answer takes ${output}`);
  }
  const stopped = 'stop' in step ? step.stop : 'tool' in step ? 'tool_use' : 'end_turn';
  return {
    kind: 'message',
    stream: asked.stream === true,
    message: {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model: asked.model,
      content,
      stop_reason: stopped,
      stop_sequence: null,
      usage: { input_tokens: tokens(body.length), output_tokens: output },
    },
  };
}

/** By its own name, else as the end of a longer one (`mcp__memory__search_memory`). */
function toolName(wanted: string, { tools = [] }: Request): string | undefined {
  const names = tools.map(({ name }) => name);
  return names.find((name) => name === wanted) ?? names.find((name) => name.endsWith(`__${wanted}`));
}

/** Which prompt of the session is being worked on (from 1), and how many answers it has had. */
function position(messages: readonly Message[]): { turn: number; step: number } {
  let turn = 0;
  let step = 0;
  let inPrompt = false;
  for (const each of messages) {
    if (each.role === 'assistant') {
      step += 1;
      inPrompt = false;
    } else if (isPrompt(each) && !inPrompt) {
      turn += 1;
      step = 0;
      inPrompt = true;
    }
  }
  return { turn, step };
}

function isPrompt({ role, content }: Message): boolean {
  if (role !== 'user') return false;
  return typeof content === 'string' || !content.some(({ type }) => type === 'tool_result');
}

function promptText(prompt: Message | undefined): string {
  return prompt === undefined ? '' : textOf(prompt.content);
}

/** Everything that the harness, not the model or the workspace, put into the request. */
function given({ system = '', messages }: Request): string {
  const parts = [textOf(system)];
  const recalls = new Set<unknown>();
  for (const { role, content } of messages) {
    if (role !== 'assistant') parts.push(textOf(content));
    if (typeof content === 'string') continue;
    for (const each of content) {
      if (each.type === 'tool_use' && String(each.name).endsWith('search_memory')) recalls.add(each.id);
      if (each.type === 'tool_result' && recalls.has(each.tool_use_id)) parts.push(resultText(each.content));
    }
  }
  return parts.join('\n');
}

function textOf(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return content.map((each) => (each.type === 'text' ? String(each.text) : '')).join('\n');
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  const list = z.array(block).safeParse(content);
  return list.success ? textOf(list.data) : '';
}

const tokens = (bytes: number): number => Math.ceil(bytes / TOKEN_BYTES);

function wrong(status: number, type: string, text: string): Failure {
  return { kind: 'error', status, type, message: text };
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}
