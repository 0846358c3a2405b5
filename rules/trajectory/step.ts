/**
 * One step of a transcript, as every native format is read into: who is the source, and what was shown to the model.
 * Promises: `source` says who authored the text, not which record carried it; a machine-written recap and a notice that
 * only the user saw are told apart from what a model was given.
 */

export type StepSource =
  /** A person's or the harness's prompt. */
  | 'user'
  /** The agent's own text and tool calls. */
  | 'agent'
  /** Context that the harness added for the model. */
  | 'injection'
  /** What a tool answered. */
  | 'tool'
  /** Shown to the user only. */
  | 'notice'
  /** A summary of the session so far, written by a machine from the agent's words. */
  | 'recap'
  | 'system';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface Step {
  /** The native record's own id, or its line number. */
  readonly native: string;
  readonly source: StepSource;
  readonly text: string;
  /** For an injection: the channel it came through. For a tool result: `tool`. */
  readonly channel?: string;
  readonly calls?: readonly ToolCall[];
  /** For a tool result: the call it answers, and the tool's name where the call is in the transcript. */
  readonly answers?: { readonly call: string; readonly tool: string | undefined };
  readonly usage?: { readonly input: number; readonly output: number };
}

/** A native transcript read whole. */
export interface Transcript {
  readonly steps: readonly Step[];
  readonly model: string | undefined;
}
