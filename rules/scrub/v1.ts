/**
 * scrub v1: for every evidence file of a receipt, the bytes that may be published, and which of them are held back: what
 * the study withholds, and what still holds something that may not be published once it is decoded.
 * Promises: host paths become their replacement, secrets become `[redacted:<shape>]`, all else keeps its bytes; the
 * scrubbed bytes are a fixed point of the same scrubbing; held bytes are linked by no record.
 * Does not promise: that what it could not recognise is harmless.
 */
import {
  type Cid,
  cidFromDigest,
  digestOf,
  digestOfEvidence,
  type Evidence,
  evidence,
  link,
} from '../../store/format/cid.ts';
import { isFault } from '../../store/format/errors.ts';
import type { Emit, Reader } from '../../store/format/reader.ts';
import type { Full } from '../contracts/kit.ts';
import type { Receipt } from '../contracts/receipt.ts';
import type { HeldFile, Scrub } from '../contracts/scrub.ts';
import type { Study, Withholdable } from '../contracts/study.ts';
import { type Watch, watched } from '../hygiene/find.ts';
import { type Binding, defineRule, type Input, one, readAs } from '../rule.ts';
import { type PathFinder, pathFinder, replacementsOf } from './paths.ts';
import { blockOf, isHeld } from './published.ts';
import { scrubbed, type Tally } from './stream.ts';

type Body = Omit<Full<Scrub>, 'kind' | 'v' | 'derivation'>;
type ScrubbedFile = Body['files'][number];

export const scrubV1 = defineRule({
  name: 'scrub',
  v: 1,
  scope: 'subject',
  gives: 'scrub',
  needs: { receipt: one('receipt'), study: one('study') },
  on: ['receipt'],
  async bind(subject, view): Promise<readonly Binding[]> {
    if (subject.value.kind !== 'receipt') return [];
    const start = await view.record(subject.value.start['/']);
    return start.kind === 'start' ? [{ inputs: { receipt: subject.cid, study: start.study['/'] } }] : [];
  },
  async apply({ receipt, study }, io) {
    const paths = pathFinder(await replacements(receipt.value, io.reader));
    const files: ScrubbedFile[] = [];
    for (const file of await evidenceFiles(receipt.value, io.reader)) {
      const done = await scrubFile(blobOf(file.original), paths, io);
      files.push(listed(file, done, heldFor(file, done, study.value)));
    }
    return { receipt: link(receipt.cid), study: link(study.cid), files };
  },
  recheck: (recorded, inputs, io) => recheck(recorded, inputs, io),
});

interface Io {
  readonly reader: Reader;
  readonly emit: Emit;
}

interface EvidenceFile {
  readonly name: string;
  readonly original: Evidence;
  /** By which a study may withhold it; the run-time surface is always published. */
  readonly withholdable: Withholdable | undefined;
}

/**
 * Every evidence file of a receipt by name. Names that we give stand before those that an agent chose, so that a
 * reader who takes the first file of a name never takes an agent's file for ours.
 */
export async function evidenceFiles(receipt: Receipt, reader: Reader): Promise<EvidenceFile[]> {
  const files: EvidenceFile[] = [];
  const add = (name: string, original: Evidence | undefined, withholdable?: Withholdable) => {
    if (original !== undefined) files.push({ name, original, withholdable });
  };
  add('report', receipt.report, 'reports');
  add('surface', receipt.surface);
  add('host-facts', receipt.hostFacts, 'host-facts');
  for (const { verb, bytes } of receipt.replies) add(`reply-${verb}`, bytes, 'replies');
  for (const each of receipt.exchanges) {
    const exchange = await readAs('exchange', each['/'], reader);
    add(`exchange-${exchange.sequence}-request`, exchange.request, 'exchanges');
    add(`exchange-${exchange.sequence}-response`, exchange.response, 'exchanges');
  }
  for (const { name, bytes } of receipt.natives) add(name, bytes, 'natives');
  return files;
}

/** What scrubbing one file gave. */
interface Scrubbed {
  readonly cid: Cid;
  readonly replaced: number;
  /** Something that may not be published is still there in an encoded form. */
  readonly unfit: boolean;
}

type Held = HeldFile['held'];

function heldFor({ withholdable }: EvidenceFile, { unfit }: Scrubbed, study: Study): Held | undefined {
  if (withholdable !== undefined && study.withheld.includes(withholdable)) return withholdable;
  return unfit ? 'hygiene' : undefined;
}

function listed({ name, original }: EvidenceFile, done: Scrubbed, held: Held | undefined): ScrubbedFile {
  const { cid, replaced } = done;
  if (held === undefined) return { name, original, scrubbed: link(cid), replaced };
  return { name, original, scrubbed: evidence(digestOf(cid)), replaced, held };
}

const blobOf = (original: Evidence): Cid => cidFromDigest('raw', digestOfEvidence(original));

async function replacements(receipt: Receipt, reader: Reader) {
  return receipt.hostFacts === undefined ? [] : replacementsOf(await reader.get(blobOf(receipt.hostFacts)));
}

async function scrubFile(blob: Cid, paths: PathFinder, io: Io): Promise<Scrubbed> {
  const tally: Tally = { replaced: 0 };
  const watch: Watch = { found: false };
  const cid = await io.emit(watched(scrubbed(io.reader.stream(blob), paths, tally), watch));
  return { cid, replaced: tally.replaced, unfit: watch.found };
}

interface Given {
  readonly receipt: Input<Receipt>;
  readonly study: Input<Study>;
}

/**
 * The record had back from what was published. An original that is there is scrubbed again. For one that is not: the
 * published bytes must be a fixed point, and where nothing was replaced their digest is the original's. What is held back
 * counts as withheld: its digest and its count of replacements are taken from the record.
 */
async function recheck(
  recorded: Body,
  { receipt, study }: Given,
  io: Io,
): Promise<{ body: Body; withheld: number }> {
  const paths = pathFinder(await knownReplacements(recorded, receipt.value, io.reader));
  const facts = receipt.value.hostFacts;
  const complete = facts === undefined || (await io.reader.has(blobOf(facts)));
  const files: ScrubbedFile[] = [];
  let withheld = 0;
  for (const [i, file] of (await evidenceFiles(receipt.value, io.reader)).entries()) {
    const before = recorded.files[i];
    const whole = complete && (await io.reader.has(blobOf(file.original)));
    const again = whole
      ? await scrubFile(blobOf(file.original), paths, io)
      : await fromPublished(file.original, before, paths, io);
    if (again !== undefined) files.push(listed(file, again, heldFor(file, again, study.value)));
    else {
      withheld++;
      files.push(unseen(file, before as HeldFile, study.value));
    }
  }
  return { body: { receipt: link(receipt.cid), study: link(study.cid), files }, withheld };
}

/** A file of which nothing is there, as recorded, but for the reason: the study's kind goes before hygiene. */
function unseen(file: EvidenceFile, before: HeldFile, study: Study): ScrubbedFile {
  const done = { cid: blockOf(before.scrubbed), replaced: before.replaced, unfit: true };
  return listed(file, done, heldFor(file, done, study));
}

/** What the published bytes show about a file whose original is not there; undefined where they are held back too. */
async function fromPublished(
  original: Evidence,
  before: ScrubbedFile | undefined,
  paths: PathFinder,
  io: Io,
): Promise<Scrubbed | undefined> {
  const there = before === undefined ? undefined : blockOf(before.scrubbed);
  const same = there !== undefined && digestOf(there) === digestOfEvidence(original);
  if (before === undefined || there === undefined || (before.replaced === 0) !== same)
    return { cid: blobOf(original), replaced: 0, unfit: false };
  if (isHeld(before) && !(await io.reader.has(there))) return undefined;
  const again = await scrubFile(there, paths, io);
  return { ...again, replaced: before.replaced + again.replaced };
}

/** The replacements, or those still visible in the published host facts where the original is withheld. */
async function knownReplacements(recorded: Body, receipt: Receipt, reader: Reader) {
  if (receipt.hostFacts === undefined) return [];
  const published = recorded.files.find((file) => file.original === receipt.hostFacts)?.scrubbed;
  const places = [blobOf(receipt.hostFacts), ...(published === undefined ? [] : [blockOf(published)])];
  for (const cid of places) {
    if (!(await reader.has(cid))) continue;
    try {
      return replacementsOf(await reader.get(cid));
    } catch (error) {
      if (!isFault(error, 'E_NOT_FOUND')) throw error;
    }
  }
  return [];
}
