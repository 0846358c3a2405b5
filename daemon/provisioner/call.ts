/**
 * Runs the provisioner once: no shell, one line in, bytes out, within time and size.
 * Promises: bounded memory; nothing cut is ever handed on; when a call is refused its whole process group is gone.
 * Does not promise: to end what a successful call left running; a product may start its server in `restore`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { type RefusalRule, refuseProvision, type Said } from './refusal.ts';

export interface Call {
  /** Program and arguments; the verb comes after them. */
  readonly argv: readonly string[];
  readonly verb: string;
  /** The text for stdin. */
  readonly input: string;
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** Most bytes of stdout. */
  readonly maxBytes: number;
}

/** Bytes of stderr that are kept. */
export const STDERR_LIMIT = 64 * 1024;
/** Bytes of stdout that a refusal carries. */
const SHOWN = 4096;
/** Milliseconds that stdout may stay open after the end of the process. */
const DRAIN = 2000;

/** The bytes of stdout, whole. Throws E_PROVISION (spawn, exit, timeout, output-limit, stdout-open). */
export async function callProvisioner(call: Call): Promise<Said> {
  const child = start(call);
  const out = keep(child.stdout as Readable, call.maxBytes);
  const err = keep(child.stderr as Readable, STDERR_LIMIT);
  // A product that never reads its input breaks the pipe: that alone is no failure.
  child.stdin?.on('error', () => {});
  child.stdin?.end(call.input);
  const end = await ended(child, out, call.timeoutSeconds);
  const said = { stdout: out.bytes().subarray(0, SHOWN), stderr: err.text() };
  if (end.rule === undefined) return { stdout: out.bytes(), stderr: err.text() };
  endGroup(child);
  await end.gone;
  child.stdout?.destroy();
  child.stderr?.destroy();
  return refuseProvision(call.verb, end.rule, end.found, said);
}

function start({ argv, verb, cwd, env }: Call): ChildProcess {
  const [program = '', ...before] = argv;
  return spawn(program, [...before, verb], { cwd, env, detached: true, shell: false, stdio: 'pipe' });
}

interface End {
  readonly rule?: RefusalRule;
  readonly found: string;
  /** Resolves once the process itself is gone. */
  readonly gone: Promise<unknown>;
}

/** The first thing that decides the call. */
function ended(child: ChildProcess, out: Kept, timeoutSeconds: number): Promise<End> {
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  return new Promise((resolve) => {
    const timers: NodeJS.Timeout[] = [];
    const decide = (found: string, rule?: RefusalRule) => {
      for (const timer of timers) clearTimeout(timer);
      resolve({ found, gone, ...(rule === undefined ? {} : { rule }) });
    };
    timers.push(setTimeout(() => decide(`none after ${timeoutSeconds} s`, 'timeout'), timeoutSeconds * 1000));
    out.onOver((limit) => decide(`more than ${limit} bytes`, 'output-limit'));
    child.once('error', (cause) => decide(cause.message, 'spawn'));
    child.once('exit', (code, signal) => {
      timers.push(setTimeout(() => decide('still open', 'stdout-open'), DRAIN));
      out.onEnd(() => (code === 0 ? decide('exit 0') : decide(`exit ${code ?? signal}`, 'exit')));
    });
  });
}

/** `detached` made the child the leader of a group with its own number. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No member of the group is left.
  }
}

interface Kept {
  bytes(): Buffer;
  text(): string;
  onOver(tell: (limit: number) => void): void;
  onEnd(tell: () => void): void;
}

/** Reads a stream to its end and keeps its first `limit` bytes. */
function keep(stream: Readable, limit: number): Kept {
  const parts: Buffer[] = [];
  let size = 0;
  let over: (limit: number) => void = () => {};
  stream.on('error', () => {});
  stream.on('data', (part: Buffer) => {
    if (size < limit) parts.push(part.subarray(0, limit - size));
    size += part.length;
    if (size > limit) over(limit);
  });
  const bytes = () => Buffer.concat(parts);
  return {
    bytes,
    text: () => bytes().toString('utf8') + (size > limit ? `\n[cut: ${size} bytes in all]` : ''),
    onOver(tell) {
      over = tell;
      if (size > limit) tell(limit);
    },
    onEnd(tell) {
      if (stream.closed || stream.readableEnded) tell();
      else stream.once('close', tell);
    },
  };
}
