/**
 * The executor over bubblewrap: own user, mount, process, network and host-name space, no engine and no image.
 * Promises: the host's files outside /usr, its processes, network and privileges are out of reach; paths are the same
 * in every sandbox; when the daemon dies, so does everything inside.
 * Does not promise: hard limits (memory and processes are sampled, cpus are not limited), or the same /usr on two
 * machines: what the program finds there is this host's, less this installation.
 */
import { execFile } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { fail } from '../../store/format/errors.ts';
import type { Command, Executor, Paths, Sandbox, SandboxSpec } from './executor.ts';
import { createFolder, filesOf, reapFolders, type SandboxFolder } from './folder.ts';
import { hostFacts } from './host.ts';
import { begin, launch } from './launch.ts';
import { listProcesses, type Process, pidNamespace } from './procs.ts';
import { RELAY_PORT, RELAY_PROGRAM } from './relay.ts';
import { openSeat } from './seat.ts';

export interface BwrapOptions {
  /** Sandboxes stand below this folder; its path is visible inside as the root of mounts (proc(5), mountinfo). */
  readonly folder: string;
  /** Where bubblewrap is; default: `bwrap` on the PATH. */
  readonly bwrap?: string;
  /** Folders below /usr that a program must not see, beside this installation. */
  readonly hide?: readonly string[];
}

const WORKSPACE = '/workspace';
const HOME = '/home/agent';
const TEMP = '/tmp';
const NODE = '/opt/node/node';
const SOCKET = '/run/meter.sock';
const USER = '1000';
const HOSTNAME = 'sandbox';
const ENVIRONMENT = { HOME, PATH: `${dirname(NODE)}:/usr/local/bin:/usr/bin:/bin`, TMPDIR: TEMP };

export function openBwrap(options: BwrapOptions): Executor {
  const bwrap = options.bwrap ?? 'bwrap';
  const root = resolve(options.folder);
  const open = new Set<Sandbox>();
  return {
    name: 'bwrap',
    describe: async () => ({
      ...hostFacts(),
      executor: 'bwrap',
      bwrap: await versionOf(bwrap),
      enforced: { network: 'namespace', files: 'namespace', memory: 'sampled', pids: 'sampled', cpus: 'no' },
    }),
    reap: async (owner) => reapFolders(root, owner),
    async open(spec) {
      const folder = await createFolder(root, spec);
      const base = [bwrap, ...ISOLATION, ...hostMounts(root), ...hidden(options.hide ?? [])];
      const sandbox = openSandbox(spec, folder, base, () => open.delete(sandbox));
      open.add(sandbox);
      return sandbox;
    },
    async close() {
      for (const sandbox of [...open]) await sandbox.close();
    },
  };
}

async function versionOf(bwrap: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(bwrap, ['--version']);
    return stdout.trim();
  } catch (cause) {
    return fail('E_EXECUTOR', { where: bwrap, wanted: 'bubblewrap', hint: 'Install bubblewrap.', cause });
  }
}

const ISOLATION = [
  ...['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
  ...['--uid', USER, '--gid', USER, '--hostname', HOSTNAME, '--clearenv', '--info-fd', '5'],
  ...['--proc', '/proc', '--dev', '/dev', '--perms', '1777', '--tmpfs', TEMP],
];

/** What programs need of the host, read-only: /usr, the loader's cache, certificates, Node, and a few made files. */
function hostMounts(root: string): string[] {
  const mounts = ['--ro-bind', '/usr', '/usr'];
  for (const path of ['/bin', '/sbin', '/lib', '/lib32', '/lib64']) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) mounts.push('--symlink', readlinkSync(path), path);
    else if (found !== undefined) mounts.push('--ro-bind', path, path);
  }
  for (const path of ['/etc/ld.so.cache', '/etc/alternatives', '/etc/ssl/certs', '/nix/store']) {
    mounts.push('--ro-bind-try', path, path);
  }
  for (const { path, text } of ETC) mounts.push('--ro-bind', madeFile(root, path, text), path);
  return [...mounts, '--ro-bind', realpathSync(process.execPath), NODE];
}

const ETC = [
  {
    path: '/etc/passwd',
    text: `root:x:0:0:root:/root:/bin/sh\nagent:x:${USER}:${USER}:agent:${HOME}:/bin/sh\n`,
  },
  { path: '/etc/group', text: `root:x:0:\nagent:x:${USER}:\n` },
  { path: '/etc/hosts', text: `127.0.0.1 localhost ${HOSTNAME}\n` },
];

function madeFile(root: string, path: string, text: string): string {
  const made = join(root, 'etc', path.slice('/etc/'.length));
  mkdirSync(dirname(made), { recursive: true });
  if (!existsSync(made)) writeFileSync(made, text);
  return made;
}

/** Empty folders over this installation where it lies below /usr, and over what the host wants hidden. */
function hidden(folders: readonly string[]): string[] {
  let installation = realpathSync(import.meta.dirname);
  for (let at = installation; at !== '/'; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) installation = at;
  }
  const all = [installation, ...folders.map((folder) => resolve(folder))];
  return all
    .filter((path) => path.startsWith('/usr/') && existsSync(path))
    .flatMap((path) => ['--tmpfs', path]);
}

function openSandbox(
  spec: SandboxSpec,
  folder: SandboxFolder,
  base: readonly string[],
  gone: () => void,
): Sandbox {
  const seat = openSeat();
  const named = Object.keys(folder.readOnly) as ('agent' | 'verifier')[];
  const readOnly = Object.fromEntries(named.map((name) => [name, `/opt/${name}`] as const));
  const paths: Paths = { workspace: WORKSPACE, home: HOME, temp: TEMP, readOnly };
  const mounts = ['--bind', folder.workspace, WORKSPACE, '--bind', folder.home, HOME];
  for (const name of named) mounts.push('--ro-bind', folder.readOnly[name] as string, `/opt/${name}`);

  const run = (command: Command) =>
    seat.take(
      () =>
        launch({
          argv: [...base, ...mounts, ...inside(command)],
          command,
          limits: spec.limits,
          folder: folder.path,
          record: folder.record,
          members: (leader, info) => membersOf(leader.pid, info),
        }),
      () => undefined,
    );
  return {
    paths,
    relayUrl: `http://127.0.0.1:${RELAY_PORT}`,
    environment: ENVIRONMENT,
    run,
    async surface() {
      const seen = await run({
        argv: ['cat', '/proc/self/mounts'],
        env: {},
        timeoutSeconds: 60,
        maxOutputBytes: 1 << 20,
      });
      return { hostname: HOSTNAME, mounts: parseMounts(seen.stdout) };
    },
    ...filesOf(folder, seat),
    async close() {
      await seat.stop();
      folder.remove();
      gone();
    },
  };
}

/** The end of the command line: the program itself, or the relay that starts it. */
function inside({ argv, cwd, env, relaySocket }: Command): string[] {
  const program = begin(argv, cwd ?? WORKSPACE, { ...ENVIRONMENT, ...env });
  if (relaySocket === undefined) return ['--', ...program];
  const socket = ['--bind', relaySocket, SOCKET];
  return [...socket, '--', NODE, '-e', RELAY_PROGRAM, SOCKET, ...program];
}

/** bubblewrap itself, and everything in the process namespace that it reported. */
function membersOf(leader: number, info: string): Process[] {
  const inode = /"pid-namespace": (\d+)/.exec(info)?.[1];
  const namespace = `pid:[${inode}]`;
  return listProcesses().filter(
    ({ pid, group }) => group === leader || (inode !== undefined && pidNamespace(pid) === namespace),
  );
}

function parseMounts(text: Uint8Array): string[] {
  const lines = Buffer.from(text).toString('utf8').trim().split('\n');
  return lines.map((line) => line.split(' ').slice(1, 3).join(' '));
}
