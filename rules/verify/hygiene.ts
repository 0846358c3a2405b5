/**
 * Hygiene: what may not be published: secrets, and paths of a person's machine, in published evidence, reports, pages
 * and family-log records.
 * Promises: the shapes of rules/secrets.ts and home folders, in the text and in what is encoded in it (nested.ts); each
 * finding names file and line and never the value. Corpora of third parties are certification's matter.
 */
import type { Cid } from '../../store/format/cid.ts';
import { FAMILY_KINDS } from '../contracts/table.ts';
import { SECRET_FINDERS } from '../secrets.ts';
import { type Faults, guarded } from './fault.ts';
import type { Library } from './library.ts';
import { decodedTexts } from './nested.ts';

export interface HygieneFinding {
  /** From 1. */
  readonly line: number;
  readonly shape: string;
}

// Behind a host name, `/home/x` is part of an address. `/home/agent` is what scrub writes for an agent's home.
const HOST_PATHS = [
  /(?:(?<![A-Za-z0-9._~%/-])|(?<=file:\/\/))\/(?:home|Users)\/(?!agent(?![A-Za-z0-9._-]))[A-Za-z0-9._-]+/,
  /(?:(?<![A-Za-z0-9._~%/-])|(?<=file:\/\/))\/root\/[A-Za-z0-9._-]+/,
  /(?<![A-Za-z0-9])[A-Za-z]:\\{1,8}Users\\{1,8}[A-Za-z0-9._-]+/,
];

export async function checkHygiene(library: Library, faults: Faults): Promise<void> {
  for (const { at, cid } of publishedTexts(library)) {
    await guarded(faults, 'hygiene', at, async () => {
      for (const { line, shape } of findingsIn(await library.reader.get(cid)))
        faults.add('hygiene', `${at} line ${line}`, `a ${shape}`);
    });
  }
}

interface Published {
  readonly at: string;
  readonly cid: Cid;
}

/** Everything that is ours to publish or to hold back. */
function* publishedTexts({ records, blocks }: Library): Generator<Published> {
  for (const [cid, record] of records) {
    if (FAMILY_KINDS.has(record.kind)) yield { at: `${record.kind} ${cid}`, cid };
    if (record.kind === 'scrub' && 'files' in record) {
      for (const { name, scrubbed } of record.files)
        if (blocks.has(scrubbed['/'])) yield { at: `${cid} ${name}`, cid: scrubbed['/'] };
    }
    if (record.kind === 'report' && 'outputs' in record) {
      for (const { name, bytes } of record.outputs)
        if (blocks.has(bytes['/'])) yield { at: `report ${name}`, cid: bytes['/'] };
    }
    if (record.kind === 'claim' && blocks.has(record.page['/']))
      yield { at: `page ${record.name}`, cid: record.page['/'] };
  }
}

/** The findings of one file, each shape once a line. O(size x layers). */
export function findingsIn(bytes: Uint8Array): HygieneFinding[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const found: HygieneFinding[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    const shapes = new Set(decodedTexts(line).flatMap(shapesIn));
    for (const shape of shapes) found.push({ line: i + 1, shape });
  }
  // A secret of several lines is in no line alone.
  const named = new Set(found.map(({ shape }) => shape));
  for (const { name, find } of SECRET_FINDERS) {
    const span = named.has(name) ? undefined : find(text, 0);
    if (span !== undefined) found.push({ line: text.slice(0, span.start).split('\n').length, shape: name });
  }
  return found;
}

function shapesIn(text: string): string[] {
  const secrets = SECRET_FINDERS.filter(({ find }) => find(text, 0) !== undefined).map(({ name }) => name);
  return HOST_PATHS.some((pattern) => pattern.test(text)) ? [...secrets, 'path of a machine'] : secrets;
}
