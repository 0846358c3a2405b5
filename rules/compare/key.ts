/**
 * The comparability key: the one definition (DESIGN section 2, Comparability key).
 * Promises: two results may be pooled, drawn on one line or subtracted only where their keys are equal.
 * The build under test is not in it: it labels the point.
 */
import { encode, type Value } from '../../store/format/codec.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import type { Agent } from '../contracts/agent.ts';
import type { Challenge } from '../contracts/challenge.ts';
import type { Full } from '../contracts/kit.ts';
import type { Plan } from '../contracts/plan.ts';
import type { Input } from '../rule.ts';

export interface KeyFields {
  readonly challenge: string;
  readonly fixture: string;
  readonly agent: string;
  readonly model: string;
  readonly conditions: Readonly<Record<string, string>>;
  readonly manifest: string;
  readonly verifier: string;
  readonly sourceCommit: string;
}

/** The fields that make two results comparable. `sourceCommit` is the commit of the fixture's corpus. */
export function keyFields(
  plan: Full<Plan>,
  challenge: Challenge,
  agent: Input<Agent>,
  sourceCommit: string,
): KeyFields {
  const { shared, arms } = plan;
  const manifest = {
    agentTimeoutSeconds: challenge.agentTimeoutSeconds,
    environment: challenge.environment,
    network: shared.network,
    limits: agent.value.limits,
    images: shared.images,
    graders: shared.graders,
  };
  return {
    challenge: shared.challenge['/'],
    fixture: shared.fixture['/'],
    agent: agent.cid,
    model: agent.value.model,
    conditions: Object.fromEntries(Object.entries(arms).map(([name, condition]) => [name, condition['/']])),
    manifest: digest(manifest as unknown as Value),
    verifier: digest(challenge.verifier as unknown as Value),
    sourceCommit,
  };
}

/** SHA-256 of the canonical fields, in hexadecimal. */
export function comparabilityKey(fields: KeyFields): string {
  return digest(fields as unknown as Value);
}

/** The names of the fields in which two keys differ. */
export function keyDifferences(a: KeyFields, b: KeyFields): readonly (keyof KeyFields)[] {
  const names = Object.keys(a) as (keyof KeyFields)[];
  return names.filter((name) => digest(a[name] as Value) !== digest(b[name] as Value));
}

const digest = (value: Value): string => sha256Hex(encode(value));
