/**
 * Making and opening a store on disk.
 * Promises: `initStore` makes a whole store or nothing that opens; `openStore` gives the owner's store, or the one that
 * `connect` reaches, or a read-only one where the folder cannot be written (no lock, catalog in memory).
 * Does not promise: that a read-only store sees what its owner writes after it was opened.
 */
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { agrees, setAsideLossy } from './agreement.ts';
import { type Blocks, openBlocks } from './blocks/blocks.ts';
import { openPlaces } from './blocks/places.ts';
import { type Catalog, openCatalog } from './catalog/catalog.ts';
import { type Index, memoryIndex } from './catalog/index.ts';
import { openLevel } from './catalog/level.ts';
import type { Fault, OnFault } from './faults.ts';
import { canWrite, type Files, ioFault, realFiles } from './files.ts';
import { random } from './format/crypto.ts';
import { fail, isFault } from './format/errors.ts';
import { folders, type Layout, layoutOf } from './keys.ts';
import { createLogKey, type LogKey, loadLogKey, logKeyPath } from './log/key.ts';
import { type LogSet, openLogs } from './log/logs.ts';
import { holdsSomething, type Marker, readMarker, writeMarker } from './marker.ts';
import { type Lock, lockOr, writeOwner } from './owner.ts';
import { openRecords, type Records } from './records.ts';
import { replay } from './replay.ts';
import { storeOf } from './serve.ts';
import type { KindTable, Owner, Store } from './store.ts';

export interface OpenOptions {
  readonly kinds: KindTable;
  readonly clock: () => Date;
  /** Path of the log key; `logKeyPath(process.env)` unless said. */
  readonly logKey?: string;
  /** Open without lock, change nothing. */
  readonly readOnly?: boolean;
  readonly files?: Files;
  /** Told of damage that was met while opening. */
  readonly onFault?: OnFault;
  /** Reaches an owner that serves; null when it does not answer. */
  readonly connect?: (owner: Owner) => Promise<Store | null>;
  /** How long to wait for another owner (milliseconds; 10,000 unless said). */
  readonly patience?: number;
}

/** Makes an empty store at `path`, and a log key where there is none. Throws E_STORE_EXISTS, E_IO. */
export async function initStore(
  path: string,
  { logKey, files = realFiles }: { readonly logKey?: string; readonly files?: Files } = {},
): Promise<void> {
  const layout = layoutOf(path);
  const keyPath = logKey ?? logKeyPath(process.env);
  if (files.size(layout.marker) !== null) {
    // Running it again is harmless: a store stays as it is, and gets the key that it lacks.
    readMarker(files, layout);
    await createLogKey(files, keyPath);
    return;
  }
  mustTakeAStore(path);
  // Folders of ours without a marker are an init that was interrupted.
  const ours = new Set(folders(layout).map((folder) => basename(folder)));
  if (holdsSomething(files, layout)) readMarker(files, layout);
  const holding = [layout.segments, layout.big, layout.logs].some((folder) => files.list(folder).length > 0);
  if (holding || files.list(path).some((name) => !ours.has(name)))
    fail('E_STORE_EXISTS', {
      where: path,
      wanted: 'a new or empty folder',
      found: files.list(path).join(', '),
    });
  await files.mkdir(path);
  for (const folder of folders(layout)) await files.mkdir(folder);
  await createLogKey(files, keyPath);
  const id = Buffer.from(random(8)).toString('hex');
  // Dying here: folders without a marker, which nothing opens.
  await writeMarker(files, layout, { id });
}

/** A store is a folder: what else stands there stays as it is. */
function mustTakeAStore(path: string): void {
  const found = whatStands(path);
  if (found !== null) fail('E_STORE_EXISTS', { where: path, wanted: 'a new or empty folder', found });
}

/** null: a folder, or nothing. Throws E_IO. */
function whatStands(path: string): string | null {
  try {
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there === undefined || there.isDirectory()) return null;
    const behind = statSync(path, { throwIfNoEntry: false });
    if (behind === undefined) return 'a link that leads nowhere';
    return behind.isDirectory() ? null : 'a file';
  } catch (cause) {
    return ioFault(cause, path);
  }
}

/**
 * Opens the store at `path`. Throws E_STORE_FORMAT, E_STORE_BUSY, E_LOG_ROLLBACK, E_STORE_DAMAGED, E_LOG_KEY, E_IO.
 */
export async function openStore(path: string, options: OpenOptions): Promise<Store> {
  const files = options.files ?? realFiles;
  const layout = layoutOf(files.size(path) === null ? path : realpathSync(path));
  const marker = readMarker(files, layout);
  const readOnly = options.readOnly === true || !(await canWrite(layout.root));
  if (readOnly) return assemble({ files, layout, marker, options, lock: null });
  const connect = options.connect ?? (() => Promise.resolve(null));
  const lock = await lockOr(files, layout, connect, options.patience);
  if (!('release' in lock)) return lock;
  try {
    return await assemble({ files, layout, marker, options, lock });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

interface Parts {
  readonly files: Files;
  readonly layout: Layout;
  readonly marker: Marker;
  readonly options: OpenOptions;
  /** null: read-only. */
  readonly lock: Lock | null;
}

async function assemble(parts: Parts): Promise<Store> {
  const { files, layout, lock } = parts;
  if (lock === null) return assembleWith(parts, memoryIndex());
  try {
    return await assembleWith(parts, await openIndex(files, layout));
  } catch (error) {
    if (!isFault(error, 'E_STORE_DAMAGED') || error.data.where !== layout.level) throw error;
    // The catalog is no witness: one that does not read is set aside, and made again from blocks and logs.
    await setAside(files, layout);
    return assembleWith(parts, await openLevel(layout.level));
  }
}

async function assembleWith(parts: Parts, index: Index): Promise<Store> {
  try {
    return await assembleOver(parts, index);
  } catch (error) {
    await index.close();
    throw error;
  }
}

/** The catalog; one that LevelDB cannot open is set aside and made again. */
async function openIndex(files: Files, layout: Layout): Promise<Index> {
  try {
    return await openLevel(layout.level);
  } catch (error) {
    if (!isFault(error, 'E_STORE_DAMAGED')) throw error;
    await setAside(files, layout);
    return openLevel(layout.level);
  }
}

async function setAside(files: Files, layout: Layout): Promise<void> {
  await files.rename(layout.level, layout.quarantined(`level-${Buffer.from(random(8)).toString('hex')}`));
}

interface Assembled {
  readonly blocks: Blocks;
  readonly catalog: Catalog;
  readonly logs: LogSet;
  readonly records: Records;
}

async function assembleOver(parts: Parts, index: Index): Promise<Store> {
  const { files, layout, lock, options } = parts;
  const faults: Fault[] = [];
  const onFault: OnFault = (fault) => {
    faults.push(fault);
    options.onFault?.(fault);
  };
  const writable = lock !== null;
  const catalog = await openCatalog(index);
  // Before the blocks: an owner beside a reader puts a record's block first and its leaf then.
  const logs = await openStoreLogs(parts, catalog, onFault);
  const blocks = await openBlocks({ files, layout, places: openPlaces(index), writable, onFault }).catch(
    (error: unknown) => {
      logs.close();
      throw error;
    },
  );
  if (!agrees(catalog, logs)) await catalog.forget();
  await setAsideLossy(catalog, logs);
  const { kinds, clock } = options;
  await replay({ catalog, blocks, kinds, onFault }, logs.all());
  const records = openRecords({ blocks, catalog, logs, kinds, clock });
  const assembled: Assembled = { blocks, catalog, logs, records };
  return storeOf({
    ...assembled,
    kinds,
    path: layout.root,
    writable,
    announce: (owner) => writeOwner(files, layout, owner),
    async release() {
      await index.close();
      if (lock === null) return;
      if (index.damaged()) await setAside(files, layout);
      // A hint that stays behind misleads nobody for long.
      await files.remove(layout.owner).catch(() => undefined);
      await lock.release();
    },
  });
}

async function openStoreLogs(parts: Parts, catalog: Catalog, onFault: OnFault): Promise<LogSet> {
  const { files, layout, marker, options, lock } = parts;
  return openLogs({
    files,
    layout,
    storeId: marker.id,
    key: keyOf(parts, options),
    writable: lock !== null,
    seen: catalog.seen,
    entered: await catalog.entered(),
    onFault,
  });
}

function keyOf({ files, layout, lock }: Parts, options: OpenOptions): LogKey | null {
  return lock === null ? null : loadLogKey(files, options.logKey ?? logKeyPath(process.env), layout.root);
}
