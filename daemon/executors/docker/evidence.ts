/**
 * What only a look at a running container shows: whether it met its limit of processes, or of memory in any process.
 * Promises: a yes is the kernel's own count. Does not promise: to see a touch between two looks, or anything where the
 * engine's kernel is not this host's.
 */
import { readFileSync } from 'node:fs';

const LOOK_MS = 100;

export interface Evidence {
  pidsHit(): boolean;
  oom(): boolean;
  end(): void;
}

/** Looks until `end` is called. `pid` is the container's first process on this host. */
export function watchLimits(pid: number): Evidence {
  const groups = read(`/proc/${pid}/cgroup`) ?? '';
  const pids = groupFile(groups, 'pids', 'pids.events', 'pids.events');
  const memory = groupFile(groups, 'memory', 'memory.oom_control', 'memory.events');
  const seen = { pids: false, oom: false };
  const look = () => {
    seen.pids ||= /^max [1-9]/m.test(read(pids) ?? '');
    seen.oom ||= /^oom_kill [1-9]/m.test(read(memory) ?? '');
  };
  look();
  const timer = setInterval(look, LOOK_MS);
  return {
    pidsHit: () => seen.pids,
    oom: () => seen.oom,
    end() {
      look();
      clearInterval(timer);
    },
  };
}

/** A file of the process's control group (cgroups(7)): version 1 has a hierarchy per controller, version 2 one. */
function groupFile(groups: string, controller: string, one: string, two: string): string | undefined {
  for (const line of groups.split('\n')) {
    const [id, controllers = '', ...path] = line.split(':');
    if (controllers.split(',').includes(controller))
      return `/sys/fs/cgroup/${controllers}${path.join(':')}/${one}`;
    if (id === '0' && controllers === '' && path.length > 0 && !groups.includes(`:${controller}:`)) {
      return `/sys/fs/cgroup${path.join(':')}/${two}`;
    }
  }
  return undefined;
}

function read(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
