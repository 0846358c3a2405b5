/**
 * One program on this host, for the executors `none` and `bwrap`: started behind a gate, watched, ended whole.
 * Promises: the program begins only after it is recorded and watched; when this process dies, even by SIGKILL, the
 * program's group is killed; when `done` resolves, no member lives.
 * Does not promise: hard limits. Memory and processes are sampled; between two samples a program can exceed them.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { fail } from '../../store/format/errors.ts';
import { type Capture, capture, secondsSince } from './capture.ts';
import type { Command, Finished, Limits } from './executor.ts';
import { anonymousBytes, kill, type Process, type ProcessId, readProcess } from './procs.ts';

/** Waits for our word on descriptor 3; the end of it (we died) ends the gate before the program began. */
const GATE = 'read -r go <&3 || exit 125; exec 3<&-; exec "$@"';
/** One line lets it go; the end of its input without a line means that we died. */
const WATCHDOG = 'read -r done && exit 0; kill -s KILL -- "-$1"';
/** Says `up` on descriptor 4: from here on, whatever happens is the program's doing. */
const BEGIN = 'echo up >&4; exec 4>&- 5>&-; cd -- "$1" || exit 126; shift; exec /usr/bin/env -i "$@"';
const PATH = '/usr/local/bin:/usr/bin:/bin';
const SAMPLE_MS = 200;
const LONGEST_MS = 2 ** 31 - 1;
const KILL_MS = 10_000;
const DRAIN_MS = 2_000;

/** argv of a program with exactly this environment and folder, for `launch`. No PATH look-up before the program's own. */
export function begin(argv: readonly string[], cwd: string, env: Readonly<Record<string, string>>): string[] {
  if (argv.length === 0 || argv[0]?.includes('=')) {
    fail('E_EXECUTOR', { wanted: 'a command without "=" in its name', found: JSON.stringify(argv[0]) });
  }
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return ['/bin/sh', '-c', BEGIN, 'sh', cwd, ...assignments, ...argv];
}

export interface Launch {
  /** Ends in what `begin` gave. */
  readonly argv: readonly string[];
  readonly command: Command;
  readonly limits: Limits;
  /** Where named pipes and the input file may stand for a moment; not visible inside where the sandbox can hide it. */
  readonly folder: string;
  /** Called before the program may begin: what is recorded here is what `reap` can kill. */
  record(leader: ProcessId): void;
  /** Everything alive that belongs to the run. `info` is what came on descriptor 5 so far. */
  members(leader: ProcessId, info: string): Process[];
}

export interface Running {
  readonly done: Promise<Finished>;
  stop(): void;
}

type Ended = 'timeout' | 'stopped' | 'oom' | 'pids';

/** Starts it. Throws E_EXECUTOR where it cannot be started; `done` throws it where the sandbox failed. */
export async function launch(spec: Launch): Promise<Running> {
  const since = process.hrtime.bigint();
  const streams = await openStreams(spec);
  const child = await startGate(spec, streams);
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const pid = child.pid ?? 0;
  const leader: ProcessId = { pid, start: readProcess(pid)?.start ?? 0 };
  spec.record(leader);
  const watchdog = watch(pid);
  const [gate, marker, info] = child.stdio.slice(3) as unknown as [Writable, Readable, Readable];
  const texts = { marker: collect(marker), info: collect(info) };
  const members = () => spec.members(leader, texts.info.text());
  let ended: Ended | undefined;
  const end = (why: Ended) => {
    ended ??= why;
    kill(-pid);
    for (const member of members()) kill(member.pid);
  };
  gate.on('error', () => undefined);
  // Recorded and watched: from here on our death is the program's too.
  gate.end('go\n');
  const stopWatching = guard(spec, members, end);
  const finish = async (): Promise<Finished> => {
    const { code, signal } = await exited;
    stopWatching();
    await killAll(pid, members);
    watchdog.release();
    await Promise.race([
      Promise.all([streams.stdout.closed, streams.stderr.closed, texts.marker.closed]),
      sleep(DRAIN_MS, undefined, { ref: false }),
    ]);
    streams.destroy();
    const out = { stdout: streams.stdout.capture, stderr: streams.stderr.capture };
    if (!texts.marker.text().startsWith('up') && ended !== 'stopped') notBegun(out.stderr, code, signal);
    return finished({ ...out, code, signal, ended, since });
  };
  return { done: finish(), stop: () => end('stopped') };
}

/** Throws E_EXECUTOR where the system refuses: no process left, or a command line that is too long or holds a NUL. */
async function startGate(spec: Launch, streams: Streams): Promise<ChildProcess> {
  const { stdin, stdout, stderr } = streams;
  try {
    const child = spawn('/bin/sh', ['-c', GATE, 'sh', ...spec.argv], {
      cwd: '/',
      detached: true,
      env: { PATH },
      stdio: [stdin, stdout.writer, stderr.writer, 'pipe', 'pipe', 'pipe'],
    });
    await once(child, 'spawn');
    return child;
  } catch (cause) {
    streams.destroy();
    return fail('E_EXECUTOR', { wanted: 'a started process', found: String(cause), cause });
  } finally {
    for (const fd of [stdin, stdout.writer, stderr.writer]) closeSync(fd);
  }
}

/** The deadline and the sampled limits; returns the way to call them off. */
function guard(spec: Launch, members: () => Process[], end: (why: Ended) => void): () => void {
  const { timeoutSeconds } = spec.command;
  const deadline = setTimeout(() => end('timeout'), Math.min(timeoutSeconds * 1000, LONGEST_MS));
  const sampler = setInterval(() => {
    const over = exceeded(members(), spec.limits);
    if (over !== undefined) end(over);
  }, SAMPLE_MS);
  return () => {
    clearTimeout(deadline);
    clearInterval(sampler);
  };
}

function exceeded(processes: readonly Process[], limits: Limits): Ended | undefined {
  const tasks = processes.reduce((sum, process) => sum + process.threads, 0);
  if (tasks > limits.pids) return 'pids';
  const bytes = processes.reduce((sum, process) => sum + anonymousBytes(process.pid), 0);
  return bytes > limits.memoryMb * 1024 * 1024 ? 'oom' : undefined;
}

/** Kills until nobody is left. Throws E_EXECUTOR for a process that outlives SIGKILL. */
async function killAll(group: number, members: () => Process[]): Promise<void> {
  const until = Date.now() + KILL_MS;
  kill(-group);
  for (let left = members(); left.length > 0; left = members()) {
    if (Date.now() > until)
      fail('E_EXECUTOR', { wanted: 'no process left', found: left.map((p) => p.pid).join() });
    for (const member of left) kill(member.pid);
    await sleep(10);
  }
}

function watch(group: number): { release(): void } {
  const watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'sh', String(group)], {
    cwd: '/',
    detached: true,
    env: { PATH },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.on('error', () => kill(-group));
  watchdog.stdin.on('error', () => undefined);
  return { release: () => void watchdog.stdin.end('done\n') };
}

interface Pipe {
  readonly writer: number;
  readonly socket: Socket;
  readonly capture: Capture;
  readonly closed: Promise<void>;
}

interface Streams {
  readonly stdin: number;
  readonly stdout: Pipe;
  readonly stderr: Pipe;
  destroy(): void;
}

/** Named pipes instead of Node's socket pairs: a program may open /dev/stdout, which a socket refuses. */
async function openStreams({ folder, command }: Launch): Promise<Streams> {
  const [input, output, errors] = ['0', '1', '2'].map((name) => join(folder, `fd${name}`)) as [
    string,
    string,
    string,
  ];
  for (const path of [input, output, errors]) rmSync(path, { force: true });
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', output, errors]);
    writeFileSync(input, command.stdin ?? new Uint8Array(), { mode: 0o600 });
    const stdin = openSync(input, 'r');
    const stdout = openPipe(output, command.maxOutputBytes);
    const stderr = openPipe(errors, command.maxOutputBytes);
    const destroy = () => {
      stdout.socket.destroy();
      stderr.socket.destroy();
    };
    return { stdin, stdout, stderr, destroy };
  } catch (cause) {
    return fail('E_EXECUTOR', { where: folder, wanted: 'pipes to the program', cause });
  } finally {
    for (const path of [input, output, errors]) rmSync(path, { force: true });
  }
}

function openPipe(path: string, cap: number): Pipe {
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  const kept = capture(cap);
  const socket = new Socket({ fd: reader, readable: true, writable: false });
  socket.on('data', (chunk: Uint8Array) => kept.add(chunk));
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { writer, socket, capture: kept, closed };
}

function collect(stream: Readable) {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    text += chunk;
  });
  stream.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
  return { text: () => text, closed };
}

function notBegun(stderr: Capture, code: number | null, signal: string | null): never {
  const said = Buffer.from(stderr.bytes()).toString('utf8').slice(0, 500).trim();
  return fail('E_EXECUTOR', {
    wanted: 'a sandbox in which the program can begin',
    found: `${signal ?? `exit ${code}`}: ${said}`,
  });
}

function finished(run: {
  stdout: Capture;
  stderr: Capture;
  code: number | null;
  signal: string | null;
  ended: Ended | undefined;
  since: bigint;
}): Finished {
  const { stdout, stderr, ended } = run;
  return {
    exit: ended === undefined ? run.code : null,
    signal: ended === undefined ? run.signal : null,
    timedOut: ended === 'timeout',
    oom: ended === 'oom',
    pidsHit: ended === 'pids',
    stopped: ended === 'stopped',
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    truncated: stdout.truncated() || stderr.truncated(),
    durationSeconds: secondsSince(run.since),
  };
}
