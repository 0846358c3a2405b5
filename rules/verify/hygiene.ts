/**
 * Hygiene: what may not be published: secrets in published evidence, reports and records.
 * Promises: the shapes of rules/secrets.ts over the published bytes of every scrubbed file and report output.
 */

import { SECRET_FINDERS } from '../secrets.ts';
import type { Faults } from './fault.ts';
import type { Library } from './library.ts';

export async function checkHygiene(library: Library, faults: Faults): Promise<void> {
  for (const [cid, record] of library.records) {
    if (record.kind !== 'scrub' || !('files' in record)) continue;
    for (const { name, scrubbed } of record.files) {
      const bytes = await library.reader.get(scrubbed['/']);
      for (const shape of secretsIn(bytes)) faults.add('hygiene', `${cid} ${name}`, `a ${shape}`);
    }
  }
}

/** Names of the shapes that stand in these bytes. */
function secretsIn(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes).toString('latin1');
  return SECRET_FINDERS.filter((finder) => finder.find(text, 0) !== undefined).map(({ name }) => name);
}
