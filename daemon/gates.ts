/**
 * What must hold on this host before a start is logged: a start that cannot run as registered is never begun.
 * Promises: each gate names itself; none looks at an outcome. A gate that is shut costs no attempt.
 */
import type { Agent } from '../rules/contracts/agent.ts';
import type { Condition } from '../rules/contracts/condition.ts';
import { type ExecutorName, strengthOf } from '../rules/contracts/study.ts';
import { viewAs } from '../rules/runs.ts';
import type { Standing } from '../rules/schedule/standing.ts';
import type { Cid } from '../store/format/cid.ts';
import { fail } from '../store/format/errors.ts';
import type { Store } from '../store/store.ts';
import { adapterOf } from './agents/table.ts';
import { viewOf } from './view.ts';

/** The executor is strong enough, for the study and for the agent. Throws E_GATE. */
export function checkIsolation(
  executor: ExecutorName,
  minimum: ExecutorName,
  { modelKind }: Pick<Agent, 'modelKind'>,
): void {
  if (strengthOf(executor) < strengthOf(minimum))
    fail('E_GATE', { where: 'isolation', wanted: `${minimum} or stronger`, found: executor });
  if (modelKind === 'real' && executor === 'none')
    fail('E_GATE', { where: 'isolation', wanted: 'bwrap or docker for a real model', found: 'none' });
}

/** The host's model is of the registered kind. Throws E_CONFIG. */
export function checkModel(scripted: boolean, { modelKind }: Pick<Agent, 'modelKind'>): void {
  const found = scripted ? 'scripted' : 'real';
  if (modelKind !== found) fail('E_CONFIG', { where: 'model', wanted: modelKind, found });
}

/** This build runs the registered agent with these tools. Throws E_CONFIG. */
export async function checkAgent(
  { adapter: name, version: wanted }: Pick<Agent, 'adapter' | 'version'>,
  tools: readonly string[] = [],
): Promise<void> {
  const adapter = adapterOf(name);
  const { version } = await adapter.identify();
  if (version !== wanted)
    fail('E_CONFIG', { where: `agent ${name}`, wanted: `version ${wanted}`, found: version });
  for (const tool of tools) adapter.toolDescription(tool);
}

/**
 * What the condition promises can be handed over. A memory that no channel delivers would show as a null result.
 * Throws E_CONFIG.
 */
export function checkDelivery({ name, source, channel, tools }: Delivered): void {
  if (source.type === 'none') return;
  const where = `condition ${name}`;
  if (source.type === 'rule')
    fail('E_CONFIG', { where, wanted: 'a provisioner', found: `the rule ${source.rule}` });
  if (channel !== 'prompt' && channel !== 'tool')
    fail('E_CONFIG', { where, wanted: 'the channel prompt or tool', found: channel ?? 'none' });
  if (channel === 'tool' && !tools.includes('search_memory'))
    fail('E_CONFIG', { where, wanted: 'the tool search_memory', found: tools.join(', ') || 'no tool' });
}

type Delivered = Pick<Condition, 'name' | 'source' | 'channel' | 'tools'>;

/** The same, and the host's product can do it. Throws E_CONFIG. */
export function checkCondition(condition: Delivered, product?: { readonly recall?: unknown }): void {
  checkDelivery(condition);
  const { name, source } = condition;
  if (source.type === 'provisioner' && product?.recall === undefined)
    fail('E_CONFIG', {
      where: `condition ${name}`,
      wanted: `the verb recall of ${source.provisioner}`,
      found: 'a provisioner without it',
      hint: 'Set recall in the host configuration',
    });
}

/**
 * A receipt by which a shared cap stopped the study version in force. Until an amendment brings other caps, a further
 * start would only use up an attempt. O(starts under this version); none where nothing has a price.
 */
export async function cappedBy(store: Store, { study }: Standing): Promise<Cid | undefined> {
  const { currency: _, ...prices } = study.value.prices;
  if (Object.values(prices).every((price) => price === 0)) return undefined;
  const view = viewOf(store);
  for (const start of await view.linkers(study.cid, 'start')) {
    for (const receipt of await view.linkers(start, 'receipt')) {
      const { status } = await viewAs('receipt', receipt, view);
      if (status === 'capped') return receipt;
    }
  }
  return undefined;
}
