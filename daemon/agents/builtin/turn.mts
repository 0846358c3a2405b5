/**
 * What the built-in loop is given: one prompt and everything that governs it. Types alone.
 */
export type ToolName = 'read' | 'write' | 'edit' | 'list' | 'run' | 'search_memory';

/** Text put before a prompt. */
export interface Injection {
  readonly channel: string;
  readonly text: string;
  readonly memories: readonly string[];
}

/** One prompt and everything that governs it. */
export interface Turn {
  readonly v: 1;
  readonly prompt: string;
  readonly injections: readonly Injection[];
  readonly system: string;
  readonly model: string;
  readonly maxTokens: number;
  /** Further fields of the request, such as temperature. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly tools: readonly ToolName[];
  readonly limits: Limits;
}
export interface Limits {
  /** Model calls of the whole session, earlier prompts included. */
  readonly turns: number;
  /** Tokens in and out of the whole session; the one that passes it is the last. */
  readonly tokens: number;
  /** Bytes of one tool's answer. */
  readonly outputBytes: number;
  /** Longest time of one command. */
  readonly commandSeconds: number;
}
