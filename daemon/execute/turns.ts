/**
 * The agent's turns: the prompt and each follow-up, one process each over the same workspace and home.
 * Promises: how the run ended is decided here from the sandbox's and the meter's own findings, before anything that the
 * agent says of itself.
 */

import { type Cid, digestOf, evidence } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Finished, Sandbox } from '../executors/executor.ts';
import { oursIn } from './answers.ts';
import { endingFor, voided } from './ending.ts';
import { injectWithPrompt } from './inject.ts';
import { sandboxOf } from './sandbox.ts';
import { surfaceOf } from './surface.ts';
import type { Ending, State, Step, Task } from './task.ts';

/** Kept of each of the agent's streams, in bytes. */
const STREAM_BYTES = 16 << 20;

/** How often a request to stop is looked for while the agent runs, in milliseconds. */
const ABORT_MS = 250;

export const turns: Step = {
  name: 'turns',
  when: 'ok',
  voids: 'sandbox_lost',
  async run(task, state) {
    const prompts = [task.challenge.value.prompt, ...task.challenge.value.followUps];
    let now: State = state;
    for (const [i, prompt] of prompts.entries()) {
      now = { ...now, ...(await guardedTurn(task, now, i + 1, prompt['/'])) };
      if (now.ending !== undefined && now.ending.status !== 'completed') break;
    }
    return {
      natives: now.natives,
      ...(now.surface === undefined ? {} : { surface: now.surface }),
      ...(now.ending === undefined ? {} : { ending: now.ending }),
    };
  },
};

/** A fault in a later turn takes nothing away that an earlier one left. */
async function guardedTurn(task: Task, state: State, index: number, prompt: Cid): Promise<Partial<State>> {
  try {
    return await oneTurn(task, state, index, Buffer.from(await task.store.get(prompt)).toString('utf8'));
  } catch (error) {
    return { ending: endingFor(turns, error) };
  }
}

async function oneTurn(task: Task, state: State, index: number, prompt: string): Promise<Partial<State>> {
  const sandbox = sandboxOf(state);
  if (state.books !== undefined) state.books.turn = index;
  const injections = await injectWithPrompt(task, state, index, prompt);
  const turn = {
    index,
    prompt,
    injections,
    system: Buffer.from(await task.store.get(task.agent.value.template['/'])).toString('utf8'),
    model: task.agent.value.model,
    parameters: task.agent.value.parameters,
    tools: [...task.agent.value.tools, ...task.condition.value.tools],
    limits: task.agent.value.limits,
  };
  const launch = task.adapter.launch(turn, placeOf(state));
  await sandbox.writeHome(launch.files);
  const ids = injections.flatMap(({ memories }) => memories);
  const surface = state.surface ?? (await surfaceOf(task, state, launch, ids));
  const ended = await untilAborted(task, sandbox, () =>
    sandbox.run({
      argv: launch.argv,
      env: launch.env,
      timeoutSeconds: task.challenge.value.agentTimeoutSeconds,
      maxOutputBytes: STREAM_BYTES,
      relaySocket: state.socket ?? fail('E_INTERNAL', { where: 'turns', wanted: 'an open meter' }),
    }),
  );
  const natives = [...state.natives, ...(await streams(task, index, ended))];
  return { surface, natives, ending: await endingOf(task, state, ended) };
}

/** Stops the sandbox as soon as the daemon is asked to stop: an agent may run for an hour. */
async function untilAborted<T>(task: Task, sandbox: Sandbox, run: () => Promise<T>): Promise<T> {
  const looking = setInterval(() => {
    // What goes wrong with stopping, the run itself tells.
    if (task.world.aborted() !== undefined) sandbox.stop().catch(() => {});
  }, ABORT_MS);
  try {
    return await run();
  } finally {
    clearInterval(looking);
  }
}

function placeOf(state: State) {
  const { paths, relayUrl, environment } = sandboxOf(state);
  const programs = paths.readOnly.agent ?? fail('E_INTERNAL', { where: 'turns', wanted: 'the agent folder' });
  const path = environment.PATH ?? '/usr/bin:/bin';
  return { workspace: paths.workspace, home: paths.home, programs, node: 'node', path, modelUrl: relayUrl };
}

async function streams(task: Task, index: number, { stdout, stderr }: Finished) {
  const kept = async (name: string, bytes: Uint8Array) => ({
    name: `${name}-${index}`,
    bytes: evidence(digestOf(await task.store.put(bytes))),
  });
  return [await kept('stdout', stdout), await kept('stderr', stderr)];
}

/** Our own findings first (they void), then the sandbox's, then the meter's, then the agent's exit. */
async function endingOf(task: Task, state: State, ended: Finished): Promise<Ending> {
  const meter = state.meter?.state();
  const abort = task.world.aborted();
  if (abort !== undefined) return voided(turns, 'aborted', 'E_EXECUTOR', abort);
  if (meter?.fault !== undefined) {
    const status = meter.fault.code === 'E_PROVISION' ? 'provision_failed' : 'aborted';
    return voided(turns, status, meter.fault.code, meter.fault.message);
  }
  if (meter?.refusedBy === 'stage' || meter?.refusedBy === 'total') {
    return voided(turns, 'capped', 'E_BUDGET', `the ${meter.refusedBy} cap refused a request`);
  }
  if (ended.stopped) return voided(turns, 'aborted', 'E_EXECUTOR', 'the run was stopped');
  if (ended.timedOut) return { status: 'timeout' };
  if (ended.oom) return { status: 'agent_failed', stopReason: 'oom' };
  if (ended.pidsHit && ended.exit !== 0) return { status: 'agent_failed', stopReason: 'pids' };
  if (meter?.refusedBy === 'run') return { status: 'agent_failed', stopReason: 'cost_limit' };
  const own = task.adapter.ending({ code: ended.exit });
  const gaveUp = own.status === 'agent_failed' && own.stopReason === 'exit';
  const unanswered = gaveUp ? await unansweredBy(task, state) : undefined;
  return unanswered === undefined ? own : voided(turns, 'aborted', 'E_METER', unanswered);
}

/** What the model's side failed at last; an agent that gave up over it did not fail by itself. */
async function unansweredBy({ store }: Task, { books }: State): Promise<string | undefined> {
  if (books?.last === undefined) return undefined;
  const { status, complete, response } = books.last;
  const body = status >= 400 && complete ? await store.get(response) : new Uint8Array();
  return oursIn({ status, complete, body });
}
