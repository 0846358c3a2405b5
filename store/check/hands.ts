/**
 * Who does the hashing of a check: this thread, or several beside it.
 * Promises: the same answers either way; as many tasks at once as there are threads; `close` ends them.
 * Does not promise: threads for a file system that a test made up: only the real one reaches them.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { digestFile } from '../blocks/big.ts';
import { type Files, realFiles } from '../files.ts';
import type { Digest } from '../format/cid.ts';
import { type Layout, MEBIBYTE } from '../keys.ts';
import { lookAtSegment, type SegmentLook } from './look.ts';

export type Task = { readonly root: string } & ({ readonly segment: number } | { readonly big: Digest });
export type Answer = { readonly look: unknown } | { readonly failed: true };

export interface BigLook {
  readonly size: number;
  readonly digest: Digest;
}

export interface Hands {
  segment(number: number): Promise<SegmentLook>;
  big(digest: Digest): Promise<BigLook>;
  close(): Promise<void>;
}

/** Below this many bytes starting threads costs more than they save. */
const WORTH_IT = 64 * MEBIBYTE;

/** How many threads for so many bytes, on this machine: two are enough to be bound by the disk. */
export const threadsFor = (bytes: number): number =>
  bytes < WORTH_IT ? 0 : Math.min(2, availableParallelism());

/** No threads, or another file system than the real one: all is done here. */
export function openHands(files: Files, layout: Layout, threads: number): Hands {
  const own: Hands = {
    segment: async (number) => lookAtSegment(files, layout, number),
    big: (digest) => digestFile(files, layout.bigBlock(digest)),
    close: async () => undefined,
  };
  return threads === 0 || files !== realFiles ? own : threaded(own, layout.root, threads);
}

interface Waiting {
  readonly task: Task;
  done(answer: Answer): void;
}

function threaded(own: Hands, root: string, threads: number): Hands {
  const queue: Waiting[] = [];
  const idle: Worker[] = [];
  const next = () => {
    const worker = queue.length === 0 ? undefined : idle.pop();
    const waiting = worker === undefined ? undefined : queue.shift();
    if (worker === undefined || waiting === undefined) return;
    worker.once('message', (answer: Answer) => {
      idle.push(worker);
      waiting.done(answer);
      next();
    });
    worker.postMessage(waiting.task);
  };
  const all = Array.from({ length: threads }, () => new Worker(new URL('./worker.js', import.meta.url)));
  idle.push(...all);
  const ask = async <T>(task: Task, instead: () => Promise<T>): Promise<T> => {
    const answer = await new Promise<Answer>((done) => {
      queue.push({ task, done });
      next();
    });
    // What stood in the way there is thrown here, in its own words.
    return 'look' in answer ? (answer.look as T) : instead();
  };
  return {
    segment: (segment) => ask({ root, segment }, () => own.segment(segment)),
    big: (big) => ask({ root, big }, () => own.big(big)),
    close: async () => void (await Promise.all(all.map((worker) => worker.terminate()))),
  };
}
