/**
 * Takes injected blocks out of a recorded request, so that the requests of two arms can be compared.
 * Promises: only the exact texts given are removed, and only from text that the model was given, never from its own
 * words or from tool output; a message without them is returned as it is.
 * Does not promise: to undo an agent that re-words, escapes or folds what it was handed; that shows as a difference.
 */

/** A message of the Anthropic Messages API, as far as removal needs to know it. */
export interface Message {
  readonly role: string;
  readonly content: string | readonly ContentBlock[];
}
export interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly [field: string]: unknown;
}

/**
 * `messages` without `texts` (the exact injected blocks). A content block that is nothing but such a text goes; inside
 * a longer text the block goes together with one line end after it, if it starts and ends on line borders; a message
 * left with no content goes too. O(messages * texts).
 */
export function stripInjected(messages: readonly Message[], texts: readonly string[]): Message[] {
  const wanted = texts.filter((text) => text !== '');
  if (wanted.length === 0) return [...messages];
  const kept: Message[] = [];
  for (const message of messages) {
    const left = message.role === 'assistant' ? message : stripMessage(message, wanted);
    if (left !== undefined) kept.push(left);
  }
  return kept;
}

function stripMessage(message: Message, texts: readonly string[]): Message | undefined {
  if (typeof message.content === 'string') {
    const left = stripText(message.content, texts);
    return left === message.content ? message : left === '' ? undefined : { ...message, content: left };
  }
  const content: ContentBlock[] = [];
  let changed = false;
  for (const block of message.content) {
    const left = block.type === 'text' && block.text !== undefined ? stripText(block.text, texts) : undefined;
    if (left === undefined || left === block.text) {
      content.push(block);
      continue;
    }
    changed = true;
    if (left !== '') content.push({ ...block, text: left });
  }
  if (!changed) return message;
  return content.length === 0 ? undefined : { ...message, content };
}

function stripText(text: string, texts: readonly string[]): string {
  let left = text;
  for (const injected of texts) left = without(left, injected);
  return left;
}

/** `text` less every occurrence of `part` that starts and ends on line borders. */
function without(text: string, part: string): string {
  let left = '';
  let from = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    const end = at + part.length;
    const borders = (at === 0 || text[at - 1] === '\n') && (end === text.length || text[end] === '\n');
    if (at < from || !borders) continue;
    left += text.slice(from, at);
    from = text[end] === '\n' ? end + 1 : end;
  }
  return left + text.slice(from);
}
