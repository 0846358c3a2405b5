/** Conditions and agents: one JSON file each -> one record. */
import { dirname } from 'node:path';
import { z } from 'zod';
import { agent } from '../../rules/contracts/agent.ts';
import { condition } from '../../rules/contracts/condition.ts';
import { portablePath } from '../../rules/contracts/kit.ts';
import { type Cid, cidOf, link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import type { Store } from '../../store/store.ts';
import { readAuthored, readBelow } from './authored.ts';

const { kind: _kind, v: _v, ...conditionFields } = condition.shape;
export const authoredCondition = z.strictObject(conditionFields);
/** The template is a file beside the agent's own. */
const { kind: _agentKind, v: _agentV, template: _template, ...agentFields } = agent.shape;
export const authoredAgent = z.strictObject({ ...agentFields, template: portablePath() });

export const conditionRecord = (value: z.infer<typeof authoredCondition>): Value =>
  ({ kind: 'condition', v: 1, ...value }) as unknown as Value;

export interface AgentDraft {
  readonly template: Uint8Array;
  readonly record: Value;
}

/** Reads the prompt template below `folder`; writes nothing. Throws E_NOT_FOUND, E_PATH. */
export async function draftAgent(value: z.infer<typeof authoredAgent>, folder: string): Promise<AgentDraft> {
  const template = await readBelow(folder, value.template);
  const record = { kind: 'agent', v: 1, ...value, template: link(cidOf('raw', template)) };
  return { template, record: record as unknown as Value };
}

export async function recordAgent(store: Store, { template, record }: AgentDraft): Promise<Cid> {
  await store.put(template);
  return (await store.record(record)).cid;
}

const versioned = { v: z.literal(1) };

/** Freezes a condition file. Throws E_CONTRACT, E_NOT_FOUND. */
export async function freezeCondition(store: Store, file: string): Promise<Cid> {
  const { v: _, ...value } = await readAuthored(file, authoredCondition.extend(versioned));
  return (await store.record(conditionRecord(value))).cid;
}

/** Freezes an agent file and the prompt template that it names. */
export async function freezeAgent(store: Store, file: string): Promise<Cid> {
  const { v: _, ...value } = await readAuthored(file, authoredAgent.extend(versioned));
  return recordAgent(store, await draftAgent(value, dirname(file)));
}
