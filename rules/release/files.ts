/**
 * Where a publication keeps what (DESIGN section 6). The one place that knows these paths.
 * Promises: equal records give equal paths; `release.json` and `seal/` stand outside the manifest.
 */
import { type Cid, codecOf } from '../../store/format/cid.ts';

/** The manifest: the canonical bytes of the release record. */
export const MANIFEST = 'release.json';
export const SEAL = 'seal/';
export const SEAL_FILES = {
  entries: 'seal/entries.jsonl',
  c2: 'seal/checkpoint',
  proof: 'seal/release.tlog-proof',
  consistency: 'seal/consistency',
} as const;

export const LOG_FILES = {
  vkey: 'log/vkey',
  c0: 'log/checkpoint-before',
  c1: 'log/checkpoint',
  entries: 'log/entries.jsonl',
} as const;

/** A block's file; the last two characters of a CID are evenly spread. */
export const blockPath = (cid: Cid): string =>
  `blocks/${cid.slice(-2)}/${cid}${codecOf(cid) === 'dag-json' ? '.json' : ''}`;
const BLOCK = /^blocks\/([a-z2-7]{2})\/(b[a-z2-7]+)(\.json)?$/;

/** The CID that a block's path spells; undefined for any other path. */
export function cidOfPath(path: string): Cid | undefined {
  const cid = BLOCK.exec(path)?.[2] as Cid | undefined;
  return cid !== undefined && path === safeBlockPath(cid) ? cid : undefined;
}

function safeBlockPath(cid: Cid): string | undefined {
  try {
    return blockPath(cid);
  } catch {
    return undefined;
  }
}

export const reportPath = (name: string): string => `report/${name}`;
export const pagePath = (name: string): string => `pages/${name}`;
