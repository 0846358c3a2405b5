/**
 * The marker file: what makes a folder a store.
 * Promises: one format version; another is refused by name.
 * Does not promise: that the rest of the folder is there.
 */

import { type Files, readWhole, writeDurably } from './files.ts';
import { decode, encode, type Value } from './format/codec.ts';
import { fail } from './format/errors.ts';
import { FORMAT, type Layout } from './keys.ts';

export interface Marker {
  /** The store's own id, in the names of its logs. */
  readonly id: string;
}

/** Throws E_STORE_FORMAT, E_CODEC. */
export function readMarker(files: Files, layout: Layout): Marker {
  const bytes = readWhole(files, layout.marker);
  const wanted = `an ashlar store of format ${FORMAT}`;
  if (bytes === null) {
    const hint = '`ashlar init` makes one';
    fail('E_STORE_FORMAT', { where: layout.root, wanted, found: 'no ashlar.json', hint });
  }
  const { format, id } = decode(bytes) as Record<string, Value>;
  if (format !== FORMAT || typeof id !== 'string')
    fail('E_STORE_FORMAT', { where: layout.marker, wanted, found: `format ${String(format)}` });
  return { id };
}

export async function writeMarker(files: Files, layout: Layout, { id }: Marker): Promise<void> {
  await writeDurably(files, layout.marker, encode({ format: FORMAT, id }), layout.temporary());
}
