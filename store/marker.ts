/**
 * The marker file: what makes a folder a store.
 * Promises: one format version; another is refused by name.
 * Does not promise: that the rest of the folder is there.
 */

import { damaged, otherwiseDamaged } from './damage.ts';
import { type Files, readWhole, writeDurably } from './files.ts';
import { decode, encode, type Value } from './format/codec.ts';
import { fail } from './format/errors.ts';
import { FORMAT, folders, type Layout } from './keys.ts';

export interface Marker {
  /** The store's own id, in the names of its logs. */
  readonly id: string;
}

const WANTED = `an ashlar store of format ${FORMAT}`;
const ID = /^[0-9a-f]{16}$/;

/** Throws E_STORE_FORMAT for what is no store or one of another format, E_STORE_DAMAGED for a marker that does not read. */
export function readMarker(files: Files, layout: Layout): Marker {
  const bytes = readWhole(files, layout.marker);
  if (bytes === null) return noMarker(files, layout);
  const value = otherwiseDamaged(layout.marker, WANTED, () => decode(bytes)) as Record<string, Value> | null;
  const { format, id } = value ?? {};
  if (typeof format === 'number' && format !== FORMAT)
    fail('E_STORE_FORMAT', { where: layout.marker, wanted: WANTED, found: `format ${format}` });
  if (format !== FORMAT || typeof id !== 'string' || !ID.test(id))
    return damaged(layout.marker, WANTED, 'another shape');
  return { id };
}

/** Folders alone are an init that was interrupted; with something in them they are a store that lost its marker. */
function noMarker(files: Files, layout: Layout): never {
  if (holdsSomething(files, layout)) damaged(layout.marker, WANTED, 'nothing');
  return fail('E_STORE_FORMAT', {
    where: layout.root,
    wanted: WANTED,
    found: 'no ashlar.json',
    hint: '`ashlar init` makes one',
  });
}

/** Whether all the folders of a store are there, and blocks or logs in them. */
export function holdsSomething(files: Files, layout: Layout): boolean {
  const all = folders(layout).every((folder) => files.size(folder) !== null);
  return all && [layout.segments, layout.big, layout.logs].some((folder) => files.list(folder).length > 0);
}

export async function writeMarker(files: Files, layout: Layout, { id }: Marker): Promise<void> {
  await writeDurably(files, layout.marker, encode({ format: FORMAT, id }), layout.temporary());
}
