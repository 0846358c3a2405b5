/**
 * Processes as the kernel lists them (proc(5)): who belongs to a sandbox, and whether somebody is still alive.
 * Promises: a process is named by pid, start time and boot, so a reused pid is never taken for an old one.
 * Does not promise: anything where there is no /proc (then lists are empty), or what ends while it is being read.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot. */
  readonly start: number;
  readonly state: string;
  readonly threads: number;
}

/** A process that cannot be confused with another one of this boot. */
export interface ProcessId {
  readonly pid: number;
  readonly start: number;
}

/** Every process but zombies, which hold nothing. O(processes). */
export function listProcesses(): Process[] {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const process = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined;
    return process === undefined || process.state === 'Z' || process.state === 'X' ? [] : [process];
  });
}

/** One process, or undefined where there is none (any more). */
export function readProcess(pid: number): Process | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The second field is the command in parentheses and may hold anything: the fields begin after the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (index: number) => Number(fields[index]);
  return {
    pid,
    state: fields[0] ?? 'X',
    parent: field(1),
    group: field(2),
    session: field(3),
    start: field(19),
    threads: field(17),
  };
}

/** Whether this very process still runs. */
export function isAlive(id: ProcessId): boolean {
  const now = readProcess(id.pid);
  return now !== undefined && now.start === id.start && now.state !== 'Z' && now.state !== 'X';
}

/** Changes with every boot; empty where the kernel does not say. */
export function bootId(): string {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

/** `pid:[inode]`, or undefined where it cannot be seen. */
export function pidNamespace(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}

/** Whether the process was started, however indirectly, with the home or temp of the sandbox in this folder. */
export function startedIn(pid: number, path: string): boolean {
  const folder = Buffer.from(path, 'utf8').toString('latin1');
  const environment = readText(`/proc/${pid}/environ`)?.split('\0') ?? [];
  return environment.includes(`HOME=${folder}/home`) || environment.includes(`TMPDIR=${folder}/tmp`);
}

/** Whether the process sees the sandbox of this folder as a mount of its own: it lives inside, whatever it is called there. */
export function mounted(pid: number, path: string): boolean {
  // The source of a mount is told from the root of its own file system: its last two names say which it is.
  const [owner, sandbox] = path.split('/').slice(-2);
  const source = Buffer.from(`/${owner}/${sandbox}/workspace `, 'utf8').toString('latin1');
  return readText(`/proc/${pid}/mountinfo`)?.includes(source) ?? false;
}

/** Anonymous memory of a process in bytes: what it alone costs (shared text is not counted once per process). */
export function anonymousBytes(pid: number): number {
  const status = readText(`/proc/${pid}/status`);
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status ?? '')?.[1] ?? 0) * 1024;
}

/** SIGKILL; a process that is gone already is no fault. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // ESRCH: it is gone, which is what was wanted. EPERM shows when the caller looks again.
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
