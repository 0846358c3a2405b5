/**
 * All logs of a store: its own store log, one log per study family, and family logs of other stores (read-only).
 * Promises: one log per origin; a log of this store is made when its first record comes and the key is there.
 * Does not promise: which record belongs where; records.ts asks the kind table.
 */

import type { OnFault } from '../faults.ts';
import type { Files } from '../files.ts';
import { openCheckpoint } from '../format/checkpoint.ts';
import { type Cid, isCid } from '../format/cid.ts';
import { fail, isFault } from '../format/errors.ts';
import { leafHash, treeRoot } from '../format/merkle.ts';
import { parseVerifierKey, printVerifierKey, verifierKey } from '../format/note.ts';
import { type Layout, pulledName, STORE_LOG } from '../keys.ts';
import type { LogCopy } from '../store.ts';
import type { LogKey } from './key.ts';
import { createLog, type Log, type LogCursor, openLog, readLine } from './log.ts';

export interface LogSet {
  all(): readonly Log[];
  named(name: string): Log | undefined;
  /** Throws E_NOT_FOUND. */
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
  readonly onFault: OnFault;
}

/** `ashlar.<store id>/<key id>`: all origins of this store with this key begin so. */
export const logName = (storeId: string, key: LogKey): string => `ashlar.${storeId}/${key.id}`;

export async function openLogs(options: LogsOptions): Promise<LogSet> {
  const logs = new Map<string, Log>();
  const { files, layout } = options;
  for (const name of files.list(layout.logs)) {
    // A folder without an origin is a log that was never finished.
    if (readLine(files, layout.log(name).origin) !== null) logs.set(name, await open(options, name));
  }
  return {
    all: () => [...logs.values()],
    named: (name) => logs.get(name),
    withOrigin: (origin) =>
      [...logs.values()].find((log) => log.origin === origin) ??
      fail('E_NOT_FOUND', { where: `log ${origin}` }),
    own: (family) => own(options, logs, family),
    ofFamily: (family) => logs.get(family) ?? [...logs.values()].find((log) => log.family === family),
    adopt: (copy) => adopt(options, logs, copy),
    close: () => {
      for (const log of logs.values()) log.close();
    },
  };
}

function open(options: LogsOptions, name: string): Promise<Log> {
  const { files, layout, key, writable, seen, onFault } = options;
  const family = familyOf(files, layout, name);
  const pulled = name.startsWith('pulled-');
  return openLog({
    files,
    layout,
    name,
    family,
    key: pulled ? null : key,
    writable,
    from: seen(name),
    onFault,
  });
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

/** Lines without their LF. Throws E_CODEC where the last one is not closed. */
export function splitLines(bytes: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = [];
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < view.length; ) {
    const end = view.indexOf(0x0a, at);
    if (end < 0) fail('E_CODEC', { where: 'leaves', wanted: 'lines that end with LF', found: 'an open one' });
    lines.push(view.subarray(at, end));
    at = end + 1;
  }
  return lines;
}

/** A copy of a log that is here: kept if it is longer and has ours as its beginning. */
async function goOn(options: LogsOptions, logs: Map<string, Log>, known: Log, copy: LogCopy): Promise<Log> {
  const lines = splitLines(copy.leaves);
  const size = known.size();
  const shared = Math.min(size, lines.length);
  const root = treeRoot(lines.slice(0, shared).map(leafHash));
  if (shared > 0 && Buffer.compare(root, await known.root(shared)) !== 0)
    fail('E_LOG_ROLLBACK', { where: copy.origin, wanted: `our first ${shared} leaves`, found: 'others' });
  if (lines.length <= size || !known.name.startsWith('pulled-')) return known;
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

async function replaceLog(files: Files, layout: Layout, name: string, copy: LogCopy): Promise<void> {
  await createLog(files, layout, name, copy);
}
