/**
 * The words of the provisioner protocol (DESIGN section 5): what goes in, what may come out.
 * Promises: strict at every level; an accepted reply is one JSON object with exactly these fields; counts are
 * non-negative integers within 2^53-1, seconds become decimal strings. `-0` is read as 0 and `1e2` as 100: both read
 * back as the number that was sent.
 * Does not promise: a tolerant reader. A log line on stdout is a refusal.
 */
import { z } from 'zod';
import { isFault } from '../../store/format/errors.ts';
import { decimalOf, type Json, parseJson } from '../../store/format/json.ts';
import { type RefusalRule, refuseProvision, type Said } from './refusal.ts';

const count = () => z.int().min(0);
const seconds = () =>
  z
    .number()
    .min(0)
    .transform((value) => decimalOf(String(value)) ?? '0');
/** Ours only to hand back; what an operator prints or a product makes a path of must lead nowhere. */
const project = () =>
  z
    .string()
    .min(1)
    .max(512)
    .refine((text) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text), 'a name without control characters')
    .refine(
      (text) => !/^[/\\~]|^[A-Za-z]:[/\\]/.test(text) && !text.split(/[/\\]/).includes('..'),
      'a name that leads nowhere',
    );
const ids = () => z.array(z.string().min(1).max(512));
/** A key that may stand in a record. */
const KEY = /^[A-Za-z0-9_.:-]{1,64}$/;

export const replies = {
  restore: z.strictObject({ project: project(), queue_before_count: count(), restore_seconds: seconds() }),
  snapshot: z.strictObject({
    state: z.record(z.string().regex(KEY), count()),
    probes: z.strictObject({ fulltext: ids(), semantic: ids(), graph: ids() }),
    queue_after_count: count(),
    snapshot_seconds: seconds(),
  }),
  destroy: z.strictObject({ ok: z.literal(true) }),
  recall: z.strictObject({
    memories: z.array(z.strictObject({ id: z.string().min(1).max(512), text: z.string().min(1) })),
  }),
} as const;
export type Verb = keyof typeof replies;
export type Reply<V extends Verb> = z.output<(typeof replies)[V]>;

/** The value of a reply. Throws E_PROVISION with the rule that it breaks. */
export function readReply<V extends Verb>(verb: V, said: Said): Reply<V> {
  const value = parsed(verb, said);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refuseProvision(verb, 'not-one-object', Array.isArray(value) ? 'a list' : typeof value, shown(said));
  }
  const read = replies[verb].safeParse(value);
  if (read.success) return read.data as Reply<V>;
  const [issue] = read.error.issues;
  return refuseProvision(verb, ruleOf(issue, value), issueText(issue), shown(said));
}

function parsed(verb: Verb, said: Said): Json {
  if (said.stdout.length === 0) refuseProvision(verb, 'not-one-object', 'nothing', shown(said));
  try {
    return parseJson(said.stdout, { maxBytes: Number.MAX_SAFE_INTEGER, maxDepth: 16 });
  } catch (cause) {
    if (!isFault(cause, 'E_JSON')) throw cause;
    const { where, wanted = '', found } = cause.data;
    return refuseProvision(verb, FAULTS[wanted] ?? 'not-one-object', `${found} at ${where}`, shown(said));
  }
}

/** What the JSON reader wanted -> our rule. */
const FAULTS: Readonly<Record<string, RefusalRule>> = {
  'JSON without a byte order mark': 'bom',
  'UTF-8': 'encoding',
  'well-formed Unicode': 'encoding',
  'each key once': 'duplicate-field',
  'a number that reads back': 'number',
};

function ruleOf(issue: z.core.$ZodIssue | undefined, value: unknown): RefusalRule {
  if (issue?.code === 'unrecognized_keys' || issue?.code === 'invalid_key') return 'unknown-field';
  if (issue !== undefined && valueAt(value, issue.path) === undefined) return 'missing-field';
  return 'bad-field';
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined;
  return at;
}

function issueText(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'another shape';
  const where = issue.path.map(String).join('.');
  return where === '' ? issue.message : `${where}: ${issue.message}`;
}

const shown = ({ stdout, stderr }: Said): Said => ({ stdout: stdout.subarray(0, 4096), stderr });
