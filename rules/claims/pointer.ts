/** JSON pointers (RFC 6901) into records. */
import type { Value } from '../../store/format/codec.ts';

/** The value at a pointer; undefined where there is none. */
export function pointed(value: Value | undefined, pointer: string): Value | undefined {
  let at = value;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replace(/~1/g, '/').replace(/~0/g, '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, Value>)[name];
  }
  return at;
}
