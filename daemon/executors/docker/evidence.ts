/**
 * What only a look at a running container shows: whether it met its limit of processes.
 * Promises: a yes is the kernel's or the engine's own count. Does not promise: to see a touch between two looks.
 */
import { readFileSync } from 'node:fs';

const LOOK_MS = 100;

/** Looks until `end` is called; `hit` tells what was seen. `pid` is the container's first process on this host. */
export function watchProcesses(pid: number): { hit(): boolean; end(): void } {
  const path = eventsFile(pid);
  let seen = false;
  const look = () => {
    seen ||= path !== undefined && /^max [1-9]/m.test(read(path) ?? '');
  };
  look();
  const timer = setInterval(look, LOOK_MS);
  return {
    hit: () => seen,
    end() {
      look();
      clearInterval(timer);
    },
  };
}

/** `pids.events` of the process's control group (cgroups(7)): version 1 has a hierarchy of its own for it. */
function eventsFile(pid: number): string | undefined {
  const groups = read(`/proc/${pid}/cgroup`) ?? '';
  const own = /^\d+:(?:[^:]*,)?pids(?:,[^:]*)?:(.*)$/m.exec(groups)?.[1];
  if (own !== undefined) return `/sys/fs/cgroup/pids${own}/pids.events`;
  const unified = /^0::(.*)$/m.exec(groups)?.[1];
  return unified === undefined ? undefined : `/sys/fs/cgroup${unified}/pids.events`;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
