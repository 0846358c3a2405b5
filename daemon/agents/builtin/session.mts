/**
 * The session file: the whole truth about a conversation, so that a later process goes on from it.
 *   {"type":"session","v":1,"model","tools":[names]}                 once, first
 *   {"type":"injection","channel","text","memories":[ids]}           what was put before the next prompt, by no agent
 *   {"type":"user","text"}                                           a prompt
 *   {"type":"assistant","content":[blocks],"usage","stop_reason"}    the model's words, as they came
 *   {"type":"tool_results","content":[tool_result blocks]}
 *   {"type":"end","reason"}                                          how this turn ended
 */
import { constants, ftruncateSync, openSync, readFileSync } from 'node:fs';
import { type Answer, type Block, callsOf, type Entry, failed, type Message } from './blocks.mts';
import { writeAll } from './files.mts';
import type { Turn } from './turn.mts';

/** The loop's own folder in the agent's home. */
export const STATE = '.agent';

export interface Session {
  /** Model calls and their tokens so far. */
  readonly spent: { calls: number; tokens: number };
  readonly messages: Message[];
  append(entry: Entry): void;
}

/** Reads what is there (a line cut by a kill is dropped), and appends from now on. */
export function openSession(home: string, turn: Turn): Session {
  const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
  const path = `${home}/${STATE}/session.jsonl`;
  const fd = openSync(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  const bytes = readFileSync(fd);
  const whole = bytes.lastIndexOf(10) + 1;
  if (whole < bytes.length) ftruncateSync(fd, whole);
  const lines = bytes.subarray(0, whole).toString('utf8').split('\n');
  const messages: Session['messages'] = [];
  const spent = { calls: 0, tokens: 0 };
  let waiting: Block[] = [];
  const take = (entry: Entry) => {
    if (entry.type === 'injection') waiting.push({ type: 'text', text: entry.text });
    if (entry.type === 'user') {
      messages.push({ role: 'user', content: [...waiting, { type: 'text', text: entry.text }] });
      waiting = [];
    }
    if (entry.type === 'assistant') {
      const { content, usage } = entry as unknown as Answer;
      messages.push({ role: 'assistant', content });
      spent.calls += 1;
      spent.tokens += usage.input_tokens + usage.output_tokens;
    }
    if (entry.type === 'tool_results') messages.push({ role: 'user', content: entry.content as Block[] });
  };
  const append = (entry: Entry) => {
    writeAll(fd, Buffer.from(`${JSON.stringify(entry)}\n`, 'utf8'));
    take(entry);
  };
  for (const line of lines) if (line !== '') take(JSON.parse(line) as Entry);
  if (whole === 0) append({ type: 'session', v: 1, model: turn.model, tools: [...turn.tools] });
  const open = callsOf(messages.at(-1));
  if (open.length > 0)
    append({ type: 'tool_results', content: open.map((call) => failed(call, 'interrupted')) });
  return { messages, spent, append };
}
