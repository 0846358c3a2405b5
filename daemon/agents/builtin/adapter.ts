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
import { EXITS, TOOLS, type ToolName, type Turn } from './loop.ts';

const PROGRAM = { name: 'agent.mjs', source: fileURLToPath(new URL('./loop.js', import.meta.url)) };
const TURN_FILE = '.agent/turn.json';
const SESSION_FILE = '.agent/session.jsonl';
/** Raised whenever request or session bytes change for equal inputs. */
const VERSION = '1';
/** Longest time of one command of the agent; the challenge's own limit ends the turn. */
const COMMAND_SECONDS = 120;

export const builtin: Adapter = {
  name: 'builtin',
  format: 'builtin-session-1',
  programs: [PROGRAM],
  turnFiles: [TURN_FILE],
  isSession: (path) => path === SESSION_FILE,
  identify: async () => ({ version: VERSION, sha256: sha256Hex(await readFile(PROGRAM.source)) }),
  launch,
  ending,
  toolDescription: (tool) => TOOLS[toolName(tool)].description,
};

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
