/**
 * Every record kind that this system knows, and how a value is read as one.
 * Promises: `parseRecord` accepts exactly the values that some contract describes, frozen at every level.
 * Does not promise: that links resolve (the store) or that a derived record is right (its rule).
 */
import type { z } from 'zod';
import { type Cid, type Digest, digestOfEvidence } from '../../store/format/cid.ts';
import { encode, type Value } from '../../store/format/codec.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import { fail } from '../../store/format/errors.ts';
import { acceptance } from './acceptance.ts';
import { addendum } from './addendum.ts';
import { admission } from './admission.ts';
import { agent } from './agent.ts';
import { amendment } from './amendment.ts';
import { audit } from './audit.ts';
import { certificate } from './certificate.ts';
import { challenge } from './challenge.ts';
import { claim } from './claim.ts';
import { close } from './close.ts';
import { condition } from './condition.ts';
import { corpus } from './corpus.ts';
import { delivery } from './delivery.ts';
import { deviation } from './deviation.ts';
import { eligibility } from './eligibility.ts';
import { exchange } from './exchange.ts';
import { fixture } from './fixture.ts';
import { grade } from './grade.ts';
import { injection } from './injection.ts';
import { type Derivation, derivationOf } from './kit.ts';
import { ledger } from './ledger.ts';
import { type References, references } from './links.ts';
import { name } from './name.ts';
import { outcome } from './outcome.ts';
import { override } from './override.ts';
import { parity } from './parity.ts';
import { plan } from './plan.ts';
import { receipt } from './receipt.ts';
import { redaction } from './redaction.ts';
import { release } from './release.ts';
import { report } from './report.ts';
import { runCertificate } from './run_certificate.ts';
import { scrub } from './scrub.ts';
import { source } from './source.ts';
import { start } from './start.ts';
import { study } from './study.ts';
import { summary } from './summary.ts';
import { taskExclusion } from './task_exclusion.ts';
import { trajectory } from './trajectory.ts';
import { use } from './use.ts';
import { validation } from './validation.ts';

/** kind -> contract. */
export const CONTRACTS = {
  acceptance,
  addendum,
  admission,
  agent,
  amendment,
  audit,
  certificate,
  challenge,
  claim,
  close,
  condition,
  corpus,
  delivery,
  deviation,
  eligibility,
  exchange,
  fixture,
  grade,
  injection,
  ledger,
  name,
  outcome,
  override,
  parity,
  plan,
  receipt,
  redaction,
  release,
  report,
  run_certificate: runCertificate,
  scrub,
  source,
  start,
  study,
  summary,
  task_exclusion: taskExclusion,
  trajectory,
  use,
  validation,
} as const satisfies Record<string, z.ZodType>;

export type Kind = keyof typeof CONTRACTS;
/** kind -> the type of its records. */
export type RecordOf<K extends Kind> = z.infer<(typeof CONTRACTS)[K]>;
export type AnyRecord = { [K in Kind]: RecordOf<K> }[Kind];

export function isKind(text: unknown): text is Kind {
  return typeof text === 'string' && Object.hasOwn(CONTRACTS, text);
}

/** Reads a value as a record. Throws E_KIND for an unknown kind, E_CONTRACT for a broken contract. */
export function parseRecord(value: Value): AnyRecord {
  const kind = kindOf(value);
  if (!isKind(kind)) fail('E_KIND', { wanted: 'a known record kind', found: foundKind(value) });
  return parseAs(kind, value);
}

/** Reads a value as a record of one kind. Throws E_KIND, E_CONTRACT. */
export function parseAs<K extends Kind>(kind: K, value: Value): RecordOf<K> {
  const found = kindOf(value);
  if (found !== kind) fail('E_KIND', { wanted: kind, found: foundKind(value) });
  const result = (CONTRACTS[kind] as z.ZodType).safeParse(value);
  if (result.success) return result.data as RecordOf<K>;
  const issue = deepest(result.error.issues);
  return fail('E_CONTRACT', { where: `${kind} /${issue.path.join('/')}`, found: issue.message });
}

/** The links and evidence references of a record. */
export function referencesOf(record: AnyRecord): References {
  return references(CONTRACTS[record.kind], record);
}

/** SHA-256 of the canonical derivation: one key, one record. */
export function derivationKey(derivation: Derivation): string {
  return sha256Hex(encode(derivation as unknown as Value));
}

function kindOf(value: Value): unknown {
  return typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
}

/** What stands where a kind was wanted. */
function foundKind(value: Value): string {
  if (typeof value !== 'object' || value === null)
    return `a value that is no map: ${JSON.stringify(value)}`.slice(0, 80);
  if (Array.isArray(value)) return 'a list';
  const kind = kindOf(value);
  return typeof kind === 'string' ? kind : 'a map without the field `kind`';
}

type Issue = z.core.$ZodIssue;

// A union reports one list of issues per option; the option that got furthest says what is wrong.
function deepest(issues: readonly Issue[]): { path: PropertyKey[]; message: string } {
  let best: { path: PropertyKey[]; message: string } = { path: [], message: 'unreadable' };
  for (const issue of issues) {
    const inner =
      issue.code === 'invalid_union' ? deepest(issue.errors.flat()) : { path: [], message: issue.message };
    const path = [...issue.path, ...inner.path];
    if (path.length >= best.path.length) best = { path, message: inner.message };
  }
  return best;
}

/** Kinds whose records stand in the log of their study's family. */
export const FAMILY_KINDS: ReadonlySet<string> = new Set<Kind>([
  'study',
  'amendment',
  'addendum',
  'deviation',
  'task_exclusion',
  'start',
  'receipt',
  'admission',
  'override',
  'close',
  'release',
]);

type Read = (cid: Cid) => Promise<Value>;

/** The link that leads one step nearer to the study of a family-log record. */
function towardsStudy(record: AnyRecord): Cid | undefined {
  if (record.kind === 'amendment') return record.after['/'];
  if (record.kind === 'receipt') return record.start['/'];
  if (record.kind === 'release' && 'close' in record) return record.close['/'];
  return 'study' in record ? record.study['/'] : undefined;
}

/** First study of the family whose log takes this record; null where the store log does. */
async function family(value: Value, cid: Cid, read: Read): Promise<Cid | null> {
  const record = parseRecord(value);
  if (!FAMILY_KINDS.has(record.kind)) return null;
  if (record.kind === 'study') return record.family?.['/'] ?? cid;
  const next = towardsStudy(record);
  return next === undefined ? null : family(await read(next), next, read);
}

/** What must be unique within one log: a receipt by its start; a start by plan, attempt and arm. */
function uniqueKey(record: AnyRecord): string | undefined {
  if (record.kind === 'receipt') return `receipt ${record.start['/']}`;
  if (record.kind === 'start') return `start ${record.plan['/']} ${record.attempt} ${record.arm}`;
  return undefined;
}

/** The record kinds as the store sees them: it knows no benchmark word itself. */
export const KIND_TABLE = {
  facts(value: Value) {
    const record = parseRecord(value);
    const { links, evidence } = referencesOf(record);
    const derivation = derivationOf(record);
    const unique = uniqueKey(record);
    return {
      kind: record.kind as string,
      links,
      evidence: evidence.map(digestOfEvidence),
      ...(unique === undefined ? {} : { unique }),
      ...(derivation === undefined ? {} : { derivation: derivationKey(derivation) as Digest }),
    };
  },
  family,
};
