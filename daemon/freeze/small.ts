/** Conditions and agents: one JSON file each -> one record. */
import { dirname } from 'node:path';
import { z } from 'zod';
import { agent } from '../../rules/contracts/agent.ts';
import { condition } from '../../rules/contracts/condition.ts';
import { portablePath } from '../../rules/contracts/kit.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import type { Store } from '../../store/store.ts';
import { below, readAuthored, readBytes } from './authored.ts';

const { kind: _kind, v: _v, ...conditionFields } = condition.shape;
export const authoredCondition = z.strictObject(conditionFields);
/** The template is a file beside the agent's own. */
const { kind: _agentKind, v: _agentV, template: _template, ...agentFields } = agent.shape;
export const authoredAgent = z.strictObject({ ...agentFields, template: portablePath() });

export async function recordCondition(store: Store, value: z.infer<typeof authoredCondition>): Promise<Cid> {
  return (await store.record({ kind: 'condition', v: 1, ...value } as unknown as Value)).cid;
}

/** `folder` is where `template` is looked for. */
export async function recordAgent(
  store: Store,
  value: z.infer<typeof authoredAgent>,
  folder: string,
): Promise<Cid> {
  const template = link(await store.put(await readBytes(below(folder, value.template))));
  return (await store.record({ kind: 'agent', v: 1, ...value, template } as unknown as Value)).cid;
}

const versioned = { v: z.literal(1) };

/** Freezes a condition file. Throws E_CONTRACT, E_NOT_FOUND. */
export async function freezeCondition(store: Store, file: string): Promise<Cid> {
  const { v: _, ...value } = await readAuthored(file, authoredCondition.extend(versioned));
  return recordCondition(store, value);
}

/** Freezes an agent file and the prompt template that it names. */
export async function freezeAgent(store: Store, file: string): Promise<Cid> {
  const { v: _, ...value } = await readAuthored(file, authoredAgent.extend(versioned));
  return recordAgent(store, value, dirname(file));
}
