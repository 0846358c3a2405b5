/**
 * Adapter of the built-in loop.
 * Promises: the turn goes in as one file, the session comes out as one file, and the exit status says why it ended.
 * Does not promise: hooks or native memory; memory comes with the prompt or through the declared tool.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { sha256Hex } from '../../../store/format/crypto.ts';
import { fail } from '../../../store/format/errors.ts';
import type { Adapter, AgentTurn, Ending, Exit, Launch, Place } from '../adapter.ts';
import { EXITS } from './model.mts';
import { TOOLS } from './tools.mts';
import type { ToolName, Turn } from './turn.mts';

const sourceOf = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url));
/** The one that is started; the others keep the names by which they import each other. */
const PROGRAM = { name: 'agent.mjs', source: sourceOf('loop.mjs') };
const PARTS = ['blocks', 'commands', 'files', 'model', 'output', 'session', 'tools', 'wire'].map((part) => ({
  name: `${part}.mjs`,
  source: sourceOf(`${part}.mjs`),
}));
const TURN_FILE = '.agent/turn.json';
const SESSION_FILE = '.agent/session.jsonl';
/** Raised whenever request or session bytes change for equal inputs. */
const VERSION = '1';
/** Longest time of one command of the agent; the challenge's own limit ends the turn. */
const COMMAND_SECONDS = 120;

export const builtin: Adapter = {
  name: 'builtin',
  format: 'builtin-session-1',
  programs: [PROGRAM, ...PARTS],
  turnFiles: [TURN_FILE],
  isSession: (path) => path === SESSION_FILE,
  identify: async () => ({ version: VERSION, sha256: await digestOfPrograms() }),
  launch,
  ending,
  toolDescription: (tool) => TOOLS[toolName(tool)].description,
};

/** SHA-256 of the lines that `sha256sum` gives for the files, in this order. */
async function digestOfPrograms(): Promise<string> {
  const lines: string[] = [];
  for (const { name, source } of [PROGRAM, ...PARTS])
    lines.push(`${sha256Hex(await readFile(source))}  ${name}\n`);
  return sha256Hex(Buffer.from(lines.join(''), 'utf8'));
}

/** Throws E_CONFIG for a tool that the loop does not have. */
function toolName(tool: string): ToolName {
  if (Object.hasOwn(TOOLS, tool)) return tool as ToolName;
  return fail('E_CONFIG', { where: 'tools', wanted: Object.keys(TOOLS).join(', '), found: tool });
}

function launch(turn: AgentTurn, place: Place): Launch {
  const bytes = Buffer.from(`${JSON.stringify(turnFile(turn))}\n`, 'utf8');
  return {
    argv: [place.node, `${place.programs}/${PROGRAM.name}`],
    env: { HOME: place.home, LANG: 'C.UTF-8', MODEL_URL: place.modelUrl, PATH: place.path, TZ: 'UTC' },
    files: [{ path: TURN_FILE, bytes, mode: 0o600 }],
  };
}

function turnFile({ prompt, injections, system, model, parameters, tools, limits }: AgentTurn): Turn {
  return {
    v: 1,
    prompt,
    injections,
    system,
    model,
    maxTokens: limits.maxOutputTokens,
    parameters: Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, plain(value)])),
    tools: tools.map(toolName),
    limits: {
      turns: limits.turns,
      tokens: limits.totalTokens,
      outputBytes: limits.outputBytes,
      commandSeconds: COMMAND_SECONDS,
    },
  };
}

/** A record's decimal as the number that the request wants. */
const plain = (value: string | boolean): number | boolean =>
  typeof value === 'boolean' ? value : Number(value);

function ending({ code }: Exit): Ending {
  if (code === EXITS.completed) return { status: 'completed' };
  for (const stopReason of [
    'turn_limit',
    'token_limit',
    'context_overflow',
    'cost_limit',
    'refusal',
  ] as const) {
    if (code === EXITS[stopReason]) return { status: 'agent_failed', stopReason };
  }
  return { status: 'agent_failed', stopReason: 'exit' };
}
