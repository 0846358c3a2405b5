/**
 * What must hold on this host before a start is logged: a start that cannot run as registered is never begun.
 * Promises: each gate names itself; none looks at an outcome. A gate that is shut costs no attempt.
 */
import type { Agent } from '../rules/contracts/agent.ts';
import type { Condition } from '../rules/contracts/condition.ts';
import { strengthOf } from '../rules/contracts/study.ts';
import { viewAs } from '../rules/runs.ts';
import type { Standing } from '../rules/schedule/standing.ts';
import type { Cid } from '../store/format/cid.ts';
import { fail } from '../store/format/errors.ts';
import type { Store } from '../store/store.ts';
import { adapterOf } from './agents/table.ts';
import type { Engine } from './engine.ts';
import type { Provisioner } from './provisioner/provisioner.ts';
import { viewOf } from './view.ts';

/** The executor is strong enough, for the study and for the agent. Throws E_GATE. */
export function checkIsolation({ executor }: Engine, { study }: Standing, agent: Agent): void {
  const minimum = study.value.isolation;
  if (strengthOf(executor.name) < strengthOf(minimum))
    fail('E_GATE', { where: 'isolation', wanted: `${minimum} or stronger`, found: executor.name });
  if (agent.modelKind === 'real' && executor.name === 'none')
    fail('E_GATE', { where: 'isolation', wanted: 'bwrap or docker for a real model', found: 'none' });
}

/** This build runs the registered agent, against the registered kind of model. Throws E_CONFIG. */
export async function checkAgent({ scripted }: Engine, agent: Agent): Promise<void> {
  if (scripted !== (agent.modelKind === 'scripted')) {
    const found = scripted ? 'scripted' : 'real';
    fail('E_CONFIG', { where: 'model', wanted: agent.modelKind, found });
  }
  const { version } = await adapterOf(agent.adapter).identify();
  if (version !== agent.version)
    fail('E_CONFIG', { where: `agent ${agent.adapter}`, wanted: `version ${agent.version}`, found: version });
}

/**
 * What the condition promises can be handed over. A memory that no channel delivers would show as a null result.
 * Throws E_CONFIG.
 */
export function checkCondition({ name, source, channel, tools }: Condition, product?: Provisioner): void {
  if (source.type === 'none') return;
  const where = `condition ${name}`;
  if (source.type === 'rule')
    fail('E_CONFIG', { where, wanted: 'a provisioner', found: `the rule ${source.rule}` });
  if (channel !== 'prompt' && channel !== 'tool')
    fail('E_CONFIG', { where, wanted: 'the channel prompt or tool', found: channel ?? 'none' });
  if (channel === 'tool' && !tools.includes('search_memory'))
    fail('E_CONFIG', { where, wanted: 'the tool search_memory', found: tools.join(', ') || 'no tool' });
  if (product?.recall === undefined)
    fail('E_CONFIG', {
      where,
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
