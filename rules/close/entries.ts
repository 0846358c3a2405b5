/** The leaves that a close covers: one canonical dag-json object a line, as the log holds them. */
import type { Cid } from '../../store/format/cid.ts';
import { isCid } from '../../store/format/cid.ts';
import { decode } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';

export interface Leaf {
  readonly kind: string;
  readonly cid: Cid;
  readonly at: string;
}

/** The lines of an entries file, without their line ends. Throws E_CONTRACT where the last is not closed. */
export function leafLines(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0x0a, from);
    if (end < 0)
      fail('E_CONTRACT', { where: 'entries', wanted: 'every line closed by LF', found: 'a torn line' });
    lines.push(bytes.subarray(from, end));
    from = end + 1;
  }
  return lines;
}

/** Reads one leaf. Throws E_CODEC, E_CONTRACT. */
export function parseLeaf(line: Uint8Array): Leaf {
  const value = decode(line) as Record<string, unknown> | null;
  const { kind, cid, at } = (value ?? {}) as Record<string, unknown>;
  const named = typeof cid === 'string' ? cid : (cid as { '/'?: unknown } | undefined)?.['/'];
  if (typeof kind !== 'string' || !isCid(named) || typeof at !== 'string') {
    fail('E_CONTRACT', {
      where: 'entries',
      wanted: '{kind, cid, at}',
      found: JSON.stringify(value).slice(0, 200),
    });
  }
  return { kind, cid: named, at };
}

/** Reads every leaf of an entries file. */
export const parseEntries = (bytes: Uint8Array): Leaf[] => leafLines(bytes).map(parseLeaf);
