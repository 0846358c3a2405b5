/**
 * Every rule, in order: the index of what this system believes. A released version is never edited or removed.
 * Promises: `ruleFor` finds the rule that made a record; an unknown one is E_RULE_UNKNOWN.
 */
import { encode, type Value } from '../store/format/codec.ts';
import { sha256Hex } from '../store/format/crypto.ts';
import { fail } from '../store/format/errors.ts';
import { auditV1 } from './audit/v1.ts';
import { certifyV1 } from './certify/v1.ts';
import { certifyRunV1 } from './certify-run/v1.ts';
import type { Derivation } from './contracts/kit.ts';
import { corpusV1 } from './corpus/v1.ts';
import { deliverV1 } from './deliver/v1.ts';
import { eligibleV1 } from './eligible/v1.ts';
import { exploreV1 } from './explore/v1.ts';
import { gradeV1 } from './grade/v1.ts';
import { outcomeV1 } from './outcome/v1.ts';
import { pairV1 } from './pair/v1.ts';
import { parityV1 } from './parity/v1.ts';
import { redactV1 } from './redact/v1.ts';
import { releaseV1 } from './release/v1.ts';
import { reportV1 } from './report/v1.ts';
import type { Rule } from './rule.ts';
import { scrubV1 } from './scrub/v1.ts';
import { summaryV1 } from './summary/v1.ts';
import { trajectoryV1 } from './trajectory/v1.ts';
import { useV1 } from './use/v1.ts';

export const RULES: readonly Rule[] = [
  redactV1,
  corpusV1,
  certifyV1,
  exploreV1,
  pairV1,
  auditV1,
  scrubV1,
  certifyRunV1,
  trajectoryV1,
  deliverV1,
  useV1,
  outcomeV1,
  gradeV1,
  parityV1,
  eligibleV1,
  summaryV1,
  reportV1,
  releaseV1,
] as unknown as readonly Rule[];

/** The rule that a derivation names. Throws E_RULE_UNKNOWN. */
export function ruleFor(derivation: Pick<Derivation, 'rule' | 'v'>): Rule {
  const rule = RULES.find(({ name, v }) => name === derivation.rule && v === derivation.v);
  if (rule !== undefined) return rule;
  const known = RULES.filter(({ name }) => name === derivation.rule).map(({ v }) => v);
  const wanted = known.length === 0 ? 'a rule of this version of ashlar' : `version ${known.join(' or ')}`;
  return fail('E_RULE_UNKNOWN', { wanted, found: `${derivation.rule} v${derivation.v}` });
}

/** Digest of the table's names and versions: a study registers it, so that later rules show. */
export function ruleTableDigest(): string {
  const table = RULES.map(({ name, v, scope, gives }) => ({ name, v, scope, gives }));
  return `sha256:${sha256Hex(encode(table as unknown as Value))}`;
}
