/**
 * The built-in agent: the smallest loop that is an honest coding agent. It runs where the work is, as one plain
 * file, so it imports nothing but Node itself.
 * Promises: the same turn file, session and workspace give the same request bytes (no clock, chance, path or host name
 * in them); no retry; every tool stays inside the workspace and follows no link; the session file is the whole truth
 * about the conversation, so a later process goes on from it.
 * Does not promise: safety from the commands the model runs; that is for whoever starts it.
 *
 * In: cwd = workspace; $HOME/.agent/turn.json (see Turn); $MODEL_URL = http://127.0.0.1:<port> or unix:<path>.
 * Out: $HOME/.agent/session.jsonl, one record a line:
 *   {"type":"session","v":1,"model","tools":[names]}                 once, first
 *   {"type":"injection","channel","text","memories":[ids]}           what was put before the next prompt, by no agent
 *   {"type":"user","text"}                                           a prompt
 *   {"type":"assistant","content":[blocks],"usage","stop_reason"}    the model's words, as they came
 *   {"type":"tool_results","content":[tool_result blocks]}
 *   {"type":"end","reason"}                                          how this turn ended
 * The last line of stdout is {"end":reason}, and the exit status stands for it (EXITS).
 */
import { spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeSync,
} from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { argv, cwd, env, exit, stdout, umask } from 'node:process';
import type { Readable } from 'node:stream';

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

/** Text put before a prompt. */
export interface Injection {
  readonly channel: string;
  readonly text: string;
  readonly memories: readonly string[];
}

/** One prompt and everything that governs it. */
export interface Turn {
  readonly v: 1;
  readonly prompt: string;
  readonly injections: readonly Injection[];
  readonly system: string;
  readonly model: string;
  readonly maxTokens: number;
  /** Further fields of the request, such as temperature. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly tools: readonly ToolName[];
  readonly limits: Limits;
}
export interface Limits {
  /** Model calls of the whole session, earlier prompts included. */
  readonly turns: number;
  /** Tokens in and out of the whole session; the one that passes it is the last. */
  readonly tokens: number;
  /** Bytes of one tool's answer. */
  readonly outputBytes: number;
  /** Longest time of one command. */
  readonly commandSeconds: number;
}

interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}
interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: Record<string, unknown>;
}
type Entry = { readonly type: string } & Record<string, unknown>;

// ---------------------------------------------------------------------------------------------- files, never by a link

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Opening below a held descriptor, where the system has it: then no part of the way can be swapped. */
const HELD = existsSync('/proc/self/fd');

interface Place {
  readonly fd: number;
  readonly path: string;
}

const child = ({ fd, path }: Place, name: string): string =>
  HELD ? `/proc/self/fd/${fd}/${name}` : `${path}/${name}`;

/** The names of a path below the workspace. Throws for any way out of it. */
export function segments(root: string, path: unknown): string[] {
  if (typeof path !== 'string' || path.includes('\0')) throw new Error('path: a path is needed');
  const inside = path === root || path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  if (inside.startsWith('/')) throw new Error(`${path}: outside the workspace`);
  const names = inside.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) throw new Error(`${path}: outside the workspace`);
  return names;
}

/** Hands the folder of `names` to `use`, and closes it. Refuses a link anywhere on the way. */
function inFolder<T>(root: string, names: readonly string[], make: boolean, use: (place: Place) => T): T {
  let place: Place = { fd: openSync(root, DIRECTORY), path: root };
  try {
    for (const name of names) {
      const at = child(place, name);
      if (make) makeFolder(at);
      const next = { fd: openSync(at, DIRECTORY), path: `${place.path}/${name}` };
      closeSync(place.fd);
      place = next;
    }
    return use(place);
  } finally {
    closeSync(place.fd);
  }
}

function makeFolder(at: string): void {
  try {
    mkdirSync(at, 0o755);
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
  }
}

/** Opens a regular file and hands its descriptor to `use`. O_NONBLOCK: a fifo must not stop us. */
function withFile<T>(root: string, path: unknown, write: boolean, use: (fd: number) => T): T {
  const names = segments(root, path);
  const name = names.pop();
  if (name === undefined) throw new Error('path: a file is needed');
  const { O_RDONLY, O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const flags = (write ? O_WRONLY | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK;
  return inFolder(root, names, write, (place) => {
    const fd = openSync(child(place, name), flags, 0o644);
    try {
      if (!fstatSync(fd).isFile()) throw new Error(`${path}: not a regular file`);
      return use(fd);
    } finally {
      closeSync(fd);
    }
  });
}

function readText(root: string, path: unknown): string {
  const bytes = withFile(root, path, false, (fd) => readFileSync(fd));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`${path}: not a text file`);
  }
}

function writeText(root: string, path: unknown, text: string): void {
  withFile(root, path, true, (fd) => {
    ftruncateSync(fd, 0);
    writeAll(fd, Buffer.from(text, 'utf8'));
  });
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

const codeOf = (cause: unknown): string => String((cause as { code?: unknown }).code ?? '');

// ------------------------------------------------------------------------------------------------------------- session

const STATE = '.agent';

interface Session {
  /** Model calls and their tokens so far. */
  readonly spent: { calls: number; tokens: number };
  readonly messages: { role: 'user' | 'assistant'; content: Block[] }[];
  append(entry: Entry): void;
}

/** Reads what is there (a line cut by a kill is dropped), and appends from now on. */
function openSession(home: string, turn: Turn): Session {
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

function callsOf(message: Session['messages'][number] | undefined): Call[] {
  if (message?.role !== 'assistant') return [];
  return message.content.filter(({ type }) => type === 'tool_use') as unknown as Call[];
}

// --------------------------------------------------------------------------------------------------------------- tools

export type ToolName = 'read' | 'write' | 'edit' | 'list' | 'run' | 'search_memory';
type Input = Record<string, unknown>;
interface Tool {
  readonly description: string;
  readonly properties: Record<string, unknown>;
  readonly required: readonly string[];
  readonly run: (input: Input, context: Context) => string | Promise<string>;
}
interface Context {
  readonly root: string;
  readonly limits: Limits;
}

const text = (description: string) => ({ type: 'string', description });
const number = (description: string) => ({ type: 'integer', description, minimum: 1 });

export const TOOLS: Readonly<Record<ToolName, Tool>> = {
  read: {
    description: 'Read a text file of the workspace.',
    properties: {
      path: text('File, relative to the workspace.'),
      offset: number('First line.'),
      limit: number('Number of lines.'),
    },
    required: ['path'],
    run: ({ path, offset, limit }, { root }) => lines(readText(root, path), offset, limit),
  },
  write: {
    description: 'Write a text file of the workspace, making its folders.',
    properties: { path: text('File, relative to the workspace.'), content: text('The whole new text.') },
    required: ['path', 'content'],
    run: ({ path, content }, { root }) => {
      writeText(root, path, string('content', content));
      return 'written';
    },
  },
  edit: {
    description: 'Replace one occurrence of a text in a file. The old text must occur exactly once.',
    properties: { path: text('File.'), old: text('Text to replace.'), new: text('Text to put there.') },
    required: ['path', 'old', 'new'],
    run: edit,
  },
  list: {
    description: 'List the files and folders in a folder of the workspace. Folders end in a slash.',
    properties: { path: text('Folder, relative to the workspace; the workspace itself by default.') },
    required: [],
    run: ({ path = '.' }, { root }) => list(root, path),
  },
  run: {
    description: 'Run a shell command in the workspace and give its output and exit status.',
    properties: { command: text('Command for sh.') },
    required: ['command'],
    run: ({ command }, context) => runCommand(string('command', command), context),
  },
  search_memory: {
    description: 'Search what was learned in earlier sessions.',
    properties: { query: text('What to look for.'), limit: number('Most memories to give.') },
    required: ['query'],
    run: ({ query, limit = 5 }) => searchMemory(string('query', query), limit),
  },
};

function string(name: string, value: unknown): string {
  if (typeof value !== 'string') throw new Error(`${name}: a text is needed`);
  return value;
}

function lines(whole: string, offset: unknown = 1, limit: unknown = Number.MAX_SAFE_INTEGER): string {
  const all = whole.split(/(?<=\n)/);
  return all.slice(Number(offset) - 1, Number(offset) - 1 + Number(limit)).join('');
}

function edit({ path, old, new: put }: Input, { root }: Context): string {
  const before = readText(root, path);
  const wanted = string('old', old);
  const at = before.indexOf(wanted);
  if (wanted === '' || at < 0) throw new Error(`${path}: the old text does not occur`);
  if (before.indexOf(wanted, at + 1) >= 0) throw new Error(`${path}: the old text occurs more than once`);
  writeText(root, path, before.slice(0, at) + string('new', put) + before.slice(at + wanted.length));
  return 'edited';
}

/** Links and special files are not listed: no tool would open them. */
function list(root: string, path: unknown): string {
  return inFolder(root, segments(root, path), false, (place) => {
    const entries = readdirSync(HELD ? `/proc/self/fd/${place.fd}` : place.path, { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() || entry.isDirectory());
    const shown = names.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    return shown.sort().join('\n');
  });
}

/**
 * The shell runs in a group of its own. Its companion waits for the end of descriptor 3, which comes when the command
 * is over or this process dies, and then ends the whole group: nothing of a command outlives it.
 */
const SHELL = '{ read -r _ <&3; kill -9 0; } >/dev/null 2>&1 & exec 3<&- 2>&1; eval "$1"';
/** Milliseconds to wait for output that someone else still holds open. */
const DRAIN = 1000;

function runCommand(command: string, { root, limits }: Context): Promise<string> {
  const started = spawn('/bin/sh', ['-c', SHELL, 'sh', command], {
    cwd: root,
    detached: true,
    env: commandEnv(root),
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const output = collector(limits.outputBytes);
  const out = started.stdout as Readable;
  out.on('data', output.add);
  let late = false;
  const deadline = setTimeout(() => {
    late = true;
    endGroup(started.pid);
  }, limits.commandSeconds * 1000);
  return new Promise((resolve, reject) => {
    started.on('error', reject);
    started.on('exit', (status, signal) => {
      clearTimeout(deadline);
      started.stdio[3]?.destroy();
      const say = () => {
        out.destroy();
        const how = late
          ? `stopped after ${limits.commandSeconds} s`
          : signal === null
            ? `exit ${status}`
            : signal;
        resolve(`${output.text()}\n[${how}]`);
      };
      const waited = setTimeout(say, DRAIN);
      out.on('close', () => {
        clearTimeout(waited);
        say();
      });
    });
  });
}

/** Nothing of ours but where things are. */
function commandEnv(root: string): Record<string, string> {
  const { PATH = '/usr/bin:/bin', HOME = root, TMPDIR = '/tmp', TZ = 'UTC' } = env;
  return { PATH, HOME, TMPDIR, TZ, LANG: 'C.UTF-8' };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

/** Keeps the first `limit` bytes and counts the rest. */
function collector(limit: number): { add(bytes: Buffer): void; text(): string } {
  const parts: Buffer[] = [];
  let size = 0;
  return {
    add(bytes) {
      if (size < limit) parts.push(bytes.subarray(0, limit - size));
      size += bytes.length;
    },
    text: () => Buffer.concat(parts).toString('utf8') + (size > limit ? `\n[cut: ${size} bytes in all]` : ''),
  };
}

async function searchMemory(query: string, limit: unknown): Promise<string> {
  const { status, body } = await post('/v1/memory/search', { query, limit });
  if (status !== 200) throw new Error('the memory did not answer');
  const { memories } = JSON.parse(body) as { memories: { id: string; text: string }[] };
  if (memories.length === 0) return 'nothing found';
  return memories.map(({ id, text: words }) => `[memory ${id}]\n${words}\n[end ${id}]`).join('\n');
}

const failed = ({ id }: Call, why: string): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content: why,
  is_error: true,
});

async function useTool(call: Call, turn: Turn, root: string): Promise<Block> {
  if (!turn.tools.includes(call.name as ToolName)) return failed(call, `no such tool: ${call.name}`);
  try {
    const said = await TOOLS[call.name as ToolName].run(call.input, { root, limits: turn.limits });
    const shown = collector(turn.limits.outputBytes + 128);
    shown.add(Buffer.from(said, 'utf8'));
    return { type: 'tool_result', tool_use_id: call.id, content: shown.text() };
  } catch (cause) {
    // Messages of the file system name descriptors; the code alone says the same on every run.
    const why =
      codeOf(cause) === '' ? (cause as Error).message : `${codeOf(cause)}: ${String(call.input.path)}`;
    return failed(call, why);
  }
}

// --------------------------------------------------------------------------------------------------------------- model

interface Answer {
  readonly content: Block[];
  readonly usage: { input_tokens: number; output_tokens: number };
  readonly stop_reason: string;
}

/** One request, no retry: a retry would be paid twice. Rejects where nothing answers. */
function post(path: string, value: unknown): Promise<{ status: number; body: string }> {
  const body = Buffer.from(JSON.stringify(value), 'utf8');
  const url = env.MODEL_URL ?? '';
  const target = url.startsWith('unix:') ? { socketPath: url.slice(5), path } : new URL(path, url);
  const options = {
    method: 'POST',
    agent: false as const,
    headers: {
      'content-type': 'application/json',
      'content-length': body.length,
      'anthropic-version': '2023-06-01',
    },
  };
  return new Promise((resolve, reject) => {
    const sent =
      target instanceof URL ? request(target, options, take) : request({ ...target, ...options }, take);
    function take(answer: IncomingMessage) {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') });
      });
    }
    sent.on('error', reject);
    sent.end(body);
  });
}

async function askModel(turn: Turn, session: Session): Promise<Answer | { end: End; why: string }> {
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

const STOPS: Readonly<Record<string, End>> = {
  refusal: 'refusal',
  max_tokens: 'token_limit',
  model_context_window_exceeded: 'context_overflow',
};

// ---------------------------------------------------------------------------------------------------------------- loop

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

// Imported (by tests, and for EXITS), it does nothing.
if (argv[1] !== undefined && realpathSync(argv[1]) === import.meta.filename) exit(await main());
