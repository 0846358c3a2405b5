/**
 * The `Store` of a folder, out of its parts.
 * Promises: what the interface says.
 * Does not promise: anything of its own; every verb is one call.
 */

import type { Blocks } from './blocks/blocks.ts';
import type { Catalog, Standing } from './catalog/catalog.ts';
import { type Cid, type Codec, digestOf, type Evidence } from './format/cid.ts';
import { decode, type Value } from './format/codec.ts';
import { fail, isFault } from './format/errors.ts';
import type { Range } from './format/reader.ts';
import { entryBundle, TILE_WIDTH, type Tile } from './format/tile.ts';
import { parseLeaf } from './log/leaf.ts';
import { splitLines } from './log/lines.ts';
import type { Log } from './log/log.ts';
import type { LogSet } from './log/logs.ts';
import { checkName, nameValue } from './names.ts';
import type { Records } from './records.ts';
import { factsOf, replay } from './replay.ts';
import type { KindTable, Leaf, LeafPlace, LogCopy, LogInfo, Logs, NameHead, Owner, Store } from './store.ts';

export interface StoreParts {
  readonly blocks: Blocks;
  readonly catalog: Catalog;
  readonly logs: LogSet;
  readonly records: Records;
  readonly kinds: KindTable;
  readonly path: string;
  readonly writable: boolean;
  announce(owner: Owner): Promise<void>;
  /** Lets go of what the parts stand on. */
  release(): Promise<void>;
}

export function storeOf(parts: StoreParts): Store {
  const { blocks, records } = parts;
  return {
    path: parts.path,
    writable: parts.writable,
    get: blocks.get,
    stream: blocks.stream,
    has: blocks.has,
    size: blocks.size,
    put: (content, codec) => put(blocks, content, codec),
    putStream: blocks.putStream,
    putMany: blocks.putMany,
    async record(value, options) {
      if (!parts.writable) fail('E_READ_ONLY', { where: parts.path });
      const { standing, added } = await records.record(value, options);
      return { ...placeOf(parts, standing), added };
    },
    value: async (cid) => decode(await blocks.get(cid)),
    ...queriesOf(parts),
    onRecords: records.onRecords,
    setName: (name, target, previous) => setName(parts, name, target, previous),
    logs: logsOf(parts),
    announce: (owner) => parts.announce(owner),
    close: () => close(parts),
  };
}

type Queries = Pick<
  Store,
  'byKind' | 'linkers' | 'evidenceOf' | 'derived' | 'kindOf' | 'leafOf' | 'since' | 'name' | 'names'
>;

/** What the catalog answers: nothing, where a log that it is made from did not open. */
function queriesOf(parts: StoreParts): Queries {
  const known = (): Catalog => {
    parts.logs.mustBeSound();
    return parts.catalog;
  };
  return {
    byKind: (kind) => later(() => known().byKind(kind)),
    linkers: (cid, kind) => later(() => known().linkers(cid, kind)),
    evidenceOf: (reference: Evidence, kind) => later(() => known().linkers(reference, kind)),
    derived: async (derivation) => known().derived(derivation),
    kindOf: async (cid) => known().standing(cid)?.kind ?? null,
    leafOf: async (cid) => {
      const standing = known().standing(cid);
      return standing === null ? null : placeOf(parts, standing);
    },
    since: (cursor) => later(() => since(known(), parts, cursor)),
    name: async (name) => head(known(), name),
    names: (start = '') => later(() => catalogNames(known(), start)),
  };
}

/** The same items; what stands in their way is thrown when the first is asked for. */
async function* later<T>(items: () => AsyncIterable<T>): AsyncGenerator<T> {
  yield* items();
}

async function put(
  blocks: Blocks,
  content: Uint8Array | AsyncIterable<Uint8Array>,
  codec: Codec = 'raw',
): Promise<Cid> {
  const stored =
    content instanceof Uint8Array ? blocks.put(content, { codec }) : blocks.putStream(content, { codec });
  return (await stored).cid;
}

async function close({ records, blocks, logs, release }: StoreParts): Promise<void> {
  try {
    await records.drain();
    await blocks.close();
    logs.close();
  } finally {
    // Whatever failed before: a closed store must not keep others out.
    await release();
  }
}

function placeOf({ logs }: StoreParts, { kind, cid, at, log, index }: Standing): LeafPlace {
  const origin = logs.named(log)?.origin ?? fail('E_STORE_DAMAGED', { where: cid, wanted: `log ${log}` });
  return { kind, cid, at, log: origin, index };
}

async function* since(catalog: Catalog, parts: StoreParts, cursor: string | undefined) {
  for await (const row of catalog.since(cursor))
    yield { ...placeOf(parts, row.standing), cursor: row.cursor };
}

function head(catalog: Catalog, name: string): NameHead | null {
  checkName(name);
  const row = catalog.name(name);
  return row === null ? null : { name, target: row.target, record: row.record };
}

async function* catalogNames(catalog: Catalog, start: string): AsyncGenerator<NameHead> {
  for await (const { name, target, record } of catalog.names(start)) yield { name, target, record };
}

/** Times that a name is read again when somebody else moved it between reading and writing. */
const TRIES = 5;

async function setName(
  parts: StoreParts,
  name: string,
  target: Cid | null,
  previous: Cid | null | undefined,
): Promise<NameHead> {
  parts.logs.mustBeSound();
  for (let tries = 1; ; tries++) {
    const now = head(parts.catalog, name);
    if (previous === undefined && now?.target === target) return now;
    const value = nameValue({
      name,
      target,
      previous: previous === undefined ? (now?.record ?? null) : previous,
    });
    try {
      const { standing } = await parts.records.record(value);
      return { name, target, record: standing.cid };
    } catch (error) {
      if (previous !== undefined || tries === TRIES || !isFault(error, 'E_NAME_CONFLICT')) throw error;
    }
  }
}

function logsOf(parts: StoreParts): Logs {
  const { logs, catalog } = parts;
  const at = (origin: string): Log => logs.withOrigin(origin);
  return {
    list: async () => {
      logs.mustBeSound();
      return logs.all().map(infoOf);
    },
    ofFamily: async (study) => {
      const log = logs.ofFamily(study);
      return log === undefined ? null : infoOf(log);
    },
    checkpoint: async (log, size) => at(log).checkpoint(size ?? at(log).size()),
    leaves: (log, range) => leaves(catalog, at(log), range),
    leafBytes: (log, range) => leafBytes(catalog, at(log), range),
    root: async (log, size) => at(log).root(size),
    inclusion: async (log, index, size) => at(log).inclusion(index, size),
    consistency: async (log, from, to) => at(log).consistency(from, to),
    tile: (log, tile) => tileOf(catalog, at(log), tile),
    adopt: (copy) => parts.records.exclusively(() => adopt(parts, copy)),
  };
}

const infoOf = (log: Log): LogInfo => ({
  origin: log.origin,
  family: log.family,
  size: log.size(),
  writable: log.writable(),
  vkey: log.vkey,
});

async function* lines(catalog: Catalog, log: Log, range: Range | undefined) {
  const { start, end } = { start: 0, end: log.size(), ...range };
  const offset = start === 0 ? 0 : catalog.offset(log.name, start);
  if (start >= end || start >= log.size()) return;
  const from = offset === null ? { count: 0, offset: 0 } : { count: start, offset };
  for await (const line of log.entries(from)) {
    if (line.index >= end) return;
    if (line.index >= start) yield line;
  }
}

async function* leaves(catalog: Catalog, log: Log, range: Range | undefined): AsyncGenerator<Leaf> {
  for await (const { bytes, leaf } of lines(catalog, log, range)) {
    const { kind, cid, at } = leaf ?? parseLeaf(bytes);
    yield { kind, cid, at };
  }
}

async function* leafBytes(catalog: Catalog, log: Log, range: Range | undefined): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of lines(catalog, log, range)) yield Buffer.concat([bytes, Buffer.from('\n')]);
}

async function tileOf(catalog: Catalog, log: Log, tile: Tile): Promise<Uint8Array> {
  if (tile.level !== 'entries') return log.hashTile(tile);
  const start = tile.index * TILE_WIDTH;
  const entries: Uint8Array[] = [];
  for await (const { bytes } of lines(catalog, log, { start, end: start + tile.width })) entries.push(bytes);
  if (entries.length < tile.width) fail('E_NOT_FOUND', { where: `${log.origin} entries ${tile.index}` });
  return entryBundle(entries);
}

/** Every record of the log must be here: the log is its leaf. */
async function adopt(parts: StoreParts, copy: LogCopy): Promise<LogInfo> {
  for (const line of splitLines(copy.leaves)) {
    const { cid, kind, imported } = parseLeaf(line);
    if (imported === true)
      fail('E_CODEC', { where: copy.origin, wanted: 'leaves of a family log', found: 'another' });
    if (!parts.blocks.hasDigest(digestOf(cid)))
      fail('E_INCOMPLETE', { where: copy.origin, wanted: `${kind} ${cid}`, found: 'nothing' });
    const value: Value = decode(await parts.blocks.get(cid));
    const found = factsOf(parts.kinds, value).kind;
    if (found !== kind) fail('E_KIND', { where: cid, wanted: kind, found });
  }
  const log = await parts.logs.adopt(copy);
  const { catalog, blocks, kinds } = parts;
  await replay({ catalog, blocks, kinds, onFault: () => undefined }, [log]);
  return infoOf(log);
}
