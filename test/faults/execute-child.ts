/**
 * A daemon that dies: `node execute-child.js ROOT EXECUTOR UNTIL`. It starts up as every daemon does, runs what is
 * pending, and dies by SIGKILL right after its first step of that name; `reserved`: as soon as a reservation stands
 * without a booking; `end`: it does not die, and publishes.
 */
import { existsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { argv, pid } from 'node:process';
import { admitEligible } from '../../daemon/decide/admit.ts';
import { closeFamily, publish } from '../../daemon/decide/close.ts';
import type { ExecutorName } from '../../daemon/executors/executor.ts';
import { reap } from '../../daemon/reap.ts';
import { writeRelease } from '../../daemon/release/write.ts';
import { runPending } from '../../daemon/run.ts';
import { openLab } from '../daemon/kit.ts';
import { KILL_CASES, unbooked } from './execute-scenario.ts';

const [root = '', executor = '', name = '', until = ''] = argv.slice(2);
const die = () => process.kill(pid, 'SIGKILL');
const options = { cases: KILL_CASES, executor: executor as ExecutorName };
const lab = await openLab(root, options);
const { store, engine, trigger } = lab;
const family = lab.study(name);
const { lost, booked, sandboxes } = await reap(store, [engine.executor], engine.owner);
if (until === 'reserved') {
  setInterval(async () => {
    if ((await unbooked(store)).length > 0) die();
  }, 50);
}
const ran = await runPending(store, engine, trigger, {
  family,
  watch: (step) => {
    if (step === until) die();
  },
});
if (until === 'end' && !existsSync(join(root, 'release'))) {
  const by = { who: 'a test', why: 'every plan is done' };
  await admitEligible(store, family, { ...by, outcomesVisible: false });
  const release = await publish(store, trigger, await closeFamily(store, family, by));
  await writeRelease(store, release, join(root, 'release'));
}
await lab.close();
writeSync(1, `${JSON.stringify({ ran, lost, booked, sandboxes })}\n`);
