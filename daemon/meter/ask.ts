/**
 * Judges a request before it may cost anything: fail closed on whatever the price table cannot bound.
 * Promises: of an accepted request the model, the longest answer and the size are known, and all input is inside it.
 * Does not promise: that the upstream will accept it.
 */
import { z } from 'zod';
import { isFault } from '../../store/format/errors.ts';
import { parseJson } from '../../store/format/json.ts';

/** A request that can be priced. */
export interface Ask {
  readonly model: string;
  readonly maxTokens: number;
  readonly stream: boolean;
}
/** Why it cannot; `why` is for the agent and names nothing of ours. */
export interface Refusal {
  readonly why: string;
}

/** Deepest nesting of a request. */
const DEPTH = 100;

/** Fields that do not change the price beyond tokens in and out. Anything else is refused by name. */
const request = z.strictObject({
  model: z.string().min(1).max(200),
  max_tokens: z.int().positive().max(1_000_000),
  messages: z.array(z.unknown()).min(1),
  system: z.unknown().optional(),
  tools: z.array(z.looseObject({ type: z.literal('custom').optional() })).optional(),
  tool_choice: z.unknown().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  top_k: z.number().optional(),
  stop_sequences: z.array(z.string()).optional(),
  stream: z.boolean().optional(),
  metadata: z.unknown().optional(),
  thinking: z.unknown().optional(),
  output_config: z.unknown().optional(),
  context_management: z.unknown().optional(),
});

/** `models`: those with a price. O(size). */
export function readAsk(body: Uint8Array, models: readonly string[]): Ask | Refusal {
  let value: unknown;
  try {
    // Strict: of two fields with one name, an upstream may read the one that we did not price.
    value = parseJson(body, { maxBytes: Number.MAX_SAFE_INTEGER, maxDepth: DEPTH });
  } catch (cause) {
    if (!isFault(cause, 'E_JSON')) throw cause;
    return { why: `the body is not acceptable JSON: ${cause.data.wanted}, found ${cause.data.found}` };
  }
  const read = request.safeParse(value);
  if (!read.success) return { why: printed(read.error.issues[0]) };
  const { model, max_tokens: maxTokens, stream = false } = read.data;
  if (!models.includes(model)) return { why: `model: ${model} is not available` };
  if (reachesOut(value)) return { why: 'messages: content must be in the request itself' };
  return { model, maxTokens, stream };
}

function printed(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'the body is not acceptable';
  const where = issue.path.map(String).join('.');
  return where === '' ? issue.message : `${where}: ${issue.message}`;
}

/** Content named by address or file id has a size that we cannot see. What the model wrote into a tool is data. */
function reachesOut(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { type, source } = value as { type?: unknown; source?: { type?: unknown } };
  if ((type === 'image' || type === 'document') && (source?.type === 'url' || source?.type === 'file'))
    return true;
  return type !== 'tool_use' && Object.values(value).some(reachesOut);
}
