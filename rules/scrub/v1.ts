/**
 * scrub v1: for every evidence file of a receipt, the bytes that may be published.
 * Promises: host paths become their replacement, secrets become `[redacted:<shape>]`, all else keeps its bytes; the
 * published bytes are a fixed point of the same scrubbing.
 * Does not promise: that what it could not recognise is harmless; hygiene looks once more before a release.
 */
import {
  type Cid,
  cidFromDigest,
  digestOf,
  digestOfEvidence,
  type Evidence,
  link,
} from '../../store/format/cid.ts';
import { isFault } from '../../store/format/errors.ts';
import type { Emit, Reader } from '../../store/format/reader.ts';
import type { Full } from '../contracts/kit.ts';
import type { Receipt } from '../contracts/receipt.ts';
import type { Scrub } from '../contracts/scrub.ts';
import { type Binding, defineRule, type Input, one, readAs } from '../rule.ts';
import { type PathFinder, pathFinder, replacementsOf } from './paths.ts';
import { scrubbed, type Tally } from './stream.ts';

type Body = Omit<Full<Scrub>, 'kind' | 'v' | 'derivation'>;
type ScrubbedFile = Body['files'][number];

export const scrubV1 = defineRule({
  name: 'scrub',
  v: 1,
  scope: 'subject',
  gives: 'scrub',
  needs: { receipt: one('receipt') },
  on: ['receipt'],
  async bind(subject): Promise<readonly Binding[]> {
    return subject.value.kind === 'receipt' ? [{ inputs: { receipt: subject.cid } }] : [];
  },
  async apply({ receipt }, io) {
    const paths = pathFinder(await replacements(receipt.value, io.reader));
    const files: ScrubbedFile[] = [];
    for (const { name, original } of await evidenceFiles(receipt.value, io.reader)) {
      files.push({ name, original, ...(await scrubFile(blobOf(original), paths, io)) });
    }
    return { receipt: link(receipt.cid), files };
  },
  recheck: (recorded, inputs, io) => recheck(recorded, inputs.receipt, io),
});

interface Io {
  readonly reader: Reader;
  readonly emit: Emit;
}

interface EvidenceFile {
  readonly name: string;
  readonly original: Evidence;
}

/**
 * Every evidence file of a receipt by name. Names that we give stand before those that an agent chose, so that a
 * reader who takes the first file of a name never takes an agent's file for ours.
 */
export async function evidenceFiles(receipt: Receipt, reader: Reader): Promise<EvidenceFile[]> {
  const files: EvidenceFile[] = [];
  const add = (name: string, original: Evidence | undefined) => {
    if (original !== undefined) files.push({ name, original });
  };
  add('report', receipt.report);
  add('surface', receipt.surface);
  add('host-facts', receipt.hostFacts);
  for (const { verb, bytes } of receipt.replies) add(`reply-${verb}`, bytes);
  for (const each of receipt.exchanges) {
    const exchange = await readAs('exchange', each['/'], reader);
    add(`exchange-${exchange.sequence}-request`, exchange.request);
    add(`exchange-${exchange.sequence}-response`, exchange.response);
  }
  for (const { name, bytes } of receipt.natives) add(name, bytes);
  return files;
}

const blobOf = (original: Evidence): Cid => cidFromDigest('raw', digestOfEvidence(original));

async function replacements(receipt: Receipt, reader: Reader) {
  return receipt.hostFacts === undefined ? [] : replacementsOf(await reader.get(blobOf(receipt.hostFacts)));
}

async function scrubFile(
  blob: Cid,
  paths: PathFinder,
  io: Io,
): Promise<Omit<ScrubbedFile, keyof EvidenceFile>> {
  const tally: Tally = { replaced: 0 };
  const cid = await io.emit(scrubbed(io.reader.stream(blob), paths, tally));
  return { scrubbed: link(cid), replaced: tally.replaced };
}

/**
 * The record had back from what was published. An original that is there is scrubbed again. For one that is not: the
 * published bytes must be a fixed point, and where nothing was replaced their digest is the original's. Only published
 * bytes that are not there count as withheld.
 */
async function recheck(
  recorded: Body,
  receipt: Input<Receipt>,
  io: Io,
): Promise<{ body: Body; withheld: number }> {
  const paths = pathFinder(await knownReplacements(recorded, receipt.value, io.reader));
  const facts = receipt.value.hostFacts;
  const complete = facts === undefined || (await io.reader.has(blobOf(facts)));
  const files: ScrubbedFile[] = [];
  let withheld = 0;
  const listed = await evidenceFiles(receipt.value, io.reader);
  for (const [i, { name, original }] of listed.entries()) {
    const whole = complete && (await io.reader.has(blobOf(original)));
    const again = whole
      ? await scrubFile(blobOf(original), paths, io)
      : await fromPublished(original, recorded.files[i], paths, io);
    if (again === undefined) withheld++;
    files.push(again === undefined ? recorded.files[i]! : { name, original, ...again });
  }
  return { body: { receipt: link(receipt.cid), files }, withheld };
}

/** What the published bytes show about a file whose original is not there; undefined where they are withheld too. */
async function fromPublished(
  original: Evidence,
  before: ScrubbedFile | undefined,
  paths: PathFinder,
  io: Io,
): Promise<Omit<ScrubbedFile, keyof EvidenceFile> | undefined> {
  const same = before !== undefined && digestOf(before.scrubbed['/']) === digestOfEvidence(original);
  if (before === undefined || (before.replaced === 0) !== same)
    return { scrubbed: link(blobOf(original)), replaced: 0 };
  if (!(await io.reader.has(before.scrubbed['/']))) return undefined;
  const again = await scrubFile(before.scrubbed['/'], paths, io);
  return { scrubbed: again.scrubbed, replaced: before.replaced + again.replaced };
}

/** The replacements, or those still visible in the published host facts where the original is withheld. */
async function knownReplacements(recorded: Body, receipt: Receipt, reader: Reader) {
  if (receipt.hostFacts === undefined) return [];
  const published = recorded.files.find((file) => file.original === receipt.hostFacts)?.scrubbed['/'];
  for (const cid of [blobOf(receipt.hostFacts), published]) {
    if (cid === undefined || !(await reader.has(cid))) continue;
    try {
      return replacementsOf(await reader.get(cid));
    } catch (error) {
      if (!isFault(error, 'E_NOT_FOUND')) throw error;
    }
  }
  return [];
}
