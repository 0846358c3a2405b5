/**
 * What the daemon needs to know about a coding agent to run it: one adapter an agent, no other place knows one.
 * Promises: an adapter is pure description: it starts nothing; equal inputs give equal argv, environment and files, and
 * none of them names the harness, the condition or the arm.
 * Does not promise: that the agent keeps to what it is told; sandbox and meter see to that.
 */
import type { StopReason } from '../../rules/contracts/receipt.ts';

/** Where things are inside the sandbox; equal for all arms. Absolute paths. */
export interface Place {
  readonly workspace: string;
  readonly home: string;
  /** Read-only folder with the adapter's programs, outside workspace and home. */
  readonly programs: string;
  /** The node executable; `node` where it is on `path`. */
  readonly node: string;
  /** The PATH that the agent's commands get. */
  readonly path: string;
  /** `http://127.0.0.1:<port>`, or `unix:<path>` where the sandbox holds the socket itself. */
  readonly modelUrl: string;
}

/** A file that the sandbox holds read-only as `<programs>/<name>`. */
export interface Program {
  readonly name: string;
  /** Where it is on this machine. */
  readonly source: string;
}

/** Text put before a prompt: a memory block (rules/memory/block.ts) and the ids in it. */
export interface Injection {
  readonly channel: string;
  readonly text: string;
  readonly memories: readonly string[];
}

/** One prompt of a run. `index` is 1 for the prompt and goes on with the follow-ups. */
export interface AgentTurn {
  readonly index: number;
  readonly prompt: string;
  readonly injections: readonly Injection[];
  /** The text of the agent record's template. */
  readonly system: string;
  readonly model: string;
  /** Decimals are strings, as in the record. */
  readonly parameters: Readonly<Record<string, string | boolean>>;
  /** The agent's own and those that the condition declares. */
  readonly tools: readonly string[];
  readonly limits: {
    readonly turns: number;
    readonly maxOutputTokens: number;
    readonly totalTokens: number;
    readonly outputBytes: number;
  };
}

/** A file to put into the agent's home before this turn. */
export interface HomeFile {
  /** Relative to home. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** One process: the whole environment is `env`, nothing is inherited; cwd is the workspace; no stdin. */
export interface Launch {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly HomeFile[];
}

/** How the process came to its end, as the sandbox saw it. */
export interface Exit {
  /** Null where a signal ended it. */
  readonly code: number | null;
}

/** `completed`, or why not. The meter's own findings (a cap) go before this. */
export type Ending =
  | { readonly status: 'completed' }
  | { readonly status: 'agent_failed'; readonly stopReason: StopReason };

export interface Adapter {
  readonly name: string;
  /** Name of the native transcript format, for the transcript readers. */
  readonly format: string;
  readonly programs: readonly Program[];
  /** What the receipt says: version and SHA-256 (hex) of the program. */
  identify(): Promise<{ version: string; sha256: string }>;
  /** The first turn and every resumed one. Throws E_CONFIG for a tool or parameter it cannot give. */
  launch(turn: AgentTurn, place: Place): Launch;
  /** Session files, relative to home: the native transcript. */
  isSession(path: string): boolean;
  /** Home files that the harness itself writes before a turn, relative to home: no part of what the agent left. */
  readonly turnFiles: readonly string[];
  ending(exit: Exit): Ending;
  /** What the model is told about a tool: part of the run-time surface. Throws E_CONFIG for a tool it cannot give. */
  toolDescription(tool: string): string;
}
