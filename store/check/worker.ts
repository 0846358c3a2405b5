/**
 * A thread that looks at segments and big blocks for check: hands.ts sends a task, this answers with what was found.
 * Promises: an answer to every task; where looking failed, that it failed, and the asker looks for itself.
 * Does not promise: any order between tasks of different threads.
 */
import { parentPort } from 'node:worker_threads';
import { digestFile } from '../blocks/big.ts';
import { realFiles } from '../files.ts';
import { layoutOf } from '../keys.ts';
import type { Answer, Task } from './hands.ts';
import { lookAtSegment } from './look.ts';

async function found(task: Task): Promise<unknown> {
  const layout = layoutOf(task.root);
  if ('segment' in task) return lookAtSegment(realFiles, layout, task.segment);
  return digestFile(realFiles, layout.bigBlock(task.big));
}

parentPort?.on('message', async (task: Task) => {
  const answer: Answer = await found(task).then(
    (look) => ({ look }),
    () => ({ failed: true }),
  );
  parentPort?.postMessage(answer);
});
