/**
 * What the provisioner's word before a run is worth: may the agent start?
 * Promises: a memory that is not there, or is there in a control, is named as such and never shows as a null result;
 * a check that would cover nothing fails.
 * Does not promise: that the product says the truth; the probes ask its live state, which is the best there is.
 */
import type { GraphArm, Probes } from '../contracts/fixture.ts';

/** The two replies before the agent's start, as far as they decide anything. */
export interface Provisioned {
  readonly queueBeforeCount: number;
  readonly queueAfterCount: number;
  readonly state: Readonly<Record<string, number>>;
  readonly probes: Probes;
}

/** What the fixture declares for the restored graph; nothing for a control. */
export type Expectation = GraphArm['expect'] | undefined;

/** The words of the receipt's status; `reason` is for people. */
export type Provision =
  | { readonly verdict: 'ok' }
  | {
      readonly verdict: 'memory_absent' | 'memory_present' | 'provision_failed';
      readonly reason: string;
    };

const PROBES = ['fulltext', 'semantic', 'graph'] as const;

/**
 * In this order: a queue that is not drained says nothing about memory yet; then the probes, because an empty store is
 * an absent memory before it is a wrong count; then the counts. O(ids).
 */
export function judgeProvision(found: Provisioned, expected: Expectation): Provision {
  return (
    queue(found) ??
    (expected === undefined ? absence(found) : presence(found, expected)) ??
    counts(found, expected)
  );
}

function queue({ queueBeforeCount, queueAfterCount }: Provisioned): Provision | undefined {
  const left = Math.max(queueBeforeCount, queueAfterCount);
  return left === 0 ? undefined : failed(`the queue is not drained: ${left} left`);
}

function presence({ probes }: Provisioned, expected: NonNullable<Expectation>): Provision | undefined {
  if (PROBES.every((name) => expected.probes[name].length === 0)) {
    return failed('the fixture declares nothing that a probe must find');
  }
  for (const name of PROBES) {
    const missing = expected.probes[name].find((id) => !probes[name].includes(id));
    if (missing !== undefined)
      return { verdict: 'memory_absent', reason: `the ${name} probe lacks ${missing}` };
  }
  return undefined;
}

function absence({ probes }: Provisioned): Provision | undefined {
  for (const name of PROBES) {
    const [id] = probes[name];
    if (id !== undefined) return { verdict: 'memory_present', reason: `the ${name} probe finds ${id}` };
  }
  return undefined;
}

/** Declared counts are equal; a count that nobody declared is zero. */
function counts({ state }: Provisioned, expected: Expectation): Provision {
  const declared = expected?.state ?? {};
  for (const name of [...new Set([...Object.keys(declared), ...Object.keys(state)])].sort()) {
    const [wanted, has] = [count(declared, name) ?? 0, count(state, name)];
    if (has === undefined || has !== wanted) {
      return failed(`state ${name}: declared ${wanted}, restored ${has ?? 'none'}`);
    }
  }
  return { verdict: 'ok' };
}

const count = (of: Readonly<Record<string, number>>, name: string): number | undefined =>
  Object.hasOwn(of, name) ? of[name] : undefined;

const failed = (reason: string): Provision => ({ verdict: 'provision_failed', reason });
