/**
 * The agent's turns: the prompt and each follow-up, one process each over the same workspace and home.
 * Promises: how the run ended is decided here from the sandbox's and the meter's own findings, before anything that the
 * agent says of itself.
 */

import type { VOID_STATUSES } from '../../rules/contracts/receipt.ts';
import { digestOf, evidence } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Finished } from '../executors/executor.ts';
import { injectWithPrompt } from './inject.ts';
import { accountsOf, rememberProject } from './meter.ts';
import { sandboxOf } from './sandbox.ts';
import { surfaceOf } from './surface.ts';
import type { Ending, State, Step, Task } from './task.ts';

/** Kept of each of the agent's streams, in bytes. */
const STREAM_BYTES = 16 << 20;

export const turns: Step = {
  name: 'turns',
  when: 'ok',
  voids: 'sandbox_lost',
  async run(task, state) {
    if (state.project !== undefined) rememberProject(task, state.project);
    const prompts = [task.challenge.value.prompt, ...task.challenge.value.followUps];
    let now: State = state;
    for (const [i, prompt] of prompts.entries()) {
      const text = Buffer.from(await task.store.get(prompt['/'])).toString('utf8');
      now = { ...now, ...(await oneTurn(task, now, i + 1, text)) };
      if (now.ending !== undefined && now.ending.status !== 'completed') break;
    }
    const books = accountsOf(state);
    return {
      injections: [...now.injections, ...(books?.injections ?? [])],
      natives: now.natives,
      ...(now.surface === undefined ? {} : { surface: now.surface }),
      ...(now.ending === undefined ? {} : { ending: now.ending }),
    };
  },
};

async function oneTurn(task: Task, state: State, index: number, prompt: string): Promise<Partial<State>> {
  const sandbox = sandboxOf(state);
  const injected = await injectWithPrompt(task, state, index, prompt);
  const launch = task.adapter.launch(
    {
      index,
      prompt,
      injections: injected.texts,
      system: Buffer.from(await task.store.get(task.agent.value.template['/'])).toString('utf8'),
      model: task.agent.value.model,
      parameters: task.agent.value.parameters,
      tools: [...task.agent.value.tools, ...task.condition.value.tools],
      limits: task.agent.value.limits,
    },
    placeOf(state),
  );
  await sandbox.writeHome(launch.files);
  const surface =
    state.surface ??
    (await surfaceOf(
      task,
      state,
      launch,
      injected.texts.flatMap(({ memories }) => memories),
    ));
  const ended = await sandbox.run({
    argv: launch.argv,
    env: launch.env,
    timeoutSeconds: task.challenge.value.agentTimeoutSeconds,
    maxOutputBytes: STREAM_BYTES,
    relaySocket: state.socket ?? fail('E_INTERNAL', { where: 'turns', wanted: 'an open meter' }),
  });
  return {
    surface,
    injections: [...state.injections, ...injected.records],
    natives: [...state.natives, ...(await streams(task, index, ended))],
    ending: endingOf(task, state, ended),
  };
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
function endingOf(task: Task, state: State, ended: Finished): Ending {
  const meter = state.meter?.state();
  const abort = task.world.aborted();
  if (abort !== undefined) return ours('aborted', 'E_EXECUTOR', abort);
  if (meter?.fault !== undefined) return ours('aborted', meter.fault.code, meter.fault.message);
  if (meter?.refusedBy === 'stage' || meter?.refusedBy === 'total') {
    return ours('capped', 'E_BUDGET', `the ${meter.refusedBy} cap refused a request`);
  }
  if (ended.stopped) return ours('aborted', 'E_EXECUTOR', 'the run was stopped');
  if (ended.timedOut) return { status: 'timeout' };
  if (ended.oom) return { status: 'agent_failed', stopReason: 'oom' };
  if (ended.pidsHit && ended.exit !== 0) return { status: 'agent_failed', stopReason: 'pids' };
  if (meter?.refusedBy === 'run') return { status: 'agent_failed', stopReason: 'cost_limit' };
  return task.adapter.ending({ code: ended.exit });
}

const ours = (status: (typeof VOID_STATUSES)[number], code: string, detail: string): Ending => ({
  status,
  fault: { step: 'turns', code, detail },
});
