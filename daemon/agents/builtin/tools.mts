/**
 * The tools: what the model is told of each, and what each does.
 * Promises: a tool stays inside the workspace; what goes wrong is an answer of the tool.
 */
import { type Block, type Call, failed } from './blocks.mts';
import { runCommand } from './commands.mts';
import { codeOf, list, readText, writeText } from './files.mts';
import { collector } from './output.mts';
import type { Limits, ToolName, Turn } from './turn.mts';
import { post } from './wire.mts';

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
    run: ({ command }, { root, limits }) => runCommand(string('command', command), root, limits),
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

async function searchMemory(query: string, limit: unknown): Promise<string> {
  const { status, body } = await post('/v1/memory/search', { query, limit });
  if (status !== 200) throw new Error('the memory did not answer');
  const { memories } = JSON.parse(body) as { memories: { id: string; text: string }[] };
  if (memories.length === 0) return 'nothing found';
  return memories.map(({ id, text: words }) => `[memory ${id}]\n${words}\n[end ${id}]`).join('\n');
}

/** Answers a call, whatever comes of it. */
export async function useTool(call: Call, turn: Turn, root: string): Promise<Block> {
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
