/**
 * The trigger: a new leaf -> the rules that it completes -> derived records, which are new leaves in their turn.
 * Promises: after `settle` every complete binding has its record; running it twice, or from the start, adds nothing.
 * If we die anywhere, the next `settle` finds the same bindings; blocks already emitted are orphans that it puts again.
 * Does not promise: effects. What a person or an executor decides is a record that someone else puts.
 */

import type { AnyRecord } from '../rules/contracts/table.ts';
import { applyRule, type Binding, type Input, keyFor, type Rule } from '../rules/rule.ts';
import { RULES } from '../rules/table.ts';
import type { Cid } from '../store/format/cid.ts';
import type { Value } from '../store/format/codec.ts';
import type { Store } from '../store/store.ts';
import { rememberingView } from './view.ts';

export interface Derived {
  readonly rule: string;
  readonly cid: Cid;
  readonly refused: boolean;
}

export interface Trigger {
  /** Applies every rule that the records since the last call complete. Gives what was derived, in order. */
  settle(): Promise<readonly Derived[]>;
}

/** `cursor`: where to begin; left out, all records are looked at once. */
export function openTrigger(store: Store, rules: readonly Rule[] = RULES): Trigger {
  const reading = rememberingView(store);
  let cursor: string | undefined;
  return {
    async settle() {
      const derived: Derived[] = [];
      for (let more = true; more; ) {
        more = false;
        for await (const arrival of store.since(cursor)) {
          more = true;
          const subject = { cid: arrival.cid, value: await reading.view.record(arrival.cid) };
          derived.push(...(await derive(subject, rules, store, reading)));
          // Only now: a fault in between leaves this arrival to be looked at again.
          cursor = arrival.cursor;
        }
      }
      return derived;
    },
  };
}

type Subject = Input<AnyRecord>;
type Reading = ReturnType<typeof rememberingView>;

async function derive(
  subject: Subject,
  rules: readonly Rule[],
  store: Store,
  reading: Reading,
): Promise<Derived[]> {
  const derived: Derived[] = [];
  for (const rule of rules) {
    if (!rule.on.includes(subject.value.kind)) continue;
    for (const binding of await rule.bind(subject, reading.view)) {
      const one = await deriveOne(rule, binding, store, reading);
      if (one !== undefined) derived.push(one);
    }
  }
  return derived;
}

/** The record of a binding: made now, or undefined where it stands already. */
export async function deriveOne(
  rule: Rule,
  binding: Binding,
  store: Store,
  { view, reader }: Reading = rememberingView(store),
): Promise<Derived | undefined> {
  if ((await view.derived(keyFor(rule, binding))) !== undefined) return undefined;
  const value = await applyRule(rule, binding, {
    reader,
    emit: (bytes, codec) => store.put(bytes, codec),
  });
  // Blocks are durable, the record is not yet: a second application puts the same blocks and this record.
  const { cid } = await store.record(value as unknown as Value);
  return { rule: rule.name, cid, refused: 'refused' in value };
}
