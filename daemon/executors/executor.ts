/**
 * What every executor promises: a sandbox that holds one arm's workspace and agent home, and runs programs in it.
 * Promises (test/suite/executor.ts asks each executor): faults of the sandbox throw E_EXECUTOR and are ours; whatever
 * the program did is in `Finished` and counts. After `stop` no process of the sandbox lives. Nothing inside names a
 * condition, a store or this project.
 * Does not promise: equal isolation. What an executor enforces is in `describe`.
 */
import type { Cid, Evidence } from '../../store/format/cid.ts';
import type { ValueMap } from '../../store/format/codec.ts';
import type { Emit, Reader } from '../../store/format/reader.ts';

/** Weakest isolation first. */
export const EXECUTORS = ['none', 'bwrap', 'docker'] as const;
export type ExecutorName = (typeof EXECUTORS)[number];

export interface Executor {
  readonly name: ExecutorName;
  /** Host facts for the receipt (evidence: they name the machine): versions, kernel, what is enforced. */
  describe(): Promise<ValueMap>;
  /**
   * Stops and removes everything that carries this owner's label, whoever started it: at start-up nothing is adopted.
   * Answers the tokens of the sandboxes that it removed, sorted.
   */
  reap(owner: string): Promise<readonly string[]>;
  /** Materialises the workspace and an empty home. Nothing runs yet. Throws E_EXECUTOR, and what the reader throws. */
  open(spec: SandboxSpec): Promise<Sandbox>;
  /** Closes what `open` gave and is still open. */
  close(): Promise<void>;
}

/** An image by content: config and uncompressed layers are raw blocks; a layer's digest is its diff id. */
export interface Image {
  readonly configDigest: Evidence;
  readonly layers: readonly Evidence[];
}

export interface Limits {
  /** Processors, may be a fraction. */
  readonly cpus: number;
  readonly memoryMb: number;
  /** Processes and threads at once. */
  readonly pids: number;
}

/** Files shown read-only beside the workspace: a tree in the store, or a folder of this installation (copied). */
export type ReadOnly =
  | { readonly name: 'agent' | 'verifier'; readonly tree: Cid }
  | { readonly name: 'agent' | 'verifier'; readonly folder: string };

export interface SandboxSpec {
  /** The store's label: what `reap` goes by. */
  readonly owner: string;
  /** The start token: what `reap` answers. Never visible inside. */
  readonly token: string;
  /** Required by `docker`, ignored by the others. */
  readonly image?: Image;
  readonly limits: Limits;
  /** A snapshot block, or a tree node (then the root's mode is 0755). */
  readonly workspace: Cid;
  readonly readOnly?: readonly ReadOnly[];
  readonly reader: Reader;
}

/** Absolute paths as the program sees them. `bwrap` and `docker` give the same ones for every sandbox. */
export interface Paths {
  readonly workspace: string;
  readonly home: string;
  /** Empty at the start of every run. */
  readonly temp: string;
  readonly readOnly: Readonly<Partial<Record<'agent' | 'verifier', string>>>;
}

/** What the program can see of its surroundings, beside its files: part of the run-time surface. */
export interface Surface {
  readonly hostname: string;
  /** Mount points and their type, as `<path> <type>`; empty where the host's own are shown (`none`). */
  readonly mounts: readonly string[];
}

export interface Sandbox {
  readonly paths: Paths;
  /** Where the meter answers during a run that has a `relaySocket`; known before the first run, for config files. */
  readonly relayUrl: string;
  /** What every run has in its environment unless `env` says otherwise: HOME, PATH, TMPDIR. */
  readonly environment: Readonly<Record<string, string>>;
  /** Runs one program to its end; what it left running is killed. One run at a time. Throws E_EXECUTOR. */
  run(command: Command): Promise<Finished>;
  surface(): Promise<Surface>;
  /** Stops everything, then reads the workspace back through the sandbox into blocks. */
  snapshot(emit: Emit): Promise<{ readonly snapshot: Cid }>;
  /** Stops everything, then reads the agent's home back: the CID of its tree. */
  home(emit: Emit): Promise<Cid>;
  /** Stops everything, then writes files below home (portable relative paths); no link is followed. */
  writeHome(files: readonly HomeFile[]): Promise<void>;
  /** Kills every process, a running `run` included (it answers with what it has); verified. */
  stop(): Promise<void>;
  /** Stops everything and removes what `open` made. Idempotent. */
  close(): Promise<void>;
}

export interface HomeFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Default 0644. */
  readonly mode?: number;
}

export interface Command {
  /** No shell. argv[0] is looked up in the PATH of the program's own environment. */
  readonly argv: readonly string[];
  /** As seen inside; default the workspace. */
  readonly cwd?: string;
  /** Exactly what the program gets, over `Sandbox.environment`. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: empty. */
  readonly stdin?: Uint8Array;
  /** Everything is killed after this; may be a fraction. */
  readonly timeoutSeconds: number;
  /** Each of stdout and stderr keeps its first bytes up to this; the rest is read and dropped. */
  readonly maxOutputBytes: number;
  /** Host path of the meter's unix socket: reachable inside at `relayUrl` during this run. Absent: no network. */
  readonly relaySocket?: string;
}

/** How the program ended. */
export interface Finished {
  /**
   * Its exit status; 127 where the command was not found, 126 where it could not be run. Death by signal n is 128 + n
   * where the sandbox cannot tell the two apart, else null with `signal`. Null too when we killed it.
   */
  readonly exit: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** The memory limit killed something (evidence of the kernel or of our sampling, never the status 137 alone). */
  readonly oom: boolean;
  /** The process limit was met (sampled: a shorter touch can be missed). */
  readonly pidsHit: boolean;
  /** `stop` ended it. */
  readonly stopped: boolean;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly truncated: boolean;
  /** Decimal seconds, three places. */
  readonly durationSeconds: string;
}
