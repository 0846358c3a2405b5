/**
 * The built-in agent: the smallest loop that is an honest coding agent. It runs where the work is, as the plain files of
 * this folder that end in `.mts`, so they import nothing but Node and each other.
 * Promises: the same turn file, session and workspace give the same request bytes (no clock, chance, path or host name
 * in them); no retry; every tool stays inside the workspace and follows no link; the session file is the whole truth
 * about the conversation, so a later process goes on from it.
 * Does not promise: safety from the commands the model runs; that is for whoever starts it.
 *
 * In: cwd = workspace; $HOME/.agent/turn.json (see Turn); $MODEL_URL = http://127.0.0.1:<port> or unix:<path>.
 * Out: $HOME/.agent/session.jsonl (session.mts).
 * The last line of stdout is {"end":reason}, and the exit status stands for it (EXITS).
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { cwd, env, exit, stdout, umask } from 'node:process';
import { type Block, callsOf } from './blocks.mts';
import { askModel, type End, EXITS, STOPS } from './model.mts';
import { openSession, type Session, STATE } from './session.mts';
import { useTool } from './tools.mts';
import type { Turn } from './turn.mts';

async function work(turn: Turn, session: Session, root: string): Promise<{ end: End; why?: string }> {
  for (;;) {
    if (session.spent.calls >= turn.limits.turns) return { end: 'turn_limit' };
    if (session.spent.tokens >= turn.limits.tokens) return { end: 'token_limit' };
    const answer = await askModel(turn, session);
    if ('end' in answer) return answer;
    const { content, usage, stop_reason } = answer;
    session.append({ type: 'assistant', content, usage, stop_reason });
    const stopped = STOPS[stop_reason];
    if (stopped !== undefined) return { end: stopped };
    const calls = callsOf(session.messages.at(-1));
    if (calls.length === 0) return { end: 'completed' };
    const results: Block[] = [];
    for (const call of calls) results.push(await useTool(call, turn, root));
    session.append({ type: 'tool_results', content: results });
  }
}

async function main(): Promise<number> {
  umask(0o022);
  const home = env.HOME ?? '';
  const root = cwd();
  mkdirSync(`${home}/${STATE}`, { recursive: true, mode: 0o700 });
  const turn = JSON.parse(readFileSync(`${home}/${STATE}/turn.json`, 'utf8')) as Turn;
  const session = openSession(home, turn);
  for (const { channel, text: words, memories } of turn.injections) {
    session.append({ type: 'injection', channel, text: words, memories: [...memories] });
  }
  session.append({ type: 'user', text: turn.prompt });
  const { end, why } = await work(turn, session, root);
  session.append({ type: 'end', reason: end, ...(why === undefined ? {} : { why }) });
  stdout.write(`${JSON.stringify({ end })}\n`);
  return EXITS[end];
}

exit(await main());
