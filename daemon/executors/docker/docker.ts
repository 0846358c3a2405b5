/**
 * The executor over a local container engine.
 * Promises: every run is its own container over the sandbox's volumes: read-only root, no capability, no new privilege,
 * no root, no network but the relay, limits by the kernel; files go in and out as archives, never through a host folder.
 * Does not promise: to hide the kernel; and the engine must have its init program (docker-init).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cid } from '../../../store/format/cid.ts';
import { link } from '../../../store/format/cid.ts';
import { random } from '../../../store/format/crypto.ts';
import { AshlarError, fail } from '../../../store/format/errors.ts';
import type { Emit, Reader } from '../../../store/format/reader.ts';
import { snapshotBlock } from '../../../store/format/tree.ts';
import type {
  Command,
  Executor,
  Finished,
  HomeFile,
  Image,
  Paths,
  Sandbox,
  SandboxSpec,
} from '../executor.ts';
import { homePath, readRoot } from '../folder.ts';
import { hostFacts } from '../host.ts';
import type { Running } from '../launch.ts';
import { RELAY_PORT } from '../relay.ts';
import { openSeat } from '../seat.ts';
import { type TarInput, writeTar } from '../tar.ts';
import { runContainer } from './container.ts';
import { type ContainerSpec, type Engine, type Mount, openEngine } from './engine.ts';
import { loadImage } from './image.ts';
import { listVolumes } from './lister.ts';
import { openSidecar } from './sidecar.ts';
import { type Listing, tarOfFolder, tarOfTree, treeOfTar } from './transfer.ts';

export interface DockerOptions {
  /** As DOCKER_HOST spells it; default: that variable, else the local socket. */
  readonly host?: string;
  /** Holds `node`, for the relay and the lister; default: the sandbox's own image. */
  readonly tools?: { readonly image: Image; readonly reader: Reader };
}

const WORKSPACE = '/workspace';
const HOME = '/home/agent';
const TEMP = '/tmp';
const HOSTNAME = 'sandbox';
const OWNER_LABEL = 'ashlar.owner';
const TOKEN_LABEL = 'ashlar.token';
const REAP_TRIES = 20;
const REAP_PAUSE_MS = 500;
const AGENT = { uid: 1000, gid: 1000 };
const ROOT = { uid: 0, gid: 0 };
const ENVIRONMENT = { HOME, PATH: '/usr/local/bin:/usr/bin:/bin', TMPDIR: TEMP };

export function openDocker(options: DockerOptions = {}): Executor {
  const engine = openEngine(options.host);
  const open = new Set<Sandbox>();
  return {
    name: 'docker',
    describe: async () => ({
      ...hostFacts(),
      executor: 'docker',
      engine: { ...(await engine.facts()) },
      enforced: {
        network: 'namespace',
        files: 'container',
        memory: 'kernel',
        pids: 'kernel',
        cpus: 'kernel',
      },
    }),
    reap: (owner) => reap(engine, owner),
    async open(spec) {
      const { image } = spec;
      if (image === undefined) fail('E_EXECUTOR', { wanted: 'an image', found: 'none' });
      const tools = options.tools ?? { image, reader: spec.reader };
      const { env } = await loadImage(engine, spec.reader, image);
      if (tools.image.configDigest !== image.configDigest) await loadImage(engine, tools.reader, tools.image);
      const volumes = await fillVolumes(engine, { ...spec, image });
      const images = { own: image.configDigest, env, tools: tools.image.configDigest };
      const sandbox = openSandbox(engine, spec, volumes, images, () => open.delete(sandbox));
      open.add(sandbox);
      return sandbox;
    },
    async close() {
      for (const sandbox of [...open]) await sandbox.close();
    },
  };
}

/**
 * Everything of this owner is stopped and removed, containers before the volumes they hold; again until nothing is
 * listed, since a call of an owner that was killed may still be under way in the engine.
 */
async function reap(engine: Engine, owner: string): Promise<string[]> {
  const label = `${OWNER_LABEL}=${owner}`;
  const tokens = new Set<string>();
  for (let left = REAP_TRIES; ; left--) {
    const containers = await engine.containers(label);
    const volumes = await engine.volumes(label);
    if (containers.length + volumes.length === 0) return [...tokens].sort();
    for (const { labels } of [...containers, ...volumes]) tokens.add(labels[TOKEN_LABEL] ?? '');
    try {
      for (const { id } of containers) await engine.remove(id);
      for (const { id } of volumes) await engine.removeVolume(id);
    } catch (fault) {
      if (left === 0) throw fault;
      await sleep(REAP_PAUSE_MS);
    }
  }
}

interface Images {
  readonly own: string;
  /** What the own image would add to a program's environment. */
  readonly env: readonly string[];
  readonly tools: string;
}

/** The volumes of one sandbox, and a container that never runs: archives go in and out through it. */
interface Volumes {
  readonly holder: string;
  readonly workspace: Mount;
  readonly home: Mount;
  readonly readOnly: readonly Mount[];
  remove(): Promise<void>;
}

const labelsOf = ({ owner, token }: SandboxSpec) => ({ [OWNER_LABEL]: owner, [TOKEN_LABEL]: token });

async function fillVolumes(engine: Engine, spec: SandboxSpec & { image: Image }): Promise<Volumes> {
  const labels = labelsOf(spec);
  // Visible inside as the root of a mount: chance alone, no name.
  const prefix = Buffer.from(random(12)).toString('hex');
  const volume = (target: string, readOnly: boolean): Mount => ({
    type: 'volume',
    source: `${prefix}${target.replaceAll('/', '-')}`,
    target,
    readOnly,
  });
  const workspace = volume(WORKSPACE, false);
  const home = volume(HOME, false);
  const readOnly = (spec.readOnly ?? []).map(({ name }) => volume(`/opt/${name}`, true));
  const all = [workspace, home, ...readOnly];
  let holder: string | undefined;
  const remove = async () => {
    if (holder !== undefined) await engine.remove(holder);
    for (const { source } of all) await engine.removeVolume(source);
  };
  try {
    // Labelled from the start: if we die here, `reap` finds them.
    for (const { source } of all) await engine.createVolume(source, labels);
    const writable = all.map((mount) => ({ ...mount, readOnly: false }));
    holder = await engine.create({ ...bare(spec.image.configDigest, labels), mounts: writable });
    await engine.putArchive(holder, writeTar(contents(spec)));
  } catch (fault) {
    await remove();
    throw readerFault(fault);
  }
  return { holder, workspace, home, readOnly, remove };
}

/** A fault of the reader comes back through the engine's client: it is still the reader's. */
function readerFault(fault: unknown): unknown {
  const cause = fault instanceof AshlarError ? fault.data.cause : undefined;
  return cause instanceof AshlarError ? cause : fault;
}

async function* contents(spec: SandboxSpec): AsyncGenerator<TarInput> {
  const path = (absolute: string) => Buffer.from(absolute.slice(1));
  const { mode, tree } = await readRoot(spec.reader, spec.workspace);
  yield* tarOfTree(spec.reader, { mode, tree: tree['/'] }, path(WORKSPACE), AGENT);
  yield { path: path(HOME), type: 'dir', mode: 0o755, ...AGENT };
  for (const files of spec.readOnly ?? []) {
    const target = path(`/opt/${files.name}`);
    if ('folder' in files) {
      yield* tarOfFolder(Buffer.from(files.folder), target, ROOT);
    } else {
      const root = await readRoot(spec.reader, files.tree);
      yield* tarOfTree(spec.reader, { mode: root.mode, tree: root.tree['/'] }, target, ROOT);
    }
  }
}

function bare(image: string, labels: Readonly<Record<string, string>>): ContainerSpec {
  return {
    image,
    argv: ['true'],
    env: [],
    unset: [],
    user: `${AGENT.uid}:${AGENT.gid}`,
    cwd: '/',
    hostname: HOSTNAME,
    network: 'none',
    mounts: [],
    tmpfs: {},
    capabilities: [],
    labels,
    stdin: false,
    readOnlyRoot: false,
  };
}

function openSandbox(
  engine: Engine,
  spec: SandboxSpec,
  volumes: Volumes,
  images: Images,
  gone: () => void,
): Sandbox {
  const seat = openSeat();
  const labels = labelsOf(spec);
  let listings: Promise<Listing[]> | undefined;
  const changed = () => {
    listings = undefined;
  };
  const read = async (which: 0 | 1, emit: Emit) => {
    await seat.stop();
    const mounts = [volumes.workspace, volumes.home];
    // The archive is read while the lister starts; whoever waits for the list hears of its fault.
    const listed = listings ?? listVolumes(engine, { image: images.tools, mounts, labels });
    listed.catch(() => undefined);
    listings = listed;
    const listing = async () => (await listed)[which] as Listing;
    const { target } = mounts[which] as Mount;
    return treeOfTar(await engine.getArchive(volumes.holder, target), listing, emit);
  };
  return {
    paths: pathsOf(volumes),
    relayUrl: `http://127.0.0.1:${RELAY_PORT}`,
    environment: ENVIRONMENT,
    run(command) {
      changed();
      return runInContainer(engine, seat, { spec, volumes, images, command });
    },
    surface: async () => ({ hostname: HOSTNAME, mounts: mountsOf(volumes) }),
    async snapshot(emit) {
      const { mode, tree } = await read(0, emit);
      return { snapshot: await emit(snapshotBlock({ mode, tree: link(tree) }).bytes, 'dag-json') };
    },
    home: async (emit): Promise<Cid> => (await read(1, emit)).tree,
    async writeHome(files) {
      await seat.stop();
      changed();
      for (const file of files) await writeBelow(engine, volumes.holder, file);
    },
    stop: seat.stop,
    async close() {
      await seat.stop();
      await volumes.remove();
      gone();
    },
  };
}

function pathsOf(volumes: Volumes): Paths {
  const named = volumes.readOnly.map(({ target }) => [target.slice('/opt/'.length), target] as const);
  return { workspace: WORKSPACE, home: HOME, temp: TEMP, readOnly: Object.fromEntries(named) };
}

function mountsOf({ workspace, home, readOnly }: Volumes): string[] {
  return [...[workspace, home, ...readOnly].map(({ target }) => `${target} volume`), `${TEMP} tmpfs`];
}

interface Run {
  readonly spec: SandboxSpec;
  readonly volumes: Volumes;
  readonly images: Images;
  readonly command: Command;
}

async function runInContainer(
  engine: Engine,
  seat: ReturnType<typeof openSeat>,
  { spec, volumes, images, command }: Run,
): Promise<Finished> {
  const labels = labelsOf(spec);
  let release: () => Promise<void> = async () => undefined;
  return seat.take(
    async () => {
      const cwd = command.cwd ?? WORKSPACE;
      if (!(await hasFolder(engine, volumes.holder, cwd))) return noFolder(cwd);
      let network = 'none';
      let check: () => Promise<void> = async () => undefined;
      if (command.relaySocket !== undefined) {
        const options = { image: images.tools, socket: command.relaySocket, hostname: HOSTNAME, labels };
        const sidecar = await openSidecar(engine, options);
        release = sidecar.remove;
        check = sidecar.check;
        network = `container:${sidecar.id}`;
      }
      const container: ContainerSpec = {
        ...bare(images.own, labels),
        argv: command.argv,
        env: Object.entries({ ...ENVIRONMENT, ...command.env }).map(([name, value]) => `${name}=${value}`),
        unset: images.env,
        cwd,
        hostname: network === 'none' ? HOSTNAME : null,
        network,
        mounts: [volumes.workspace, volumes.home, ...volumes.readOnly],
        tmpfs: { [TEMP]: `rw,exec,nosuid,nodev,mode=1777,size=${spec.limits.memoryMb}m` },
        limits: spec.limits,
        readOnlyRoot: true,
      };
      const running = await runContainer(engine, container, command);
      const done = running.done.then(async (finished) => {
        await check();
        return finished;
      });
      return { stop: running.stop, done };
    },
    () => release(),
  );
}

/** The engine would make a missing working folder, as root and in the workspace: asked first. */
async function hasFolder(engine: Engine, holder: string, cwd: string): Promise<boolean> {
  const made = [WORKSPACE, HOME, TEMP, '/'];
  return made.includes(cwd) || engine.isFolder(holder, `${cwd}/.`);
}

/** How a program ends whose folder is not there: as a shell would say it. */
function noFolder(cwd: string): Running {
  const finished: Finished = {
    exit: 126,
    signal: null,
    timedOut: false,
    oom: false,
    pidsHit: false,
    stopped: false,
    stdout: new Uint8Array(),
    stderr: Buffer.from(`${cwd}: no such folder\n`),
    truncated: false,
    durationSeconds: '0.000',
  };
  return { stop: () => undefined, done: Promise.resolve(finished) };
}

/** The parents as they are where they are folders; whatever else stands in the way is replaced by the archive. */
async function writeBelow(engine: Engine, holder: string, file: HomeFile): Promise<void> {
  const names = homePath(file.path);
  const entries: TarInput[] = [];
  let at = HOME.slice(1);
  for (const name of names.slice(0, -1)) {
    at = `${at}/${name}`;
    if (entries.length > 0 || !(await engine.isFolder(holder, `/${at}`))) {
      entries.push({ path: Buffer.from(at), type: 'dir', mode: 0o755, ...AGENT });
    }
  }
  const { bytes, mode = 0o644 } = file;
  const path = Buffer.from(`${at}/${names.at(-1)}`);
  entries.push({ path, type: 'file', mode, size: bytes.length, body: [bytes], ...AGENT });
  await engine.putArchive(holder, writeTar(entries));
}
