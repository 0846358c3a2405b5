/**
 * `verify`: a publication re-derived from its own bytes, by a stranger, offline.
 * Promises: pure over a listing and a reader; every fault is named in one pass; ok only where all re-derives.
 * Does not promise: that nobody ran outside the log. Without a key or a release from outside, the publication vouches
 * for itself alone, and the result says so.
 */
import type { Cid } from '../../store/format/cid.ts';
import { leafHash, treeRoot } from '../../store/format/merkle.ts';
import { counted } from '../../store/format/words.ts';
import type { Close } from '../contracts/close.ts';
import { MANIFEST } from '../release/files.ts';
import type { Input } from '../rule.ts';
import { checkAccounts } from './accounts.ts';
import { checkBijections } from './bijection.ts';
import { checkClaims } from './claims.ts';
import { type Rederived, rederive } from './derive.ts';
import { collectFaults, type Fault, type Faults, guarded } from './fault.ts';
import { checkHygiene } from './hygiene.ts';
import { type Library, openLibrary } from './library.ts';
import { type ReplayedLog, replayLog } from './log.ts';
import { checkFiles, checkWithoutManifest, type Manifest, readManifest } from './manifest.ts';
import { checkOrder } from './order.ts';
import { checkLeaves, checkLinks } from './records.ts';
import { checkRuns } from './runs.ts';
import { type Publication, plainFiles } from './source.ts';
import { type Withheld, withheldFiles } from './withheld.ts';

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
  /** Parts of derived records taken as recorded, because their evidence is never published by anyone. */
  readonly asRecorded: number;
  readonly withheld: {
    /** Files that are not here because the study withholds their kind, or hygiene them. */
    readonly files: number;
    /** The same by reason. */
    readonly byReason: Withheld;
    /** Rule name -> derived records that rest on them, so that a part was taken as recorded. */
    readonly records: Readonly<Record<string, number>>;
  };
  /** Evidence files whose published bytes differ from the original, of all. */
  readonly scrubbed: { readonly changed: number; readonly of: number };
  readonly faults: readonly Fault[];
}

/** Verifies a publication. Never throws for what is in it. */
export async function verify(publication: Publication, asked: Asked = {}): Promise<Verified> {
  const faults = collectFaults();
  const listed = (await guarded(faults, 'file-irregular', '.', () => publication.list())) ?? [];
  const source = plainFiles(publication, listed);
  const manifest = await readManifest(source, faults);
  const right =
    (await guarded(faults, 'file-irregular', '.', () =>
      manifest === undefined ? checkWithoutManifest(source, faults) : checkFiles(source, manifest, faults),
    )) ?? new Set();
  const log = await replayLog(source, manifest?.cid, faults);
  const library = await openLibrary(source, right, faults);
  checkTrust(asked, manifest, log, faults);
  const records = await checkContent(manifest, log, library, faults);
  await guarded(faults, 'hygiene', '.', () => checkHygiene(library, faults));
  return result(faults, asked, manifest, log, { library, ...records });
}

/** All that the records say of each other. Where the manifest cannot be read, the log's last close is looked at. */
async function checkContent(
  manifest: Manifest | undefined,
  log: ReplayedLog,
  library: Library,
  faults: Faults,
) {
  const last = log.leaves.findLast(({ kind }) => kind === 'close')?.cid;
  const cid = manifest?.value.close['/'] ?? last;
  const value = cid === undefined ? undefined : library.records.get(cid);
  checkLeaves(log, library, faults);
  await guarded(faults, 'record', '.', () => checkLinks(library, faults));
  if (cid === undefined || value?.kind !== 'close') faults.add('manifest', 'close', `no close record ${cid}`);
  else await checkClosed(log, { cid, value }, library, faults);
  checkRuns(library, faults);
  checkAccounts(library, faults);
  if (manifest !== undefined) await checkClaims(manifest.value, library, faults);
  return rederive(library, manifest?.value, cid, faults);
}

async function checkClosed(
  log: ReplayedLog,
  close: Input<Close>,
  library: Library,
  faults: Faults,
): Promise<void> {
  await guarded(faults, 'order', '.', () => checkOrder(log, close, library, faults));
  await guarded(faults, 'bijection', '.', () => checkBijections(log, close, library, faults));
  await guarded(faults, 'order', 'close', () => checkCloseRoot(log, close.value, library));
}

/** The close's own entries and root against the log's first leaves. */
async function checkCloseRoot(log: ReplayedLog, close: Close, library: Library): Promise<void> {
  const entries = await library.reader.get(close.entries['/']);
  const covered = Buffer.concat(
    log.lines.slice(0, close.size).map((line) => Buffer.concat([line, Buffer.from('\n')])),
  );
  if (Buffer.compare(entries, covered) !== 0)
    throw new Error('the entries of the close are not the first leaves of the log');
  const root = Buffer.from(treeRoot(log.lines.slice(0, close.size).map(leafHash))).toString('hex');
  if (root !== close.root) throw new Error(`the close names root ${close.root}, its leaves give ${root}`);
}

function checkTrust(asked: Asked, manifest: Manifest | undefined, log: ReplayedLog, faults: Faults): void {
  if (asked.expect !== undefined && asked.expect !== manifest?.cid) {
    faults.add('trust', MANIFEST, `expected ${asked.expect}, found ${manifest?.cid ?? 'none'}`);
  }
  if (asked.keys !== undefined && (log.vkey === undefined || !asked.keys.includes(log.vkey))) {
    faults.add(
      'trust',
      'log/vkey',
      `the log key is not among the ${counted(asked.keys.length, 'trusted key')}: ${log.vkey ?? 'none'}`,
    );
  }
}

interface Content extends Rederived {
  readonly library: Library;
}

function result(
  faults: Faults,
  asked: Asked,
  manifest: Manifest | undefined,
  log: ReplayedLog,
  content: Content,
): Verified {
  const vouched = asked.keys !== undefined || asked.expect !== undefined;
  const byReason = withheldFiles(content.library, manifest?.value);
  const files = Object.values(byReason).reduce((sum, count) => sum + count, 0);
  const ok = files === 0 ? 'ok' : 'ok except withheld';
  return {
    result: faults.all.length === 0 ? ok : 'faults',
    trust: vouched && !faults.all.some(({ kind }) => kind === 'trust') ? 'trusted' : 'self-attested',
    release: manifest?.cid ?? null,
    vkey: log.vkey ?? null,
    files: manifest?.value.files.length ?? 0,
    leaves: log.leaves.length,
    records: content.records,
    asRecorded: content.asRecorded,
    withheld: { files, byReason, records: content.withheld },
    scrubbed: scrubbedOf(content.library),
    faults: faults.all,
  };
}

function scrubbedOf(library: Library): Verified['scrubbed'] {
  let changed = 0;
  let of = 0;
  for (const record of library.records.values()) {
    if (record.kind !== 'scrub' || !('files' in record)) continue;
    of += record.files.length;
    changed += record.files.filter(({ replaced }) => replaced > 0).length;
  }
  return { changed, of };
}
