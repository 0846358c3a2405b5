/**
 * All logs of a store: its own store log, one log per study family, and family logs of other stores (read-only).
 * Promises: one log per origin; a log of this store is made when its first record comes and the key is there. A log that
 * does not open keeps no block from being read: its fault is thrown to whoever asks for records.
 * Does not promise: which record belongs where; records.ts asks the kind table.
 */

import { damaged } from '../damage.ts';
import type { OnFault } from '../faults.ts';
import type { Files } from '../files.ts';
import { openCheckpoint } from '../format/checkpoint.ts';
import { type Cid, isCid } from '../format/cid.ts';
import { type AshlarError, fail, isFault } from '../format/errors.ts';
import { leafHash, treeRoot } from '../format/merkle.ts';
import { parseVerifierKey, printVerifierKey, verifierKey } from '../format/note.ts';
import { isLogName, isPulled, type Layout, pulledName, STORE_LOG } from '../keys.ts';
import type { LogCopy } from '../store.ts';
import { createLog, replaceLog } from './create.ts';
import type { LogKey } from './key.ts';
import { splitLines } from './lines.ts';
import { type Log, type LogCursor, openLog } from './log.ts';
import { readLine } from './state.ts';

export interface LogSet {
  /** Those that opened. */
  all(): readonly Log[];
  /** Throws the fault of a log that did not open: what the records of this store are is not known then. */
  mustBeSound(): void;
  /** Closes a log in whose place its fault is thrown from now on. */
  setAside(log: Log, fault: AshlarError): void;
  named(name: string): Log | undefined;
  /** Throws E_NOT_FOUND, what `mustBeSound` throws. */
  withOrigin(origin: string): Log;
  /** This store's own log for a family (null: the store log); made when absent. Throws E_LOG_KEY, E_READ_ONLY. */
  own(family: Cid | null): Promise<Log>;
  /** The log that holds this family, own or pulled, if there is one. */
  ofFamily(family: Cid): Log | undefined;
  /** Writes the files of a copied log and opens it. Throws what a wrong copy deserves. */
  adopt(copy: LogCopy): Promise<Log>;
  close(): void;
}

export interface LogsOptions {
  readonly files: Files;
  readonly layout: Layout;
  /** The store's own id: two stores with one key never share an origin. */
  readonly storeId: string;
  readonly key: LogKey | null;
  readonly writable: boolean;
  /** What the catalog has seen of a log. */
  readonly seen: (name: string) => LogCursor;
  /** Logs of which the catalog holds leaves, with how many: a log that lost them did not lose them unseen. */
  readonly entered: readonly Entered[];
  readonly onFault: OnFault;
}

export interface Entered {
  readonly name: string;
  readonly count: number;
}

/** `ashlar.<store id>/<key id>`: all origins of this store with this key begin so. */
export const logName = (storeId: string, key: LogKey): string => `${namePrefix(storeId)}${key.id}`;
const namePrefix = (storeId: string): string => `ashlar.${storeId}/`;

export async function openLogs(options: LogsOptions): Promise<LogSet> {
  const logs = new Map<string, Log>();
  const sick: AshlarError[] = [];
  for (const name of logNames(options)) {
    try {
      logs.set(name, await open(options, name));
    } catch (error) {
      if (!isFault(error)) throw error;
      sick.push(error);
    }
  }
  const mustBeSound = () => {
    if (sick[0] !== undefined) throw sick[0];
  };
  const whenSound = <T>(give: () => T): T => {
    mustBeSound();
    return give();
  };
  return {
    all: () => [...logs.values()],
    mustBeSound,
    setAside(log, fault) {
      logs.delete(log.name);
      log.close();
      sick.push(fault);
    },
    named: (name) => logs.get(name),
    withOrigin: (origin) => withOrigin(logs, origin) ?? whenSound(() => noLog(origin)),
    own: async (family) => whenSound(() => own(options, logs, family)),
    ofFamily: (family) =>
      whenSound(() => logs.get(family) ?? [...logs.values()].find((log) => log.family === family)),
    adopt: async (copy) => whenSound(() => adopt(options, logs, copy)),
    close: () => {
      for (const log of logs.values()) log.close();
    },
  };
}

const withOrigin = (logs: ReadonlyMap<string, Log>, origin: string): Log | undefined =>
  [...logs.values()].find((log) => log.origin === origin);
const noLog = (origin: string): never => fail('E_NOT_FOUND', { where: `log ${origin}` });

/** Folders of logs, and logs that the catalog knows. */
function logNames({ files, layout, entered }: LogsOptions): readonly string[] {
  const there = files.list(layout.logs).filter((name) => isLog(files, layout, name));
  return [...new Set([...there, ...entered.map(({ name }) => name)])].sort();
}

/** A folder in which nothing ever stood is a log that was never finished; a stray name is for check to tell. */
export function isLog(files: Files, layout: Layout, name: string): boolean {
  const { origin, leaves, hashes, checkpoint } = layout.log(name);
  const begun =
    [leaves, hashes].some((path) => (files.size(path) ?? 0) > 0) || files.size(checkpoint) !== null;
  return isLogName(name) && (begun || readLine(files, origin) !== null);
}

async function open(options: LogsOptions, name: string): Promise<Log> {
  const { files, layout, key, writable, seen, entered, storeId, onFault } = options;
  if (files.list(layout.log(name).folder).length === 0)
    damaged(layout.log(name).folder, 'a log whose leaves the catalog holds', 'nothing');
  const log = await openLog({
    files,
    layout,
    name,
    family: familyOf(files, layout, name),
    key: isPulled(name) ? null : key,
    writable,
    from: seen(name),
    onFault,
  });
  try {
    if (!isPulled(name) && !log.origin.startsWith(namePrefix(storeId)))
      damaged(layout.marker, `the store id in ${log.origin}`, storeId);
    const count = entered.find((one) => one.name === name)?.count ?? 0;
    if (count > log.size())
      fail('E_LOG_ROLLBACK', {
        where: layout.log(name).leaves,
        wanted: `the ${count} leaves that the catalog holds`,
        found: `${log.size()}`,
      });
    return log;
  } catch (error) {
    log.close();
    throw error;
  }
}

/** A family's origin ends with its first study. */
function familyOf(files: Files, layout: Layout, name: string): Cid | null {
  const origin = readLine(files, layout.log(name).origin) ?? '';
  const last = origin.slice(origin.lastIndexOf('/') + 1);
  return isCid(last) ? last : null;
}

async function own(options: LogsOptions, logs: Map<string, Log>, family: Cid | null): Promise<Log> {
  const name = family ?? STORE_LOG;
  const known = logs.get(name);
  if (known !== undefined) return known;
  const { files, layout, storeId, key, writable } = options;
  if (!writable) fail('E_READ_ONLY', { where: layout.root });
  if (key === null) {
    const hint = 'Without the key the store takes blocks but no records; `ashlar init` makes one';
    fail('E_LOG_KEY', { where: layout.root, wanted: 'a log key outside the store', found: 'none', hint });
  }
  const origin = `${logName(storeId, key)}/${name}`;
  const vkey = printVerifierKey(verifierKey(origin, 1, key.publicKey));
  await createLog(files, layout, name, { origin, vkey });
  const log = await open(options, name);
  logs.set(name, log);
  return log;
}

async function adopt(options: LogsOptions, logs: Map<string, Log>, copy: LogCopy): Promise<Log> {
  const { files, layout, writable } = options;
  if (!writable) fail('E_READ_ONLY', { where: layout.root });
  checkCopy(copy);
  const name = pulledName(copy.origin);
  const known = logs.get(name) ?? [...logs.values()].find(({ origin }) => origin === copy.origin);
  if (known !== undefined) return goOn(options, logs, known, copy);
  await createLog(files, layout, name, copy);
  const log = await open(options, name);
  logs.set(name, log);
  return log;
}

/** The copy is what its signature says: every leaf of the signed tree, and no more. */
function checkCopy({ origin, family, vkey, leaves, checkpoint }: LogCopy): void {
  if (!origin.endsWith(`/${family}`))
    fail('E_CONTRACT', { where: 'log', wanted: `an origin that ends with ${family}`, found: origin });
  const signed = openCheckpoint(checkpoint, parseVerifierKey(vkey)).checkpoint;
  if (signed.origin !== origin) fail('E_CONTRACT', { where: 'log', wanted: origin, found: signed.origin });
  const lines = splitLines(leaves);
  if (lines.length !== signed.size)
    fail('E_INCOMPLETE', { where: origin, wanted: `${signed.size} leaves`, found: `${lines.length}` });
  if (Buffer.compare(treeRoot(lines.map(leafHash)), signed.root) !== 0)
    fail('E_PROOF', { where: origin, wanted: 'the signed root', found: 'another' });
}

/** A copy of a log that is here: kept if it is longer and has ours as its beginning. */
async function goOn(options: LogsOptions, logs: Map<string, Log>, known: Log, copy: LogCopy): Promise<Log> {
  const lines = splitLines(copy.leaves);
  const size = known.size();
  const shared = Math.min(size, lines.length);
  const root = treeRoot(lines.slice(0, shared).map(leafHash));
  if (shared > 0 && Buffer.compare(root, await known.root(shared)) !== 0)
    fail('E_LOG_ROLLBACK', { where: copy.origin, wanted: `our first ${shared} leaves`, found: 'others' });
  if (lines.length <= size || !isPulled(known.name)) return known;
  const { files, layout } = options;
  known.close();
  logs.delete(known.name);
  try {
    // Dying here: the longer leaves under the older checkpoint, or both new; either opens.
    await replaceLog(files, layout, known.name, copy);
  } catch (error) {
    if (!isFault(error)) throw error;
    fail('E_IO', { where: copy.origin, found: 'a copy that could not be written', cause: error });
  }
  const log = await open(options, known.name);
  logs.set(known.name, log);
  return log;
}
