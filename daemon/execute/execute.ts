/**
 * The execution of one start: a list of steps.
 * Promises: exactly one receipt for every start that was logged, unless we die; what a step opened is closed in reverse
 * order whatever happened; a fault of ours becomes a voiding status and never an outcome.
 * If we die anywhere, the start has no receipt: at start-up its sandbox is removed and `lost` is written.
 */

import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { audit } from './audit.ts';
import { endingFor, hasOutcome, voided } from './ending.ts';
import { checkpoint, logStart } from './log-start.ts';
import { destroy, probe, probeAfter, restore } from './memory.ts';
import { meter } from './meter.ts';
import { accounts, hostFacts, natives } from './natives.ts';
import { prebuild } from './prebuild.ts';
import { receipt } from './receipt.ts';
import { afterSnapshot, beforeSnapshot, openSandbox } from './sandbox.ts';
import { EMPTY, type Ending, type State, type Step, type Task } from './task.ts';
import { turns } from './turns.ts';
import { verify } from './verify.ts';

export const STEPS: readonly Step[] = [
  logStart,
  checkpoint,
  prebuild,
  restore,
  probe,
  openSandbox,
  beforeSnapshot,
  meter,
  turns,
  afterSnapshot,
  natives,
  accounts,
  probeAfter,
  destroy,
  audit,
  verify,
  hostFacts,
  receipt,
];

export interface Executed {
  readonly receipt: Cid;
  readonly ending: Ending;
}

/** Called after each step that ran: progress, and the place where a test kills the process. */
export type Watch = (step: string, state: State) => void;

/**
 * Runs one start to its receipt. Throws where no start could be logged or no receipt written, and where something that
 * a step opened could not be closed: then the receipt stands, but this process must not go on beside what is left.
 */
export async function execute(task: Task, watch: Watch = () => {}, steps = STEPS): Promise<Executed> {
  const opened: Step[] = [];
  let state = EMPTY;
  const run = async () => {
    for (const step of steps) {
      if (!applies(step, state)) continue;
      opened.push(step);
      state = await timed(step, task, state);
      watch(step.name, state);
    }
  };
  const [ran] = await Promise.allSettled([run()]);
  const left = await closeAll(opened, task, state);
  if (ran.status === 'rejected') throw ran.reason;
  if (left !== undefined) throw left;
  if (state.receipt === undefined || state.ending === undefined) fail('E_INTERNAL', { wanted: 'a receipt' });
  return { receipt: state.receipt, ending: state.ending };
}

/** Closes in reverse order, every one; gives the first fault. */
async function closeAll(opened: readonly Step[], task: Task, state: State): Promise<unknown> {
  let first: unknown;
  for (const step of [...opened].reverse()) {
    const [closed] = await Promise.allSettled([step.close?.(task, state)]);
    if (closed.status === 'rejected') first ??= closed.reason;
  }
  return first;
}

function applies(step: Step, { ending }: State): boolean {
  if (step.when === 'always') return true;
  return step.when === 'ok' ? ending === undefined : hasOutcome(ending);
}

async function timed(step: Step, task: Task, state: State): Promise<State> {
  const from = task.world.seconds();
  const patch = await attempt(step, task, state);
  const timings = { ...state.timings, [step.name]: decimal(task.world.seconds() - from) };
  return { ...state, timings, ...patch };
}

async function attempt(step: Step, task: Task, state: State): Promise<Partial<State>> {
  const abort = step.when === 'ok' && step.name !== 'start' ? task.world.aborted() : undefined;
  if (abort !== undefined) return { ending: voided(step, 'aborted', 'E_EXECUTOR', abort) };
  try {
    return await step.run(task, state);
  } catch (error) {
    if (step.voids === undefined) throw error;
    // The first fault decides; a later one of a step that always runs does not hide it.
    if (state.ending !== undefined && !hasOutcome(state.ending)) return {};
    return { ending: endingFor(step, error) };
  }
}

const decimal = (seconds: number): string => Math.max(0, seconds).toFixed(3);
