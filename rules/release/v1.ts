/**
 * `release`: the manifest of a publication. It names every file but itself and `seal/`, each with its digest: the blocks
 * of the closure of all family-log records and of what derives from them, the log, the reports and the pages. What the
 * study withholds is linked by no record; what hygiene holds back of workspaces is named and left out.
 */
import { type Cid, digestOf, link } from '../../store/format/cid.ts';
import { closure } from '../../store/format/closure.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { Reader } from '../../store/format/reader.ts';
import { kindIn, recordIn } from '../blocks.ts';
import { type Page, pagesOf } from '../claims/check.ts';
import { parseEntries } from '../close/entries.ts';
import type { Claim } from '../contracts/claim.ts';
import type { Close } from '../contracts/close.ts';
import type { Full } from '../contracts/kit.ts';
import type { Release } from '../contracts/release.ts';
import type { Report } from '../contracts/report.ts';
import type { Summary } from '../contracts/summary.ts';
import { referencesOf } from '../contracts/table.ts';
import { defineRule, full, type Input, many, one, raw } from '../rule.ts';
import { links } from '../runs.ts';
import { blockOf } from '../scrub/published.ts';
import { blockPath, LOG_FILES, pagePath, reportPath } from './files.ts';
import { heldInWorkspaces, type Withheld } from './workspace.ts';

type File = Full<Release>['files'][number];

export const releaseV1 = defineRule({
  name: 'release',
  v: 1,
  scope: 'close',
  gives: 'release',
  needs: {
    close: one('close'),
    summary: one('summary'),
    reports: many('report'),
    claims: many('claim'),
    vkey: raw,
    c0: raw,
    c1: raw,
    entries: raw,
  },
  // Applied when someone publishes: which checkpoint covers the close is a matter of the log, not of records.
  on: [],
  bind: async () => [],
  async apply(inputs, { reader }) {
    return (await release(inputs, reader, [])).body;
  },
  /** A workspace file that hygiene holds back is taken from the record: nobody else has its bytes. */
  recheck: (recorded, inputs, { reader }) => release(inputs, reader, recorded.withheld),
});

type Body = Omit<Full<Release>, 'kind' | 'v' | 'derivation'>;

interface Given {
  readonly close: Input<Close>;
  readonly summary: Input<Summary>;
  readonly reports: readonly Input<Report>[];
  readonly claims: readonly Input<Claim>[];
  readonly vkey: Input<Uint8Array>;
  readonly c0: Input<Uint8Array>;
  readonly c1: Input<Uint8Array>;
  readonly entries: Input<Uint8Array>;
}

async function release(
  given: Given,
  reader: Reader,
  recorded: readonly Withheld[],
): Promise<{ body: Body; withheld: number }> {
  const { close, summary, reports, claims, vkey, c0, c1, entries } = given;
  const log = { vkey, c0, c1, entries };
  const leaves = parseEntries(entries.value);
  const roots = [
    ...leaves.map(({ cid }) => cid),
    close.cid,
    summary.cid,
    ...[...reports, ...claims, ...Object.values(log)].map(({ cid }) => cid),
  ];
  const receipts = leaves.filter(({ kind }) => kind === 'receipt').map(({ cid }) => cid);
  const { withheld, unseen } = await heldInWorkspaces(receipts, roots, recorded, reader);
  const blocks = await blocksBelow(roots, new Set(withheld.map(({ bytes }) => blockOf(bytes))), reader);
  const { pages, problems } = await pagesOf(claims, (cid) => reader.get(cid));
  const [first] = problems;
  if (first !== undefined) fail('E_CLAIM', { where: first.at, found: first.detail });
  const files = [
    ...(await blockFiles(blocks, reader)),
    ...logFiles(log),
    ...(await reportFiles(reports, reader)),
    ...(await pageFiles(pages, reader)),
  ];
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const body = {
    close: link(close.cid),
    summary: link(summary.cid),
    reports: links(reports.map(({ cid }) => cid)),
    claims: links(claims.map(({ cid }) => cid)),
    pages: pages.map(({ name, cid }) => ({ name, bytes: link(cid) })),
    vkey: link(vkey.cid),
    c0: link(c0.cid),
    c1: link(c1.cid),
    entries: link(entries.cid),
    files,
    withheld: [...withheld],
    unpublished: await unpublishedCount(blocks, reader),
  };
  return { body, withheld: unseen };
}

/** The closure without what is held back, in the order of CIDs; an earlier release is in it and not followed. */
async function blocksBelow(roots: readonly Cid[], held: ReadonlySet<Cid>, reader: Reader): Promise<Cid[]> {
  const stop = (_cid: Cid, value: Value) => kindIn(value) === 'release';
  const known: Reader = { ...reader, has: async (cid) => held.has(cid) || reader.has(cid) };
  const blocks: Cid[] = [];
  for await (const { cid } of closure(known, roots, { stop })) if (!held.has(cid)) blocks.push(cid);
  return blocks.sort();
}

async function blockFiles(blocks: readonly Cid[], reader: Reader): Promise<File[]> {
  const files: File[] = [];
  for (const cid of blocks)
    files.push({ path: blockPath(cid), digest: digestOf(cid), size: await sizeOf(cid, reader) });
  return files;
}

async function sizeOf(cid: Cid, reader: Reader): Promise<number> {
  let size = 0;
  for await (const chunk of reader.stream(cid)) size += chunk.length;
  return size;
}

type Log = Readonly<Record<keyof typeof LOG_FILES, Input<Uint8Array>>>;

function logFiles(log: Log): File[] {
  return (Object.keys(LOG_FILES) as (keyof Log)[]).map((name) => ({
    path: LOG_FILES[name],
    digest: digestOf(log[name].cid),
    size: log[name].value.length,
  }));
}

async function reportFiles(reports: readonly Input<Report>[], reader: Reader): Promise<File[]> {
  const files: File[] = [];
  for (const report of reports) {
    for (const { name, bytes } of full(report).outputs) {
      const size = await sizeOf(bytes['/'], reader);
      files.push({ path: reportPath(name), digest: digestOf(bytes['/']), size });
    }
  }
  return files;
}

async function pageFiles(pages: readonly Page[], reader: Reader): Promise<File[]> {
  const files: File[] = [];
  for (const { name, cid } of pages)
    files.push({ path: pagePath(name), digest: digestOf(cid), size: await sizeOf(cid, reader) });
  return files;
}

/** How many evidence references stand in the published records: what a reader does not get. */
async function unpublishedCount(blocks: readonly Cid[], reader: Reader): Promise<number> {
  const held = new Set<string>();
  const digests = new Set<string>(blocks.map(digestOf));
  for (const cid of blocks) {
    const record = await recordIn(cid, reader);
    const evidence = record === undefined ? [] : referencesOf(record).evidence;
    for (const reference of evidence) if (!digests.has(reference.slice(7))) held.add(reference);
  }
  return held.size;
}
