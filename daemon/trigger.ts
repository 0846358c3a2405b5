/**
 * The trigger: a new leaf -> the rules that it completes -> derived records, which are new leaves in their turn.
 * Promises: after `settle` every complete binding has its record; running it twice, or from the start, adds nothing.
 * If we die anywhere, the next `settle` finds the same bindings; blocks already emitted are orphans that it puts again.
 * Does not promise: effects. What a person or an executor decides is a record that someone else puts.
 */

import { parseRecord } from '../rules/contracts/table.ts';
import { applyRule, type Binding, type Input, keyFor, type Rule, type View } from '../rules/rule.ts';
import { RULES } from '../rules/table.ts';
import type { Cid } from '../store/format/cid.ts';
import type { Value } from '../store/format/codec.ts';
import type { Store } from '../store/store.ts';
import { viewOf } from './view.ts';

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
  const view = viewOf(store);
  let cursor: string | undefined;
  return {
    async settle() {
      const derived: Derived[] = [];
      for (let more = true; more; ) {
        more = false;
        for await (const arrival of store.since(cursor)) {
          more = true;
          const subject = { cid: arrival.cid, value: parseRecord(await store.value(arrival.cid)) };
          derived.push(...(await derive(subject, rules, store, view)));
          // Only now: a fault in between leaves this arrival to be looked at again.
          cursor = arrival.cursor;
        }
      }
      return derived;
    },
  };
}

type Subject = Input<ReturnType<typeof parseRecord>>;

async function derive(
  subject: Subject,
  rules: readonly Rule[],
  store: Store,
  view: View,
): Promise<Derived[]> {
  const derived: Derived[] = [];
  for (const rule of rules) {
    if (!rule.on.includes(subject.value.kind)) continue;
    for (const binding of await rule.bind(subject, view)) {
      const one = await deriveOne(rule, binding, store, view);
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
  view: View = viewOf(store),
): Promise<Derived | undefined> {
  if ((await view.derived(keyFor(rule, binding))) !== undefined) return undefined;
  const value = await applyRule(rule, binding, {
    reader: store,
    emit: (bytes, codec) => store.put(bytes, codec),
  });
  // Blocks are durable, the record is not yet: a second application puts the same blocks and this record.
  const { cid } = await store.record(value as unknown as Value);
  return { rule: rule.name, cid, refused: 'refused' in value };
}
