/** One attempt of two arms as the parity rule reads it: a control and a memory arm that differ in nothing undeclared. */
import { memoryBlock, memoryId } from '../../../rules/memory/block.ts';
import { pairV1 } from '../../../rules/pair/v1.ts';
import { parityV1 } from '../../../rules/parity/v1.ts';
import { type Cid, digestOf, evidence, link } from '../../../store/format/cid.ts';
import { type Blocks, derive, openBlocks, putSnapshot, putTree, receiptOf } from '../kit.ts';
import { bindingOf, conditionOf, worldOf } from '../pair/kit.ts';

export type Plain = Record<string, unknown>;
/** What an arm shows; a test changes one thing of it. */
export interface ArmShown {
  surface: Plain;
  request: Plain & { messages: unknown[]; tools: Plain[] };
  receipt: Plain;
  /** Fields of the scrub's file of that name. */
  held?: readonly string[];
  status?: string;
}

export const MEMORY = 'half fares go down to the next five cents';
export const ID = memoryId(MEMORY);
export const BLOCK = memoryBlock([{ id: ID, text: MEMORY }]);
const TOOL = { name: 'read', description: 'Read a file.' };
const SEARCH = { name: 'search_memory', description: 'Search what was learned.' };
const text = (words: string) => ({ type: 'text', text: words });

/** Both arms alike, but for what the condition declares. */
export function armsOf(blocks: Blocks): Record<'none' | 'memory', ArmShown> {
  const before = link(putSnapshot(blocks, { 'src/a.ts': 'code\n' }));
  const prebuild = link(putTree(blocks, { 'node_modules/x': 'x\n' }));
  const receipt = { before, prebuild, agentVersion: '1', agentBinary: evidence('a'.repeat(64) as never) };
  const shown = (memory: boolean): ArmShown => ({
    surface: {
      workspacePath: '/workspace',
      env: { HOME: '/home/agent' },
      hostname: 'h',
      argv: ['node', 'agent.mjs'],
      mounts: ['/agent'],
      home: [{ path: '.agent/turn.json', sha256: memory ? 'b' : 'a' }],
      limits: { cpus: 1 },
      project: memory ? 'p-with' : 'p-without',
      memoryIds: memory ? [ID] : [],
      tools: memory ? [{ ...TOOL }, { ...SEARCH }] : [{ ...TOOL }],
    },
    request: {
      model: 'scripted',
      max_tokens: 100,
      system: 'You are at work.',
      tools: memory ? [{ ...TOOL }, { ...SEARCH }] : [{ ...TOOL }],
      messages: [{ role: 'user', content: [...(memory ? [text(BLOCK)] : []), text('Go.')] }],
    },
    receipt: { ...receipt },
  });
  return { none: shown(false), memory: shown(true) };
}

/** Applies the rule to an attempt; `change` sees both arms before they are written. */
export async function parityOf(change: (arms: Record<'none' | 'memory', ArmShown>) => void = () => {}) {
  const blocks = openBlocks();
  const arms = armsOf(blocks);
  change(arms);
  const { conditions, ...rest } = worldOf(blocks, { arms: ['none'] });
  const provisioner = { type: 'provisioner', provisioner: 'p' };
  const memory = conditionOf(blocks, 'memory', {
    source: provisioner,
    channel: 'prompt',
    tools: ['search_memory'],
  });
  const both = [...conditions, memory];
  const plan = (await derive(blocks, pairV1, bindingOf({ ...rest, conditions: both }))).cid;
  const written = [
    write(blocks, { plan, arm: 'none', ...rest }, arms.none),
    write(blocks, { plan, arm: 'memory', ...rest }, arms.memory),
  ];
  const binding = {
    inputs: {
      plan,
      starts: written.map(({ start }) => start),
      receipts: written.map(({ receipt }) => receipt),
      scrubs: written.map(({ scrub }) => scrub),
      conditions: both,
      injections: written.flatMap(({ injections }) => injections),
    },
  };
  return { blocks, binding, ...(await derive(blocks, parityV1, binding)), arms };
}

interface Of {
  readonly plan: Cid;
  readonly arm: string;
  readonly study: Cid;
}

function write(blocks: Blocks, { plan, arm, study }: Of, shown: ArmShown) {
  const isolation = { network: 'none', limits: [] };
  const start = blocks.record({
    ...{ kind: 'start', v: 1, plan: link(plan), arm, attempt: 1, study: link(study) },
    ...{ token: (arm === 'none' ? '0' : '1').repeat(32), executor: 'none', isolation },
  });
  const injections = arm === 'none' ? [] : [injectionOf(blocks, start)];
  const receipt = blocks.record(
    receiptOf(start, {
      injections: injections.map(link),
      status: shown.status ?? 'completed',
      ...shown.receipt,
    }),
  );
  const file = (name: string, value: unknown) => {
    const cid = blocks.raw(JSON.stringify(value));
    const original = evidence(digestOf(cid));
    return shown.held?.includes(name) === true
      ? { name, original, scrubbed: original, replaced: 0, held: 'exchanges' }
      : { name, original, scrubbed: link(cid), replaced: 0 };
  };
  const scrub = blocks.record({
    kind: 'scrub',
    v: 1,
    derivation: { rule: 'scrub', v: 1, inputs: { receipt: link(receipt), study: link(study) } },
    receipt: link(receipt),
    study: link(study),
    files: [file('surface', shown.surface), file('exchange-1-request', shown.request)],
  });
  return { start, receipt, scrub, injections };
}

/** What an arm was handed at a turn, as memories of these texts. */
export function injectionOf(blocks: Blocks, start: Cid, texts: readonly string[] = [MEMORY], turn = 1): Cid {
  const name = link(blocks.raw('a name'));
  return blocks.record({
    ...{ kind: 'injection', v: 1, start: link(start), condition: link(conditionOf(blocks, 'memory')) },
    ...{ fixture: name, challenge: name, agent: name, turn, channel: 'prompt', bytes: 0 },
    memories: texts.map((words) => ({ id: memoryId(words), text: link(blocks.raw(words)), lessons: [] })),
  });
}
