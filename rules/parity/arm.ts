/**
 * What one arm of an attempt looked like, field by field, with everything taken out that its condition declares: the
 * injected blocks, the tools it adds, and the memory's own project.
 * Promises: two arms that differ only in their condition give equal fields.
 * Does not promise: anything about an arm without an outcome; it has no such fields.
 */
import { canonicalJson, type Json, parseJson } from '../../store/format/json.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Condition } from '../contracts/condition.ts';
import type { Injection } from '../contracts/injection.ts';
import type { Full } from '../contracts/kit.ts';
import type { Receipt } from '../contracts/receipt.ts';
import type { Scrub } from '../contracts/scrub.ts';
import { memoryBlock } from '../memory/block.ts';
import { blockOf, isHeld } from '../scrub/published.ts';
import { type Message, stripInjected } from './strip.ts';

export interface Arm {
  readonly name: string;
  readonly receipt: Receipt;
  readonly scrub: Full<Scrub>;
  readonly condition: Condition;
  readonly injections: readonly Injection[];
}

/** Field name to canonical text. */
export type Fields = ReadonlyMap<string, string>;

/** Parts of the run-time surface that belong to the condition and not to the arm's surroundings. */
const OF_CONDITION: ReadonlySet<string> = new Set(['project', 'memoryIds', 'tools']);
/** The turn file holds the prompt with its injected block; the first request shows the same and is compared instead. */
const TURN_FILE = '.agent/turn.json';

export interface Compared {
  readonly fields: Fields;
  /** Parts whose bytes are held back and not here: they have no fields. */
  readonly unseen: readonly Part[];
}

/** The parts that are read from scrubbed evidence: the beginning of their fields' names, and the file. */
const PARTS = { surface: 'surface', 'first request': 'exchange-1-request' } as const;
export type Part = keyof typeof PARTS;

/** Whether a field belongs to a part. */
export const belongs = (field: string, part: Part): boolean => field.startsWith(`${part} `);

/** The comparable fields of an arm. With `lenient`, what is held back is no fault. Throws E_NOT_FOUND, E_JSON. */
export async function armFields(arm: Arm, reader: Reader, lenient = false): Promise<Compared> {
  const { receipt, scrub } = arm;
  const fields = new Map<string, string>();
  set(fields, 'before', receipt.before?.['/']);
  set(fields, 'prebuild', receipt.prebuild?.['/']);
  set(fields, 'agentVersion', receipt.agentVersion);
  set(fields, 'agentBinary', receipt.agentBinary);
  const unseen: Part[] = [];
  for (const part of Object.keys(PARTS) as Part[]) {
    const file = scrub.files.find(({ name }) => name === PARTS[part]);
    const cid = file === undefined ? undefined : blockOf(file.scrubbed);
    if (lenient && cid !== undefined && file !== undefined && isHeld(file) && !(await reader.has(cid)))
      unseen.push(part);
    else await READ[part](fields, cid === undefined ? {} : parseJson(await reader.get(cid)), arm, reader);
  }
  return { fields, unseen };
}

type ReadPart = (fields: Map<string, string>, found: Json, arm: Arm, reader: Reader) => Promise<void>;
const READ: Readonly<Record<Part, ReadPart>> = {
  surface: async (fields, surface, { condition }) => {
    for (const [name, value] of Object.entries(asMap(surface))) {
      if (!OF_CONDITION.has(name))
        fields.set(`surface ${name}`, canonicalJson(name === 'home' ? withoutTurn(value) : value));
    }
    fields.set('surface tools', canonicalJson(withoutTools(asMap(surface).tools ?? [], condition)));
  },
  'first request': async (fields, request, arm, reader) => {
    for (const [name, value] of Object.entries(await comparableRequest(asMap(request), arm, reader)))
      fields.set(`first request ${name}`, canonicalJson(value));
  },
};

function set(fields: Map<string, string>, name: string, value: string | undefined): void {
  if (value !== undefined) fields.set(name, value);
}

const asMap = (value: Json): Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, Json>) : {};

function withoutTurn(home: Json): Json {
  return Array.isArray(home) ? home.filter((file) => asMap(file).path !== TURN_FILE) : home;
}

function withoutTools(tools: Json, condition: Condition): Json {
  return Array.isArray(tools)
    ? tools.filter((tool) => !condition.tools.includes(String(asMap(tool).name)))
    : tools;
}

async function comparableRequest(request: Record<string, Json>, arm: Arm, reader: Reader) {
  const blocks: string[] = [];
  for (const injection of arm.injections) blocks.push(await injectedBlock(injection, reader));
  const { messages, tools, ...rest } = request;
  return {
    ...rest,
    messages: stripInjected((messages ?? []) as unknown as Message[], blocks) as unknown as Json,
    tools: withoutTools(tools ?? [], arm.condition),
  };
}

async function injectedBlock(injection: Injection, reader: Reader): Promise<string> {
  const memories: { id: string; text: string }[] = [];
  for (const { id, text } of injection.memories) {
    memories.push({ id, text: Buffer.from(await reader.get(text['/'])).toString('utf8') });
  }
  return memoryBlock(memories);
}
