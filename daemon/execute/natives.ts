/** What the agent left about itself, and what the host was: read once everything is dead. */
import { dirname } from 'node:path';
import { digestOf, evidence } from '../../store/format/cid.ts';
import { canonicalJson, type Json } from '../../store/format/json.ts';
import { printPath, walkTree } from '../../store/format/tree.ts';
import { accountsOf } from './meter.ts';
import { sandboxOf } from './sandbox.ts';
import type { State, Step, Task } from './task.ts';

export const natives: Step = {
  name: 'natives',
  when: 'outcome',
  voids: 'sandbox_lost',
  async run(task, state) {
    const found = [...state.natives];
    const root = await sandboxOf(state).home((bytes, codec) => task.store.put(bytes, codec));
    for await (const { path, entry } of walkTree(task.store, root)) {
      const name = printPath(path);
      if (entry.type !== 'file' || !task.adapter.isSession(name)) continue;
      found.push({ name, bytes: evidence(digestOf(entry.cid['/'])) });
    }
    return { natives: found };
  },
};

/** Closes the meter, so that every reservation is booked, and takes its accounts. */
export const accounts: Step = {
  name: 'accounts',
  when: 'always',
  voids: 'aborted',
  async run(_task, state) {
    await state.meter?.close();
    const books = accountsOf(state);
    if (books === undefined) return {};
    const { exchanges, micros, inputTokens, outputTokens } = books;
    return { exchanges, spend: { micros, requests: exchanges.length, inputTokens, outputTokens } };
  },
};

/** Where the meter answers in a sandbox with a network of its own. */
const RELAY = 'http://127.0.0.1:8080';

/** Paths of this machine and what stands for them in published evidence. */
export const hostFacts: Step = {
  name: 'host',
  when: 'always',
  voids: 'aborted',
  async run(task, state) {
    const facts: Json = {
      replacements: replacements(task, state),
      executor: (await task.world.executor.describe()) as Json,
    };
    const cid = await task.store.put(Buffer.from(canonicalJson(facts), 'utf8'));
    return { hostFacts: evidence(digestOf(cid)) };
  },
};

function replacements(task: Task, { sandbox }: State): Json[] {
  const pairs: { path: string; with: string }[] = [{ path: task.world.scratch, with: '/scratch' }];
  if (sandbox !== undefined) {
    const { workspace, home, temp, readOnly } = sandbox.paths;
    pairs.push(
      { path: dirname(workspace), with: '/sandbox' },
      { path: sandbox.relayUrl, with: RELAY },
      { path: workspace, with: '/workspace' },
      { path: home, with: '/home/agent' },
      { path: temp, with: '/tmp' },
    );
    if (readOnly.agent !== undefined) pairs.push({ path: readOnly.agent, with: '/agent' });
  }
  return pairs
    .filter((pair) => pair.path.length > 2 && pair.path !== pair.with)
    .sort((a, b) => b.path.length - a.path.length);
}
