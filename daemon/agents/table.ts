/**
 * The agents that this build can run, by the name that an `agent` record uses.
 * Promises: what is listed runs. Does not promise: any other.
 */
import { fail } from '../../store/format/errors.ts';
import type { Adapter } from './adapter.ts';
import { builtin } from './builtin/adapter.ts';

export const ADAPTERS: readonly Adapter[] = [builtin];

/** Throws E_CONFIG for a name that is not listed. */
export function adapterOf(name: string): Adapter {
  const wanted = ADAPTERS.map((adapter) => adapter.name).join(', ');
  return (
    ADAPTERS.find((adapter) => adapter.name === name) ??
    fail('E_CONFIG', { where: 'adapter', wanted, found: name })
  );
}
