/**
 * Harbor's Agent Trajectory Interchange Format, v1.7 (RFC 0001): written from steps and read back.
 * Promises: an injection becomes a system step with `extra.context_management` of type `injection`; what only the user
 * saw and what is a recap carry their own marks, so that a reader never has to guess from text.
 */
import type { Json } from '../../store/format/json.ts';
import { asMap, asText, type JsonMap } from './lines.ts';
import type { Step } from './step.ts';

export interface AtifAgent {
  readonly name: string;
  readonly version: string;
  readonly model_name: string;
}

const SOURCES = {
  user: 'user',
  agent: 'agent',
  injection: 'system',
  tool: 'system',
  notice: 'system',
} as const;

/** The document of a trajectory; step ids count from 1. */
export function toAtif(agent: AtifAgent, steps: readonly Step[]): Json {
  const prompt = sum(steps, 'input');
  const completion = sum(steps, 'output');
  return {
    schema_version: 'ATIF-v1.7',
    agent: { ...agent },
    steps: steps.map((step, i) => atifStep(step, i + 1)),
    final_metrics: {
      total_prompt_tokens: prompt,
      total_completion_tokens: completion,
      total_steps: steps.length,
    },
  };
}

const sum = (steps: readonly Step[], field: 'input' | 'output'): number =>
  steps.reduce((total, { usage }) => total + (usage?.[field] ?? 0), 0);

function atifStep(step: Step, id: number): Json {
  const head = {
    step_id: id,
    source: SOURCES[step.source as keyof typeof SOURCES] ?? 'system',
    message: step.text,
  };
  const extra = { native: step.native, ...marksOf(step) };
  return { ...head, ...callFields(step), ...metricFields(step), extra };
}

function marksOf(step: Step): Record<string, Json> {
  if (step.source === 'injection') {
    const management = { type: 'injection', boundary: 'append' };
    return { context_management: management, channel: step.channel ?? 'hook' };
  }
  if (step.source === 'recap') return { context_management: { type: 'compaction', boundary: 'replace' } };
  if (step.source === 'notice') return { shown_to: 'user' };
  if (step.answers === undefined) return {};
  return {
    answers: step.answers.call,
    ...(step.answers.tool === undefined ? {} : { tool: step.answers.tool }),
  };
}

function callFields(step: Step): Record<string, Json> {
  if (step.calls === undefined || step.calls.length === 0) return {};
  const calls = step.calls.map(({ id, name, input }) => ({
    tool_call_id: id,
    function_name: name,
    arguments: input as Json,
  }));
  return { tool_calls: calls };
}

function metricFields({ usage }: Step): Record<string, Json> {
  return usage === undefined
    ? {}
    : { metrics: { prompt_tokens: usage.input, completion_tokens: usage.output } };
}

/** A step of a document as the later layers need it. */
export interface AtifStep {
  readonly id: number;
  readonly native: string;
  readonly kind: 'user' | 'agent' | 'injection' | 'tool' | 'other';
  readonly text: string;
  readonly channel: string | undefined;
  readonly tool: string | undefined;
  readonly calls: readonly JsonMap[];
}

/** Reads the steps of a document written by `toAtif`. */
export function fromAtif(document: Json): AtifStep[] {
  const { steps } = asMap(document);
  return (Array.isArray(steps) ? steps : []).map(asMap).map((step) => {
    const extra = asMap(step.extra);
    const calls = Array.isArray(step.tool_calls) ? step.tool_calls.map(asMap) : [];
    return {
      id: step.step_id as number,
      native: asText(extra.native),
      kind: kindOf(step, extra),
      text: asText(step.message),
      channel: typeof extra.channel === 'string' ? extra.channel : undefined,
      tool: typeof extra.tool === 'string' ? extra.tool : undefined,
      calls,
    };
  });
}

function kindOf(step: JsonMap, extra: JsonMap): AtifStep['kind'] {
  if (asMap(extra.context_management).type === 'injection') return 'injection';
  if (extra.context_management !== undefined || extra.shown_to === 'user') return 'other';
  if (extra.answers !== undefined) return 'tool';
  return step.source === 'user' ? 'user' : step.source === 'agent' ? 'agent' : 'other';
}
