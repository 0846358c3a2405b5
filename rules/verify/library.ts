/**
 * The blocks of a publication as a Reader and a View: only files whose bytes are right are in it.
 * Promises: every read is hashed again; a record that breaks its contract is a fault and not in the view.
 */
import { type Cid, cidOf, codecOf, digestOf } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Reader } from '../../store/format/reader.ts';
import { type RecordReader, readRecord, recordIn } from '../blocks.ts';
import { derivationOf } from '../contracts/kit.ts';
import { type AnyRecord, derivationKey, referencesOf } from '../contracts/table.ts';
import { blockPath, cidOfPath } from '../release/files.ts';
import type { View } from '../rule.ts';
import { type Faults, guarded } from './fault.ts';
import type { Publication } from './source.ts';

export interface Library {
  readonly reader: RecordReader;
  readonly view: View;
  readonly records: ReadonlyMap<Cid, AnyRecord>;
  readonly blocks: ReadonlySet<Cid>;
}

/** Indexes the blocks at these paths. O(bytes of records). */
export async function openLibrary(
  source: Publication,
  paths: ReadonlySet<string>,
  faults: Faults,
): Promise<Library> {
  const places = new Map<string, string>();
  const blocks = new Set<Cid>();
  for (const path of paths) {
    const cid = cidOfPath(path);
    if (cid === undefined) continue;
    blocks.add(cid);
    places.set(digestOf(cid), path);
  }
  const plain = readerOf(source, places);
  const records = new Map<Cid, AnyRecord>();
  for (const cid of [...blocks].sort()) {
    const record = await guarded(faults, 'record', cid, () => recordIn(cid, plain));
    if (record !== undefined) records.set(cid, record);
  }
  const reader = { ...plain, parsed: async (cid: Cid) => records.get(cid) ?? readRecord(cid, plain) };
  return { reader, view: viewOf(plain, records), records, blocks };
}

function readerOf(source: Publication, places: ReadonlyMap<string, string>): Reader {
  const placeOf = (cid: Cid): string =>
    places.get(digestOf(cid)) ??
    fail('E_NOT_FOUND', { where: blockPath(cid), wanted: cid, found: 'no such file' });
  const get = async (cid: Cid): Promise<Uint8Array> => {
    const bytes = await source.read(placeOf(cid));
    const found = cidOf(codecOf(cid), bytes);
    return found === cid ? bytes : fail('E_DIGEST', { where: blockPath(cid), wanted: cid, found });
  };
  return {
    get,
    has: async (cid) => places.has(digestOf(cid)),
    async *stream(cid, range) {
      const bytes = await get(cid);
      yield range === undefined ? bytes : bytes.subarray(range.start, range.end);
    },
  };
}

function viewOf(reader: Reader, records: ReadonlyMap<Cid, AnyRecord>): View {
  const kinds = new Map<string, Cid[]>();
  const linkers = new Map<string, Cid[]>();
  const derived = new Map<string, Cid>();
  for (const [cid, record] of records) {
    append(kinds, record.kind, cid);
    const targets = new Set(referencesOf(record).links.map((each) => each.cid));
    for (const target of targets) append(linkers, `${record.kind} ${target}`, cid);
    const derivation = derivationOf(record);
    if (derivation !== undefined) derived.set(derivationKey(derivation), cid);
  }
  return {
    record: async (cid) =>
      records.get(cid) ?? fail('E_NOT_FOUND', { where: cid, wanted: 'a record of the release' }),
    bytes: reader.get,
    byKind: async (kind) => kinds.get(kind) ?? [],
    linkers: async (cid, kind) => linkers.get(`${kind} ${cid}`) ?? [],
    derived: async (key) => derived.get(key),
  };
}

function append(lists: Map<string, Cid[]>, key: string, cid: Cid): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [cid]);
  else list.push(cid);
}
