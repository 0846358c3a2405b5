/** Claims: each printed number equals its field and stands in its page. */
import type { Cid } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { type Faults, guarded } from './fault.ts';
import type { Library } from './library.ts';

export async function checkClaims(claims: readonly Cid[], library: Library, faults: Faults): Promise<void> {
  for (const cid of claims) {
    await guarded(faults, 'claim', cid, async () => {
      const claim = library.records.get(cid);
      if (claim?.kind !== 'claim') throw new Error('no such claim');
      const record = library.records.get(claim.record['/']) as unknown as Value | undefined;
      const value = pointed(record, claim.field);
      if (String(value) !== claim.printed)
        throw new Error(`prints ${claim.printed}, the field holds ${String(value)}`);
      const page = Buffer.from(await library.reader.get(claim.page['/'])).toString('utf8');
      if (!page.includes(claim.printed)) throw new Error(`${claim.printed} does not stand in its page`);
    });
  }
}

/** The value at a JSON pointer (RFC 6901); undefined where there is none. */
export function pointed(value: Value | undefined, pointer: string): Value | undefined {
  let at = value;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replace(/~1/g, '/').replace(/~0/g, '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, Value>)[name];
  }
  return at;
}
