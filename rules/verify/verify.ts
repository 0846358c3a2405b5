/**
 * `verify`: a publication re-derived from its own bytes, by a stranger, offline.
 * Promises: pure over a listing and a reader; every fault is named in one pass; ok only where all re-derives.
 * Does not promise: that nobody ran outside the log. Without a key or a release from outside, the publication vouches
 * for itself alone, and the result says so.
 */
import type { Cid } from '../../store/format/cid.ts';
import { leafHash, treeRoot } from '../../store/format/merkle.ts';
import { checkAccounts } from './accounts.ts';
import { checkClaims } from './claims.ts';
import { rederive } from './derive.ts';
import { collectFaults, type Fault, type Faults, guarded } from './fault.ts';
import { checkHygiene } from './hygiene.ts';
import { type Library, openLibrary } from './library.ts';
import { type ReplayedLog, replayLog } from './log.ts';
import { checkFiles, type Manifest, readManifest } from './manifest.ts';
import { checkOrder } from './order.ts';
import { checkLeaves, checkLinks } from './records.ts';
import type { Publication } from './source.ts';

export interface Asked {
  /** Verifier keys (C2SP vkey lines) that the reader trusts. */
  readonly keys?: readonly string[];
  /** The release that the reader was told of. */
  readonly expect?: Cid;
}

export interface Verified {
  /** `ok`, `ok except withheld` or `faults`. */
  readonly result: 'ok' | 'ok except withheld' | 'faults';
  readonly trust: 'trusted' | 'self-attested';
  readonly release: Cid | null;
  readonly vkey: string | null;
  readonly files: number;
  readonly leaves: number;
  readonly records: number;
  /** Derived records whose evidence is not published, so that a part was taken as recorded. */
  readonly withheld: number;
  /** Evidence files whose published bytes differ from the original, of all. */
  readonly scrubbed: { readonly changed: number; readonly of: number };
  readonly faults: readonly Fault[];
}

/** Verifies a publication. Never throws for what is in it. */
export async function verify(source: Publication, asked: Asked = {}): Promise<Verified> {
  const faults = collectFaults();
  const manifest = await readManifest(source, faults);
  if (manifest === undefined) return result(faults, asked, undefined, undefined, undefined);
  const right =
    (await guarded(faults, 'file-irregular', '.', () => checkFiles(source, manifest, faults))) ?? new Set();
  const log = await replayLog(source, manifest.cid, faults);
  const library = await openLibrary(source, right, faults);
  checkTrust(asked, manifest, log, faults);
  const records = await checkContent(manifest, log, library, faults);
  await guarded(faults, 'hygiene', '.', () => checkHygiene(library, faults));
  return result(faults, asked, manifest, log, { library, ...records });
}

async function checkContent(
  manifest: Manifest,
  log: ReplayedLog | undefined,
  library: Library,
  faults: Faults,
) {
  const { value } = manifest;
  const closeCid = value.close['/'];
  const close = library.records.get(closeCid);
  if (log !== undefined) checkLeaves(log, library, faults);
  await guarded(faults, 'record', '.', () => checkLinks(library, faults));
  if (close?.kind !== 'close') faults.add('manifest', 'close', `no close record ${closeCid}`);
  else if (log !== undefined) {
    await guarded(faults, 'order', '.', () =>
      checkOrder(log, { cid: closeCid, value: close }, library, faults),
    );
    await guarded(faults, 'order', 'close', () => checkCloseRoot(log, close, library));
  }
  checkAccounts(library, faults);
  await checkClaims(value, library, faults);
  return rederive(library, value, closeCid, faults);
}

/** The close's own entries and root against the log's first leaves. */
async function checkCloseRoot(
  log: ReplayedLog,
  close: Extract<ReturnType<Library['records']['get']>, { kind: 'close' }>,
  library: Library,
): Promise<void> {
  const entries = await library.reader.get(close.entries['/']);
  const covered = Buffer.concat(
    log.lines.slice(0, close.size).map((line) => Buffer.concat([line, Buffer.from('\n')])),
  );
  if (Buffer.compare(entries, covered) !== 0)
    throw new Error('the entries of the close are not the first leaves of the log');
  const root = Buffer.from(treeRoot(log.lines.slice(0, close.size).map(leafHash))).toString('hex');
  if (root !== close.root) throw new Error(`the close names root ${close.root}, its leaves give ${root}`);
}

function checkTrust(asked: Asked, manifest: Manifest, log: ReplayedLog | undefined, faults: Faults): void {
  if (asked.expect !== undefined && asked.expect !== manifest.cid) {
    faults.add('trust', 'release.json', `expected ${asked.expect}, found ${manifest.cid}`);
  }
  if (asked.keys !== undefined && (log === undefined || !asked.keys.includes(log.vkey))) {
    faults.add(
      'trust',
      'log/vkey',
      `the log key is none of the ${asked.keys.length} trusted ones: ${log?.vkey ?? 'none'}`,
    );
  }
}

interface Content {
  readonly library: Library;
  readonly records: number;
  readonly withheld: number;
}

function result(
  faults: Faults,
  asked: Asked,
  manifest: Manifest | undefined,
  log: ReplayedLog | undefined,
  content: Content | undefined,
): Verified {
  const vouched = asked.keys !== undefined || asked.expect !== undefined;
  const ok = faults.all.length === 0;
  return {
    result: ok ? 'ok' : 'faults',
    trust: vouched && !faults.all.some(({ kind }) => kind === 'trust') ? 'trusted' : 'self-attested',
    release: manifest?.cid ?? null,
    vkey: log?.vkey ?? null,
    files: manifest?.value.files.length ?? 0,
    leaves: log?.leaves.length ?? 0,
    records: content?.records ?? 0,
    withheld: content?.withheld ?? 0,
    scrubbed: scrubbedOf(content?.library),
    faults: faults.all,
  };
}

function scrubbedOf(library: Library | undefined): Verified['scrubbed'] {
  let changed = 0;
  let of = 0;
  for (const record of library?.records.values() ?? []) {
    if (record.kind !== 'scrub' || !('files' in record)) continue;
    of += record.files.length;
    changed += record.files.filter(({ replaced }) => replaced > 0).length;
  }
  return { changed, of };
}
