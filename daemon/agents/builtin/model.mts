/** One question to the model, and what its refusals mean. */
import type { Answer } from './blocks.mts';
import type { Session } from './session.mts';
import { TOOLS } from './tools.mts';
import type { Turn } from './turn.mts';
import { post } from './wire.mts';

/** Why a turn ended -> exit status. Any other status is a crash. */
export const EXITS = {
  completed: 0,
  turn_limit: 10,
  token_limit: 11,
  context_overflow: 12,
  cost_limit: 13,
  refusal: 14,
  error: 15,
} as const;
export type End = keyof typeof EXITS;

/** The model's words, or how the turn ends without them. */
export async function askModel(turn: Turn, session: Session): Promise<Answer | { end: End; why: string }> {
  const tools = turn.tools.map((name) => {
    const { description, properties, required } = TOOLS[name];
    return { name, description, input_schema: { type: 'object', properties, required } };
  });
  const { status, body } = await post('/v1/messages', {
    ...turn.parameters,
    model: turn.model,
    max_tokens: turn.maxTokens,
    system: turn.system,
    tools,
    messages: session.messages,
  });
  if (status === 200) return JSON.parse(body) as Answer;
  const { type, message } = errorOf(body);
  return { end: endOf(status, type, message), why: `${status} ${type}: ${message}` };
}

function errorOf(body: string): { type: string; message: string } {
  try {
    const { error } = JSON.parse(body) as { error: { type: unknown; message: unknown } };
    return { type: String(error.type), message: String(error.message) };
  } catch {
    return { type: 'unreadable', message: '' };
  }
}

function endOf(status: number, type: string, message: string): End {
  if (type === 'cost_limit' || type === 'budget_limit') return 'cost_limit';
  if (status === 413 || type === 'request_too_large') return 'context_overflow';
  if (type === 'invalid_request_error' && /prompt is too long|context window/i.test(message)) {
    return 'context_overflow';
  }
  return 'error';
}

/** Stop reasons that end a turn. */
export const STOPS: Readonly<Record<string, End>> = {
  refusal: 'refusal',
  max_tokens: 'token_limit',
  model_context_window_exceeded: 'context_overflow',
};
