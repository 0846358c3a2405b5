/**
 * The workspace that every arm of an attempt starts from: the corpus after the challenge's prebuild command.
 * Promises: the command runs once per attempt, offline and without a key; a further arm takes the tree from the first
 * receipt of its attempt that has one.
 */

import { attemptsOf } from '../../rules/runs.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { parseSnapshot } from '../../store/format/tree.ts';
import { sandboxSpec } from './sandbox.ts';
import type { Step, Task } from './task.ts';

export const prebuild: Step = {
  name: 'prebuild',
  when: 'ok',
  voids: 'sandbox_lost',
  async run(task) {
    const earlier = await earlierPrebuild(task);
    if (earlier !== undefined) return { prebuild: earlier };
    const argv = task.challenge.value.environment.prebuildArgv;
    const corpus = task.corpus.value.tree['/'];
    return { prebuild: argv.length === 0 ? corpus : await build(task, corpus, argv) };
  },
};

async function earlierPrebuild(task: Task): Promise<Cid | undefined> {
  const begun = (await attemptsOf(task.plan.cid, task.view)).get(task.attempt) ?? [];
  for (const { receipt } of begun)
    if (receipt?.value.prebuild !== undefined) return receipt.value.prebuild['/'];
  return undefined;
}

async function build(task: Task, corpus: Cid, argv: readonly string[]): Promise<Cid> {
  const sandbox = await task.world.executor.open(sandboxSpec(task, corpus));
  try {
    const timeoutSeconds = task.challenge.value.agentTimeoutSeconds;
    const ended = await sandbox.run({
      argv,
      env: sandbox.environment,
      timeoutSeconds,
      maxOutputBytes: 1 << 20,
    });
    if (ended.exit !== 0) {
      fail('E_EXECUTOR', {
        where: 'prebuild',
        wanted: 'exit 0',
        found: ended.timedOut ? 'timeout' : String(ended.exit),
      });
    }
    const { snapshot } = await sandbox.snapshot((bytes, codec) => task.store.put(bytes, codec));
    return parseSnapshot(await task.store.get(snapshot)).tree['/'];
  } finally {
    await sandbox.close();
  }
}
