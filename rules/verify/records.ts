/** The record behind every leaf, the leaf of every record that belongs in the log, and every link of every record: there, and of the kind that the contract wants. */
import { type Cid, codecOf } from '../../store/format/cid.ts';
import { isFault } from '../../store/format/errors.ts';
import { parseSnapshot, parseTree } from '../../store/format/tree.ts';
import { type AnyRecord, FAMILY_KINDS, referencesOf } from '../contracts/table.ts';
import type { Faults } from './fault.ts';
import type { Library } from './library.ts';
import type { ReplayedLog } from './log.ts';

export function checkLeaves({ leaves }: ReplayedLog, library: Library, faults: Faults): void {
  const seen = new Set<Cid>();
  for (const [i, { kind, cid }] of leaves.entries()) {
    const record = library.records.get(cid);
    if (seen.has(cid)) faults.add('leaf', `leaf ${i}`, `${cid} has a leaf already`);
    seen.add(cid);
    if (record === undefined) faults.add('leaf', `leaf ${i}`, `no ${kind} record ${cid}`);
    else if (record.kind !== kind)
      faults.add('leaf', `leaf ${i}`, `says ${kind}, the record is a ${record.kind}`);
  }
  for (const [cid, { kind }] of library.records) {
    if (FAMILY_KINDS.has(kind) && !seen.has(cid))
      faults.add('leaf', cid, `a ${kind} that the log does not hold`);
  }
}

/** O(links). An earlier release is not followed: what it alone links need not be here. */
export async function checkLinks(library: Library, faults: Faults): Promise<void> {
  for (const [cid, record] of library.records) {
    if (record.kind === 'release') continue;
    for (const target of referencesOf(record).links) {
      const found = await kindOf(target.cid, library);
      if (found === undefined)
        faults.add('record', cid, `a ${record.kind} links ${target.cid}, which is not here`);
      else if (!fits(found, target.kinds)) {
        faults.add(
          'record',
          cid,
          `a ${record.kind} links ${target.cid}, a ${found}, not a ${target.kinds.join(' or ')}`,
        );
      }
    }
  }
}

const fits = (found: string, wanted: readonly string[]): boolean =>
  wanted.includes('*') || wanted.includes(found);

async function kindOf(
  cid: Cid,
  { records, blocks, reader }: Library,
): Promise<AnyRecord['kind'] | string | undefined> {
  const record = records.get(cid);
  if (record !== undefined) return record.kind;
  if (!blocks.has(cid)) return undefined;
  if (codecOf(cid) === 'raw') return 'raw';
  const bytes = await reader.get(cid);
  if (reads(() => parseTree(bytes))) return 'tree';
  return reads(() => parseSnapshot(bytes)) ? 'snapshot' : 'unknown block';
}

function reads(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (isFault(error)) return false;
    throw error;
  }
}
