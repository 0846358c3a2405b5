/** Content blocks of the Messages API, as the loop's own parts hand them on. */

export interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: Record<string, unknown>;
}
/** A line of the session file. */
export type Entry = { readonly type: string } & Record<string, unknown>;

/** A message of the conversation. */
export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

/** What the model said. */
export interface Answer {
  readonly content: Block[];
  readonly usage: { input_tokens: number; output_tokens: number };
  readonly stop_reason: string;
}

/** The tools that the model asked for; none in a message that is not its own. */
export function callsOf(message: Message | undefined): Call[] {
  if (message?.role !== 'assistant') return [];
  return message.content.filter(({ type }) => type === 'tool_use') as unknown as Call[];
}

/** A tool's answer that says what went wrong. */
export const failed = ({ id }: Call, why: string): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content: why,
  is_error: true,
});
