/**
 * One program in one container, from create to remove.
 * Promises: the exit status is read after the end; at the deadline and at `stop` the container is killed; it is removed
 * whatever happened. Does not promise: to tell `exit 143` from a death by SIGTERM, the engine does not.
 */

import { fail } from '../../../store/format/errors.ts';
import { capture, secondsSince } from '../capture.ts';
import type { Command, Finished } from '../executor.ts';
import type { Running } from '../launch.ts';
import type { ContainerSpec, ContainerState, Engine } from './engine.ts';
import { watchLimits } from './evidence.ts';
import { frameReader } from './frames.ts';

const LONGEST_MS = 2 ** 31 - 1;
/** Status of a command that was not found, and of one that cannot be run, when the engine itself had to say so. */
const NOT_STARTED = [126, 127];

/** Creates and starts it. Throws E_EXECUTOR; so does `done`, where the engine failed. */
export async function runContainer(engine: Engine, spec: ContainerSpec, command: Command): Promise<Running> {
  const since = process.hrtime.bigint();
  const began = Date.now() / 1000 - 1;
  const id = await engine.create({ ...spec, stdin: command.stdin !== undefined });
  let ended: 'timeout' | 'stopped' | undefined;
  let started = false;
  let failed: (fault: unknown) => void = () => undefined;
  const notKilled = new Promise<never>((_, reject) => {
    failed = reject;
  });
  // Whoever waits for the end hears of it; until then it is no unhandled rejection.
  notKilled.catch(() => undefined);
  const end = (why: 'timeout' | 'stopped') => {
    ended ??= why;
    if (started) engine.kill(id).catch(failed);
  };
  const finish = async (): Promise<Finished> => {
    let deadline: NodeJS.Timeout | undefined;
    try {
      const output = await attach(engine, id, command);
      const refused = await start(engine, id);
      started = true;
      // The program's time begins here: what the engine took to get here is not the program's.
      deadline = setTimeout(() => end('timeout'), Math.min(command.timeoutSeconds * 1000, LONGEST_MS));
      if (ended !== undefined) await engine.kill(id);
      const seen = await follow(engine, id, Promise.race([output.closed, notKilled]), refused);
      return finished(seen, output, ended, await seen.oom(began), since);
    } finally {
      clearTimeout(deadline);
      await engine.remove(id);
    }
  };
  return { done: finish(), stop: () => end('stopped') };
}

/** Undefined when it runs; else the state of a container whose command the engine could not start. */
async function start(engine: Engine, id: string): Promise<ContainerState | undefined> {
  try {
    await engine.start(id);
    return undefined;
  } catch (fault) {
    const state = await engine.inspect(id);
    if (state !== undefined && !state.running && NOT_STARTED.includes(state.exit)) return state;
    throw fault;
  }
}

interface Seen {
  readonly exit: number;
  readonly pidsHit: boolean;
  oom(since: number): Promise<boolean>;
}

async function follow(
  engine: Engine,
  id: string,
  closed: Promise<void>,
  refused: ContainerState | undefined,
): Promise<Seen> {
  // Nobody may come to wait for it.
  closed.catch(() => undefined);
  if (refused !== undefined) return { exit: refused.exit, pidsHit: false, oom: async () => false };
  const state = await engine.inspect(id);
  const limits = watchLimits(state?.pid ?? 0);
  try {
    await Promise.all([engine.wait(id), closed]);
  } finally {
    limits.end();
  }
  const last = await engine.inspect(id);
  if (last === undefined || last.running) {
    fail('E_EXECUTOR', {
      where: `container ${id}`,
      wanted: 'an ended container',
      found: 'none, or a running one',
    });
  }
  return {
    exit: last.exit,
    pidsHit: limits.pidsHit(),
    // The state speaks of the first process only; the kernel's event of every one.
    oom: async (since) => last.oom || limits.oom() || (await engine.sawOom(id, since)),
  };
}

async function attach(engine: Engine, id: string, command: Command) {
  const stdout = capture(command.maxOutputBytes);
  const stderr = capture(command.maxOutputBytes);
  const stream = await engine.attach(id, command.stdin !== undefined);
  const read = frameReader({ stdout: (bytes) => stdout.add(bytes), stderr: (bytes) => stderr.add(bytes) });
  const closed = new Promise<void>((resolve, reject) => {
    stream.on('data', (chunk: Uint8Array) => {
      try {
        read(chunk);
      } catch (fault) {
        reject(fault);
      }
    });
    // A program that ends without reading its input breaks the pipe; its output was whole before.
    stream.on('error', () => resolve());
    stream.on('end', () => resolve());
    stream.on('close', () => resolve());
  });
  // Whoever waits for it hears of a fault; until then it is no unhandled one.
  closed.catch(() => undefined);
  if (command.stdin !== undefined) stream.end(command.stdin);
  return { stdout, stderr, closed };
}

function finished(
  seen: Seen,
  output: { stdout: ReturnType<typeof capture>; stderr: ReturnType<typeof capture> },
  ended: 'timeout' | 'stopped' | undefined,
  oom: boolean,
  since: bigint,
): Finished {
  return {
    exit: ended === undefined ? seen.exit : null,
    signal: null,
    timedOut: ended === 'timeout',
    oom,
    pidsHit: seen.pidsHit,
    stopped: ended === 'stopped',
    stdout: output.stdout.bytes(),
    stderr: output.stderr.bytes(),
    truncated: output.stdout.truncated() || output.stderr.truncated(),
    durationSeconds: secondsSince(since),
  };
}
