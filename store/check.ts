/**
 * Looking at a whole store and naming everything that is wrong with it.
 * Promises: every fault is named and the look goes on; nothing on disk is changed, the lock is not taken, and a store
 * that would not open is checked all the same.
 * Does not promise: a cure (repair.ts), evidence that another store kept, or sense while an owner writes at this moment.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Blocks, openBlocks } from './blocks/blocks.ts';
import { openPlaces } from './blocks/places.ts';
import { type Catalog, openCatalog } from './catalog/catalog.ts';
import { type Index, memoryIndex } from './catalog/index.ts';
import { openLevel } from './catalog/level.ts';
import { checkBlocks } from './check/blocks.ts';
import { checkLogs } from './check/logs.ts';
import type { Fault, OnFault } from './faults.ts';
import { type Files, realFiles } from './files.ts';
import { type Cid, type Digest, digestOf, evidence } from './format/cid.ts';
import { closure } from './format/closure.ts';
import { isFault } from './format/errors.ts';
import { folders, isPulled, key, type Layout, layoutOf } from './keys.ts';
import type { Line, Log } from './log/log.ts';
import { readMarker } from './marker.ts';
import { type OnFacts, replay } from './replay.ts';
import type { KindTable, RecordFacts } from './store.ts';

export interface CheckOptions {
  readonly kinds: KindTable;
  readonly files?: Files;
  /** Told of each fault when it is found. */
  readonly onFault?: OnFault;
  /** Threads that hash beside this one; as many as the store is worth unless said. */
  readonly threads?: number;
}

export interface CheckReport {
  readonly faults: readonly Fault[];
  /** Sound blocks, each counted once, and their bytes. */
  readonly blocks: number;
  readonly bytes: number;
  readonly leaves: number;
}

/** Checks the store at `path`. Throws E_STORE_FORMAT when it is none; everything else is a fault in the report. */
export async function checkStore(path: string, options: CheckOptions): Promise<CheckReport> {
  const files = options.files ?? realFiles;
  const layout = layoutOf(path);
  const faults: Fault[] = [];
  const named = new Set<string>();
  const onFault: OnFault = (fault) => {
    const line = JSON.stringify(fault);
    if (named.has(line)) return;
    named.add(line);
    faults.push(fault);
    options.onFault?.(fault);
  };
  const storeId = checkMarker(files, layout, onFault);
  checkNames(files, layout, onFault);
  const index = memoryIndex();
  const { blocks, bytes, bad } = await checkBlocks(files, layout, openPlaces(index), {
    onFault,
    ...(options.threads === undefined ? {} : { threads: options.threads }),
  });
  const leaves = await checkRecords({ files, layout, index, kinds: options.kinds, onFault, bad, storeId });
  return { faults, blocks, bytes, leaves };
}

/** The store's id; null where the marker does not read. Throws E_STORE_FORMAT. */
function checkMarker(files: Files, layout: Layout, onFault: OnFault): string | null {
  try {
    return readMarker(files, layout).id;
  } catch (error) {
    if (!isFault(error, 'E_STORE_DAMAGED')) throw error;
    onFault({ kind: 'damaged', where: 'ashlar.json', found: error.message });
    return null;
  }
}

/** `host.json` says what the machine offers to whoever works on this store; it is its owner's, and no part of it. */
const TOP = ['ashlar.json', 'level', 'lock', 'owner.json', 'host.json'];

/** Files that no store makes. Unfinished ones in `tmp/` are nobody's fault. */
function checkNames(files: Files, layout: Layout, onFault: OnFault): void {
  const known = new Set([...TOP, ...folders(layout).map((folder) => folder.slice(layout.root.length + 1))]);
  for (const name of files.list(layout.root))
    if (!known.has(name)) onFault({ kind: 'extra', where: name, found: 'a file that is no part of a store' });
}

interface Looking {
  readonly files: Files;
  readonly layout: Layout;
  readonly kinds: KindTable;
  /** The catalog as it should be; the blocks are in it. */
  readonly index: Index;
  readonly onFault: OnFault;
  /** Blocks that are in the report already. */
  readonly bad: ReadonlySet<Digest>;
  readonly storeId: string | null;
}

/** Logs, the records behind their leaves, what those link to, and the catalog beside what it should be. */
async function checkRecords({
  files,
  layout,
  index,
  kinds,
  onFault,
  bad,
  storeId,
}: Looking): Promise<number> {
  // checkBlocks has named what is wrong in the segments.
  const silent: OnFault = () => undefined;
  const blocks = await openBlocks({
    files,
    layout,
    places: openPlaces(index),
    writable: false,
    onFault: silent,
  });
  const logs = await checkLogs({ files, layout, storeId, onFault });
  try {
    const catalog = await openCatalog(index);
    const onFacts: OnFacts = (line, log, facts) => checkEvidence(blocks, onFault, { line, log, facts });
    await replay({ catalog, blocks, kinds, onFault, onFacts }, logs);
    await checkClosures(catalog, blocks, onFault);
    const unnamed: OnFault = (fault) => {
      if (!bad.has(lastPart(fault.where, '/') as Digest)) onFault(fault);
    };
    await checkCatalog(files, layout, index, unnamed);
    return logs.reduce((sum, log) => sum + log.size(), 0);
  } finally {
    for (const log of logs as readonly Log[]) log.close();
    await blocks.close();
  }
}

/** What the store that made a record required of it: evidence is followed by nobody else. */
function checkEvidence(blocks: Blocks, onFault: OnFault, { line, log, facts }: Entered): void {
  if (isPulled(log.name) || line.leaf === null || line.leaf.imported === true) return;
  const { kind, cid } = line.leaf;
  for (const digest of facts.evidence)
    if (!blocks.hasDigest(digest))
      onFault({
        kind: 'missing',
        where: evidence(digest),
        wanted: `evidence of ${kind} ${cid}`,
        found: 'nothing',
      });
}

interface Entered {
  readonly line: Line;
  readonly log: Log;
  readonly facts: RecordFacts;
}

/** Everything that a record links to is there, all the way down. */
async function checkClosures(catalog: Catalog, blocks: Blocks, onFault: OnFault): Promise<void> {
  const roots: Cid[] = [];
  for await (const { standing } of catalog.since())
    if (blocks.hasDigest(digestOf(standing.cid))) roots.push(standing.cid);
  const onMissing = (cid: Cid, error: Error) => {
    // A block with another digest is in the report already.
    if (isFault(error, 'E_DIGEST')) return;
    const kind = isFault(error, 'E_NOT_FOUND') ? 'missing' : 'damaged';
    const found = kind === 'missing' ? 'nothing' : error.message;
    onFault({ kind, where: cid, wanted: 'a block that a record links to', found });
  };
  for await (const _ of closure(blocks, roots, { onMissing }));
}

/** Rows whose keys are the same in every catalog of this store. */
const COMPARED = ['b/', 'r/', 'l/', 'd/', 'u/', 'n/', 'g/'];

/** The catalog on disk beside one made from segments and logs just now. A copy is opened: LevelDB writes when it opens. */
async function checkCatalog(files: Files, layout: Layout, wanted: Index, onFault: OnFault): Promise<void> {
  if (files.list(layout.level).length === 0) return;
  const copy = mkdtempSync(join(tmpdir(), 'ashlar-check-'));
  try {
    cpSync(layout.level, copy, { recursive: true });
    const found = await openLevel(copy);
    try {
      await compare(wanted, found, onFault);
    } finally {
      await found.close();
    }
  } catch (error) {
    if (!isFault(error)) throw error;
    onFault({ kind: 'disagree', where: 'level', wanted: 'a catalog that opens', found: error.message });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function compare(wanted: Index, found: Index, onFault: OnFault): Promise<void> {
  // Rows behind the cursors are entered at the next start; only rows that say something else are faults.
  const behind = wanted.get(key.sequence) !== found.get(key.sequence) || lags(wanted, found);
  for (const prefix of COMPARED) {
    let matched = 0;
    for await (const { key: at, value } of found.range({ prefix })) {
      const right = wanted.get(at);
      if (!same(at, value, right)) disagree(at, right, value, onFault);
      if (right !== undefined) matched++;
    }
    if (behind || matched === (await wanted.count(prefix))) continue;
    for await (const { key: at, value } of wanted.range({ prefix }))
      if (found.get(at) === undefined) disagree(at, value, undefined, onFault);
  }
}

const lags = (wanted: Index, found: Index): boolean =>
  wanted.get(key.segmentCursor) !== found.get(key.segmentCursor);

/** Two places of one block are both right when both were indexed from sound copies. */
const same = (at: string, found: string, wanted: string | undefined): boolean =>
  found === wanted ||
  (at.startsWith('b/') && wanted !== undefined && lastPart(found, ':') === lastPart(wanted, ':'));

const lastPart = (text: string, mark: string): string => text.slice(text.lastIndexOf(mark) + 1);

function disagree(at: string, wanted: string | undefined, found: string | undefined, onFault: OnFault): void {
  onFault({ kind: 'disagree', where: `catalog ${at}`, wanted: wanted ?? 'no row', found: found ?? 'no row' });
}
