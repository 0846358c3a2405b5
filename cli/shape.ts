/** What a dag-json block is: a record, a tree node, a snapshot, or any other value. */
import { type Cid, codecOf } from '../store/format/cid.ts';
import type { Value } from '../store/format/codec.ts';
import type { Store } from '../store/store.ts';

export interface Shape {
  readonly shape: 'raw' | 'record' | 'tree' | 'snapshot' | 'value';
  readonly value?: Value;
}

/** Throws E_NOT_FOUND, E_DIGEST, E_CODEC. */
export async function shapeOf(store: Store, cid: Cid): Promise<Shape> {
  if (codecOf(cid) === 'raw') return { shape: 'raw' };
  const value = await store.value(cid);
  if ((await store.kindOf(cid)) !== null) return { shape: 'record', value };
  const keys = typeof value === 'object' && value !== null ? Object.keys(value).sort().join() : '';
  if (keys === 'entries') return { shape: 'tree', value };
  return { shape: keys === 'mode,tree' ? 'snapshot' : 'value', value };
}
