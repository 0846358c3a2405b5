/**
 * One run at a time in a sandbox, and a way to end it from outside.
 * Promises: after `stop` the run has ended and its caller has its answer. Does not promise: a queue; a second run at
 * the same time is refused.
 */
import { fail } from '../../store/format/errors.ts';
import type { Finished } from './executor.ts';
import type { Running } from './launch.ts';

export interface Seat {
  /** Starts a run and waits for its end; `release` follows, however it ended. Throws E_EXECUTOR when taken. */
  take(start: () => Promise<Running>, release: () => Promise<void> | void): Promise<Finished>;
  /** Ends the run, if there is one, and waits for it. Throws what made the run fail. */
  stop(): Promise<void>;
}

export function openSeat(): Seat {
  let turn: Promise<Finished> | undefined;
  let running: Running | undefined;
  let stopping = false;

  async function hold(start: () => Promise<Running>, release: () => Promise<void> | void) {
    try {
      running = await start();
      if (stopping) running.stop();
      return await running.done;
    } finally {
      await release();
      running = undefined;
      turn = undefined;
    }
  }

  return {
    async take(start, release) {
      if (turn !== undefined) fail('E_EXECUTOR', { wanted: 'one run at a time', found: 'a second one' });
      turn = hold(start, release);
      return turn;
    },
    async stop() {
      if (turn === undefined) return;
      stopping = true;
      try {
        running?.stop();
        await turn;
      } finally {
        stopping = false;
      }
    },
  };
}
