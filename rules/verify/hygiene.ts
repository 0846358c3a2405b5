/**
 * Hygiene: what may not be published, in published evidence, reports, pages and family-log records.
 * Promises: each finding names file and line and never the value. Corpora of third parties are certification's matter;
 * what an agent left in its workspace is the release rule's (rules/release/workspace.ts).
 */
import type { Cid } from '../../store/format/cid.ts';
import { FAMILY_KINDS } from '../contracts/table.ts';
import { findingsIn } from '../hygiene/find.ts';
import { publishedCid } from '../scrub/published.ts';
import { type Faults, guarded } from './fault.ts';
import type { Library } from './library.ts';

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
      for (const file of record.files) {
        const there = publishedCid(file);
        if (there !== undefined && blocks.has(there)) yield { at: `${cid} ${file.name}`, cid: there };
      }
    }
    if (record.kind === 'report' && 'outputs' in record) {
      for (const { name, bytes } of record.outputs)
        if (blocks.has(bytes['/'])) yield { at: `report ${name}`, cid: bytes['/'] };
    }
    if (record.kind === 'claim' && blocks.has(record.page['/']))
      yield { at: `page ${record.name}`, cid: record.page['/'] };
  }
}
