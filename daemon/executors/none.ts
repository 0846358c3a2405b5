/**
 * The executor without isolation: a process group on this host. For the scripted model and catalogue verifiers only.
 * Promises: the group is killed at the end, at the deadline, at `stop`, and when the daemon dies.
 * Does not promise: any wall. Network, files and processes of the host are open to the program; one that leaves its
 * group and session and clears its environment can survive unseen. Memory and processes are sampled, cpus
 * are not limited. Read-only files are copies that the program could change.
 */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { fail } from '../../store/format/errors.ts';
import type { Executor, Sandbox, SandboxSpec } from './executor.ts';
import { createFolder, filesOf, reapFolders, type SandboxFolder } from './folder.ts';
import { hostFacts } from './host.ts';
import { begin, launch } from './launch.ts';
import { listProcesses, type Process, type ProcessId, startedIn } from './procs.ts';
import { type HostRelay, openHostRelay } from './relay.ts';
import { openSeat } from './seat.ts';

export interface NoneOptions {
  /** Sandboxes stand below this folder. */
  readonly folder: string;
}

export function openNone(options: NoneOptions): Executor {
  const root = resolve(options.folder);
  const open = new Set<Sandbox>();
  return {
    name: 'none',
    describe: async () => ({
      ...hostFacts(),
      executor: 'none',
      enforced: { network: 'no', files: 'no', memory: 'sampled', pids: 'sampled', cpus: 'no' },
    }),
    reap: async (owner) => reapFolders(root, owner),
    async open(spec) {
      const folder = await createFolder(root, spec);
      const relay = await openHostRelay();
      const sandbox = openSandbox(spec, folder, relay, () => open.delete(sandbox));
      open.add(sandbox);
      return sandbox;
    },
    async close() {
      for (const sandbox of [...open]) await sandbox.close();
    },
  };
}

function openSandbox(spec: SandboxSpec, folder: SandboxFolder, relay: HostRelay, gone: () => void): Sandbox {
  const seat = openSeat();
  const environment = {
    HOME: folder.home,
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    TMPDIR: folder.temp,
  };
  return {
    paths: {
      workspace: folder.workspace,
      home: folder.home,
      temp: folder.temp,
      readOnly: folder.readOnly,
    },
    relayUrl: relay.url,
    environment,
    run: (command) =>
      seat.take(
        async () => {
          const { relaySocket } = command;
          if (relaySocket !== undefined && !existsSync(relaySocket)) {
            fail('E_EXECUTOR', { where: relaySocket, wanted: "the meter's socket", found: 'nothing' });
          }
          folder.emptyTemp();
          relay.attach(relaySocket);
          return launch({
            argv: begin(command.argv, command.cwd ?? folder.workspace, { ...environment, ...command.env }),
            command,
            limits: spec.limits,
            folder: folder.path,
            record: folder.record,
            members: (leader) => membersOf(leader, folder.path),
          });
        },
        () => relay.attach(undefined),
      ),
    surface: async () => ({ hostname: hostname(), mounts: [] }),
    ...filesOf(folder, seat),
    async close() {
      await seat.stop();
      await relay.close();
      folder.remove();
      gone();
    },
  };
}

/** The group, its session, and whoever left both but still works in the folder or carries it in its environment. */
function membersOf(leader: ProcessId, folder: string): Process[] {
  return listProcesses().filter(
    ({ pid, group, session }) =>
      pid !== process.pid && (group === leader.pid || session === leader.pid || startedIn(pid, folder)),
  );
}
