/** What a block is, told from its bytes: a record, a tree node, a snapshot, or a file. */
import { type Cid, codecOf } from '../store/format/cid.ts';
import { decode, type Value } from '../store/format/codec.ts';
import type { Reader } from '../store/format/reader.ts';
import { type AnyRecord, isKind, type Kind, parseRecord } from './contracts/table.ts';

/** A Reader that may hold records as they were parsed before: bytes never change under their CID. */
export interface RecordReader extends Reader {
  /** Throws what `get` throws, E_CODEC, E_KIND, E_CONTRACT. */
  readonly parsed?: (cid: Cid) => Promise<AnyRecord>;
}

/** Reads one record of any kind. Throws E_NOT_FOUND, E_CODEC, E_KIND, E_CONTRACT. */
export async function readRecord(cid: Cid, reader: RecordReader): Promise<AnyRecord> {
  return reader.parsed === undefined ? parseRecord(decode(await reader.get(cid))) : reader.parsed(cid);
}

/** The record of a block; undefined for what is none. Throws E_CODEC, E_CONTRACT, and what the reader throws. */
export async function recordIn(cid: Cid, reader: Reader): Promise<AnyRecord | undefined> {
  if (codecOf(cid) === 'raw') return undefined;
  const value = decode(await reader.get(cid));
  return kindIn(value) === undefined ? undefined : parseRecord(value);
}

/** The record kind that a value names; undefined where it names none that is known. */
export function kindIn(value: Value): Kind | undefined {
  const kind = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
  return isKind(kind) ? kind : undefined;
}
