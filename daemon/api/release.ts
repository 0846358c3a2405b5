/** Where a closure stops: an earlier release is in it, what it links to is not. */

import type { Cid } from '../../store/format/cid.ts';
import type { ClosureOptions } from '../../store/format/closure.ts';

export function earlierRelease(roots: readonly Cid[]): NonNullable<ClosureOptions['stop']> {
  const own = new Set(roots);
  return (cid, value) =>
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    value.kind === 'release' &&
    !own.has(cid);
}
