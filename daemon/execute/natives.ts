/** What the agent left about itself, and what the host was: read once everything is dead. */
import { dirname } from 'node:path';
import { digestOf, evidence } from '../../store/format/cid.ts';
import { canonicalJson, type Json } from '../../store/format/json.ts';
import { printPath, walkTree } from '../../store/format/tree.ts';
import type { Paths } from '../executors/executor.ts';
import { hasOutcome, voided } from './ending.ts';
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

/**
 * Closes the meter, so that every reservation is booked, and takes its accounts. A fault of the meter that shows only
 * here is ours: an answer, a booking or a memory may be missing, so the run has no outcome.
 */
export const accounts: Step = {
  name: 'accounts',
  when: 'always',
  voids: 'aborted',
  async run(_task, { meter, books, ending }) {
    await meter?.close();
    if (meter === undefined || books === undefined) return {};
    const { exchanges, injections, micros, inputTokens, outputTokens } = books;
    const spend = { micros, requests: exchanges.length, inputTokens, outputTokens };
    const taken = { exchanges: [...exchanges], injections: [...injections], spend };
    const { fault } = meter.state();
    if (fault === undefined || !hasOutcome(ending)) return taken;
    return { ...taken, ending: voided(accounts, 'aborted', fault.code, fault.message) };
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

interface Replacement {
  readonly path: string;
  readonly with: string;
}

function replacements(task: Task, { sandbox, verifierPaths }: State): Json[] {
  const pairs: Replacement[] = [{ path: task.world.scratch, with: '/scratch' }];
  if (sandbox !== undefined) {
    pairs.push({ path: sandbox.relayUrl, with: RELAY }, ...replacementsFor(sandbox.paths, '/sandbox'));
  }
  for (const paths of verifierPaths ?? []) pairs.push(...replacementsFor(paths, '/verifier-sandbox'));
  return pairs
    .filter((pair) => pair.path.length > 2 && pair.path !== pair.with)
    .sort((a, b) => b.path.length - a.path.length)
    .map((pair) => ({ ...pair }));
}

function replacementsFor({ workspace, home, temp, readOnly }: Paths, folder: string): Replacement[] {
  const shown = Object.entries(readOnly).map(([name, path]) => ({ path, with: `/opt/${name}` }));
  return [
    { path: dirname(workspace), with: folder },
    { path: workspace, with: '/workspace' },
    { path: home, with: '/home/agent' },
    { path: temp, with: '/tmp' },
    ...shown,
  ];
}
