/**
 * The only file that knows dockerode: what we ask of a container engine, and nothing more.
 * Promises: every failure is E_EXECUTOR, told apart by status code alone; dockerode is loaded at the first call.
 * Does not promise: a remote engine; unix sockets are shared with containers by path.
 */
import { Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import { fail } from '../../../store/format/errors.ts';

/** Calls that should be short get this long, milliseconds: under load a create took 8 s. */
const CALL_MS = 300_000;

export interface Mount {
  /** A volume's name, or a host path for `bind`. */
  readonly source: string;
  readonly target: string;
  readonly type: 'volume' | 'bind';
  readonly readOnly: boolean;
}

export interface ContainerSpec {
  /** `sha256:<hex>`. */
  readonly image: string;
  readonly argv: readonly string[];
  readonly env: readonly string[];
  /** Names that the image or the engine would add, and that shall not be there. */
  readonly unset: readonly string[];
  readonly user: string;
  readonly cwd: string;
  /** Null where the network is another container's, whose name is shown. */
  readonly hostname: string | null;
  /** `none` or `container:<id>`. */
  readonly network: string;
  readonly mounts: readonly Mount[];
  readonly tmpfs: Readonly<Record<string, string>>;
  readonly capabilities: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly stdin: boolean;
  readonly readOnlyRoot: boolean;
  readonly limits?: { readonly cpus: number; readonly memoryMb: number; readonly pids: number };
}

export interface ImageFacts {
  /** `sha256:<hex>` of the config. */
  readonly id: string;
  /** Diff ids. */
  readonly layers: readonly string[];
  /** Names in the environment that the image sets. */
  readonly env: readonly string[];
}

export interface ContainerState {
  readonly running: boolean;
  readonly exit: number;
  readonly oom: boolean;
  /** In the host's process namespace, where the engine shares it; 0 when not running. */
  readonly pid: number;
}

export interface Labelled {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Engine {
  facts(): Promise<{ version: string; api: string; kernel: string; driver: string; runtime: string }>;
  /** Undefined where it is not there. */
  image(reference: string): Promise<ImageFacts | undefined>;
  loadImage(archive: AsyncIterable<Uint8Array>): Promise<void>;
  saveImage(reference: string): Promise<AsyncIterable<Uint8Array>>;
  createVolume(name: string, labels: Readonly<Record<string, string>>): Promise<void>;
  removeVolume(name: string): Promise<void>;
  create(spec: ContainerSpec): Promise<string>;
  /** The raw multiplexed stream, both ways. */
  attach(id: string, stdin: boolean): Promise<NodeJS.ReadWriteStream>;
  start(id: string): Promise<void>;
  /** Resolves when it does not run (any more). No limit in time. */
  wait(id: string): Promise<void>;
  inspect(id: string): Promise<ContainerState | undefined>;
  /** A container that does not run is no fault. */
  kill(id: string): Promise<void>;
  /** Kills and removes; one that is gone is no fault. */
  remove(id: string): Promise<void>;
  putArchive(id: string, archive: AsyncIterable<Uint8Array>): Promise<void>;
  getArchive(id: string, path: string): Promise<AsyncIterable<Uint8Array>>;
  /** Whether a folder stands there, links in its last name not followed. */
  isFolder(id: string, path: string): Promise<boolean>;
  /** Whether the kernel killed for memory in this container since then (seconds of the engine's clock). */
  sawOom(id: string, since: number): Promise<boolean>;
  containers(label: string): Promise<readonly Labelled[]>;
  volumes(label: string): Promise<readonly Labelled[]>;
}

/** `host` as DOCKER_HOST spells it; default: that variable, else the local socket. */
export function openEngine(host?: string): Engine {
  let loaded: Promise<Dockerode> | undefined;
  const docker = () => {
    loaded ??= connect(host);
    return loaded;
  };
  const container = async (id: string) => (await docker()).getContainer(id);
  return {
    ...imageCalls(docker),
    ...volumeCalls(docker),
    ...listCalls(docker),
    ...archiveCalls(container),
    create: async (spec) => {
      const created = await call('create', (await docker()).createContainer(createOptions(spec)));
      return created.id;
    },
    attach: async (id, stdin) =>
      call(
        'attach',
        (await container(id)).attach({ stream: true, hijack: true, stdin, stdout: true, stderr: true }),
      ),
    start: async (id) => void (await call('start', (await container(id)).start())),
    wait: async (id) => void (await unlimited('wait', (await container(id)).wait())),
    inspect: async (id) => {
      const found = await gone(404, call('inspect', (await container(id)).inspect()));
      const state = found?.State;
      if (state === undefined) return undefined;
      return { running: state.Running, exit: state.ExitCode, oom: state.OOMKilled, pid: state.Pid };
    },
    kill: async (id) => void (await gone([404, 409], call('kill', (await container(id)).kill()))),
    remove: async (id) =>
      void (await gone([404, 409], call('remove', (await container(id)).remove({ force: true, v: true })))),
    sawOom: async (id, since) => sawOom(await docker(), id, since),
  };
}

async function connect(host: string | undefined): Promise<Dockerode> {
  const { default: Docker } = await import('dockerode');
  const at = host ?? process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock';
  if (!at.startsWith('unix://')) {
    fail('E_EXECUTOR', { where: at, wanted: 'a local engine, unix://<socket>', hint: 'Set DOCKER_HOST.' });
  }
  return new Docker({ socketPath: at.slice('unix://'.length) });
}

type Client = () => Promise<Dockerode>;

function imageCalls(docker: Client): Pick<Engine, 'facts' | 'image' | 'loadImage' | 'saveImage'> {
  return {
    async facts() {
      const [version, info] = await call(
        'version',
        (async () => {
          const engine = await docker();
          return Promise.all([engine.version(), engine.info()]);
        })(),
      );
      return {
        version: version.Version,
        api: version.ApiVersion,
        kernel: version.KernelVersion ?? '',
        driver: String(info.Driver),
        runtime: String(info.DefaultRuntime),
      };
    },
    async image(reference) {
      const found = await gone(404, call('inspect image', (await docker()).getImage(reference).inspect()));
      if (found === undefined) return undefined;
      const env = (found.Config.Env ?? []).map((one) => one.split('=')[0] as string);
      return { id: found.Id, layers: found.RootFS.Layers ?? [], env };
    },
    async saveImage(reference) {
      const stream = await call('save', (await docker()).getImage(reference).get());
      return stream as NodeJS.ReadableStream & AsyncIterable<Uint8Array>;
    },
    async loadImage(archive) {
      const answer = await call(
        'load',
        (await docker()).loadImage(Readable.from(archive, { objectMode: false }), { quiet: true }),
      );
      const said = Buffer.concat(await collect(answer)).toString('utf8');
      if (said.includes('"error"'))
        fail('E_EXECUTOR', { wanted: 'a loaded image', found: said.slice(0, 500) });
    },
  };
}

function volumeCalls(docker: Client): Pick<Engine, 'createVolume' | 'removeVolume'> {
  return {
    async createVolume(name, labels) {
      await call('create volume', (await docker()).createVolume({ Name: name, Labels: { ...labels } }));
    },
    async removeVolume(name) {
      await gone(404, call('remove volume', (await docker()).getVolume(name).remove()));
    },
  };
}

function listCalls(docker: Client): Pick<Engine, 'containers' | 'volumes'> {
  return {
    async containers(label) {
      const options = { all: true, filters: { label: [label] } };
      const found = await call('list', (await docker()).listContainers(options));
      return found.map(({ Id, Labels }) => ({ id: Id, labels: Labels }));
    },
    async volumes(label) {
      const found = await call('list volumes', (await docker()).listVolumes({ filters: { label: [label] } }));
      return (found.Volumes ?? []).map(({ Name, Labels }) => ({ id: Name, labels: Labels ?? {} }));
    },
  };
}

const FOLDER = 2 ** 31;

function archiveCalls(
  container: (id: string) => Promise<Dockerode.Container>,
): Pick<Engine, 'putArchive' | 'getArchive' | 'isFolder'> {
  return {
    async putArchive(id, archive) {
      const body = Readable.from(archive, { objectMode: false });
      const answer = await unlimited('put archive', (await container(id)).putArchive(body, { path: '/' }));
      await collect(answer);
    },
    async getArchive(id, path) {
      const stream = await call('get archive', (await container(id)).getArchive({ path }));
      return stream as NodeJS.ReadableStream & AsyncIterable<Uint8Array>;
    },
    async isFolder(id, path) {
      const found = await gone(404, call('stat', (await container(id)).infoArchive({ path })));
      // An answer that nobody reads keeps its connection, and this process, alive.
      found?.resume();
      const header: unknown = found?.headers?.['x-docker-container-path-stat'];
      if (typeof header !== 'string') return false;
      const { mode } = JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as { mode: number };
      return mode >= FOLDER;
    },
  };
}

function createOptions(spec: ContainerSpec): Dockerode.ContainerCreateOptions {
  const { limits } = spec;
  return {
    Image: spec.image,
    Entrypoint: [...spec.argv],
    Cmd: [],
    Env: environment(spec),
    Healthcheck: { Test: ['NONE'] },
    User: spec.user,
    WorkingDir: spec.cwd,
    ...(spec.hostname === null ? {} : { Hostname: spec.hostname }),
    Labels: { ...spec.labels },
    AttachStdout: true,
    AttachStderr: true,
    AttachStdin: spec.stdin,
    OpenStdin: spec.stdin,
    StdinOnce: spec.stdin,
    Tty: false,
    HostConfig: {
      NetworkMode: spec.network,
      Init: true,
      ReadonlyRootfs: spec.readOnlyRoot,
      CapDrop: ['ALL'],
      CapAdd: [...spec.capabilities],
      SecurityOpt: ['no-new-privileges'],
      LogConfig: { Type: 'none', Config: {} },
      Tmpfs: { ...spec.tmpfs },
      Mounts: spec.mounts.map((mount) => ({
        Type: mount.type,
        Source: mount.source,
        Target: mount.target,
        ReadOnly: mount.readOnly,
        ...(mount.type === 'volume' ? { VolumeOptions: NO_COPY } : {}),
      })),
      ...(limits === undefined ? {} : limitOptions(limits)),
    },
  };
}

/** A name without a value takes out what image or engine would add of their own. */
function environment({ env, unset }: ContainerSpec): string[] {
  const given = new Set(env.map((one) => one.split('=')[0]));
  return [...env, ...['HOSTNAME', ...unset].filter((name) => !given.has(name))];
}

const NO_COPY = { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } };

function limitOptions(limits: { cpus: number; memoryMb: number; pids: number }) {
  const bytes = limits.memoryMb * 2 ** 20;
  return {
    NanoCpus: Math.round(limits.cpus * 1e9),
    Memory: bytes,
    MemorySwap: bytes,
    PidsLimit: limits.pids,
  };
}

async function sawOom(docker: Dockerode, id: string, since: number): Promise<boolean> {
  // Both ends given, the engine answers what it remembers and closes.
  const options = {
    since,
    until: (Date.now() / 1000).toFixed(3) as unknown as number,
    filters: { container: [id], event: ['oom'] },
  };
  const events = await call('events', docker.getEvents(options));
  return (
    Buffer.concat(await collect(events))
      .toString('utf8')
      .trim() !== ''
  );
}

async function collect(stream: NodeJS.ReadableStream): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
  return chunks;
}

/** A call that answers within CALL_MS. Every failure as E_EXECUTOR, its status code in `found`. */
async function call<T>(what: string, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${CALL_MS} ms`)), CALL_MS);
  });
  try {
    return await unlimited(what, Promise.race([answer, late]));
  } finally {
    clearTimeout(timer);
  }
}

async function unlimited<T>(what: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    const { statusCode, message } = cause as { statusCode?: number; message?: string };
    const found = statusCode === undefined ? String(message) : `HTTP ${statusCode}: ${message}`;
    return fail('E_EXECUTOR', { where: `engine: ${what}`, wanted: 'an answer', found, cause });
  }
}

/** Undefined instead of the fault where the engine answered one of these codes. */
async function gone<T>(codes: number | readonly number[], answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    const status = (error as { data?: { cause?: { statusCode?: number } } }).data?.cause?.statusCode;
    if (status !== undefined && [codes].flat().includes(status)) return undefined;
    throw error;
  }
}
