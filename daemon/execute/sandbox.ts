/** The sandbox of one arm: opened over the prebuilt workspace, and what it holds read back before anything runs. */
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { ReadOnly, Sandbox, SandboxSpec } from '../executors/executor.ts';
import type { State, Step, Task } from './task.ts';

/** Processes and threads that an arm may have at once. */
const PIDS = 256;

/** What an executor needs to open a sandbox over this workspace. */
export function sandboxSpec(task: Task, workspace: Cid, readOnly: readonly ReadOnly[] = []): SandboxSpec {
  const { cpus, memoryMb, image } = task.challenge.value.environment;
  const found = task.world.images[image];
  return {
    owner: task.world.owner,
    token: task.token,
    limits: { cpus, memoryMb, pids: PIDS },
    workspace,
    readOnly,
    reader: task.store,
    ...(found === undefined ? {} : { image: found }),
  };
}

export const openSandbox: Step = {
  name: 'sandbox',
  when: 'ok',
  voids: 'sandbox_lost',
  async run(task, { prebuild }) {
    if (prebuild === undefined) fail('E_INTERNAL', { where: 'sandbox', wanted: 'a prebuilt tree' });
    const folder = join(task.world.scratch, 'programs');
    await mkdir(folder, { recursive: true });
    for (const { name, source } of task.adapter.programs) await cp(source, join(folder, name));
    const sandbox = await task.world.executor.open(sandboxSpec(task, prebuild, [{ name: 'agent', folder }]));
    return { sandbox };
  },
  close: async (_task, { sandbox }) => sandbox?.close(),
};

export const beforeSnapshot: Step = {
  name: 'before',
  when: 'ok',
  voids: 'sandbox_lost',
  async run(task, state) {
    const { snapshot } = await sandboxOf(state).snapshot((bytes, codec) => task.store.put(bytes, codec));
    return { before: snapshot };
  },
};

/** Every process is dead before the workspace is read. */
export const afterSnapshot: Step = {
  name: 'after',
  when: 'outcome',
  voids: 'sandbox_lost',
  async run(task, state) {
    const sandbox = sandboxOf(state);
    await sandbox.stop();
    const { snapshot } = await sandbox.snapshot((bytes, codec) => task.store.put(bytes, codec));
    return { after: snapshot };
  },
};

export function sandboxOf(state: State): Sandbox {
  return state.sandbox ?? fail('E_INTERNAL', { where: 'step', wanted: 'an open sandbox' });
}
