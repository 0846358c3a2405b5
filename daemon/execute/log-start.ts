/** The start is in the family's log, and a signed checkpoint covers it, before anything runs or costs. */
import { link } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { put, type Step } from './task.ts';

export const logStart: Step = {
  name: 'start',
  when: 'ok',
  async run(task) {
    const { executor } = task.world;
    const start = await put(task, {
      kind: 'start',
      v: 1,
      plan: link(task.plan.cid),
      arm: task.arm,
      attempt: task.attempt,
      study: link(task.study.cid),
      token: task.token,
      executor: executor.name,
      isolation: { network: executor.name === 'none' ? 'loopback' : 'none', limits: limitsOf(executor.name) },
    });
    // If we die here the start has no receipt: at start-up it becomes `lost`. Nothing has run.
    return { start };
  },
};

/** Which limits the sandbox enforces, in the words of the receipt. */
function limitsOf(executor: string): string[] {
  return executor === 'docker' ? ['cpus', 'memory', 'pids', 'time'] : ['time'];
}

export const checkpoint: Step = {
  name: 'checkpoint',
  when: 'ok',
  voids: 'aborted',
  async run({ store }, { start }) {
    const leaf = start === undefined ? null : await store.leafOf(start);
    if (leaf === null) fail('E_INTERNAL', { where: 'start', wanted: 'a leaf', found: 'none' });
    await store.logs.checkpoint(leaf.log, leaf.index + 1);
    return {};
  },
};
