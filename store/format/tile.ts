/**
 * Tiles and entry bundles of C2SP tlog-tiles: where the hashes and entries of a log lie, and what is in the files.
 * Promises: one path per tile and one byte string per bundle; anything else is refused.
 * Does not promise: reading or writing files; a tile's bytes are believed only through a proof or a root.
 */
import { fail } from './errors.ts';
import { type Hash, type HashReader, nodeHash, subtrees } from './merkle.ts';
import { counted } from './words.ts';

/** Hashes in a full tile, entries in a full bundle. */
export const TILE_WIDTH = 256;
/** Longest log entry in bytes (its length is a uint16). */
export const MAX_ENTRY = 65_535;
const TILE_HEIGHT = 8;
const HASH_BYTES = 32;

/** A tile of hashes (`level` 0-63) or a bundle of entries; `width` 1-256, below 256 for a partial one. */
export interface Tile {
  readonly level: number | 'entries';
  readonly index: number;
  readonly width: number;
}

/** `tile/<L>/<N>[.p/<W>]` with N as `x001/x234/067`. */
export function tilePath({ level, index, width }: Tile): string {
  const groups: string[] = [];
  let rest = index;
  do {
    groups.unshift(String(rest % 1000).padStart(3, '0'));
    rest = Math.floor(rest / 1000);
  } while (rest > 0);
  const n = groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/');
  return `tile/${level}/${n}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

const PATH = /^tile\/(entries|\d{1,2})\/((?:x\d{3}\/)*\d{3})(?:\.p\/(\d{1,3}))?$/;

/** The tile of a path. Throws E_PATH for every other spelling. */
export function parseTilePath(path: string): Tile {
  const [, level = '', n = '', width] = PATH.exec(path) ?? [];
  const tile: Tile = {
    level: level === 'entries' ? level : Number(level),
    index: Number(n.replace(/[x/]/g, '')),
    width: width === undefined ? TILE_WIDTH : Number(width),
  };
  const known = tile.level === 'entries' || tile.level <= 63;
  const wide = width === undefined || (tile.width >= 1 && tile.width < TILE_WIDTH);
  if (level === '' || !known || !wide || !Number.isSafeInteger(tile.index) || tilePath(tile) !== path) {
    fail('E_PATH', { wanted: 'tile/<L>/<N>[.p/<W>]', found: JSON.stringify(path) });
  }
  return tile;
}

/** Every tile of hashes that a tree of `size` leaves has, the partial ones at their width. O(size / 256). */
export function* tilesOf(size: number): Generator<Tile> {
  let hashes = size;
  for (let level = 0; hashes > 0; level++, hashes = Math.floor(hashes / TILE_WIDTH)) {
    for (let index = 0; index * TILE_WIDTH < hashes; index++) yield tileAt(level, index, size);
  }
}

/** Tile `index` of `level` as wide as it is in a tree of `size` leaves. */
export function tileAt(level: number | 'entries', index: number, size: number): Tile {
  const hashes = level === 'entries' ? size : Math.floor(size / TILE_WIDTH ** level);
  const width = Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH);
  if (!(width >= 1)) {
    fail('E_PROOF', {
      where: `tile ${level}/${index}`,
      wanted: `a tile of ${counted(size, 'leaf', 'leaves')}`,
      found: 'none',
    });
  }
  return { level, index, width };
}

/**
 * A hash reader over the tiles of a tree of `size` leaves: each hash costs one tile and at most 127 node hashes.
 * Throws E_PROOF for a tile of another length than `size` demands.
 */
export function tileReader(size: number, read: (tile: Tile) => Uint8Array | Promise<Uint8Array>): HashReader {
  return async (level, index) => {
    const inside = level % TILE_HEIGHT;
    const first = index * 2 ** inside;
    const tile = tileAt((level - inside) / TILE_HEIGHT, Math.floor(first / TILE_WIDTH), size);
    const hashes = tileHashes(await read(tile), tile);
    const start = first % TILE_WIDTH;
    const row = hashes.slice(start, start + 2 ** inside);
    if (row.length !== 2 ** inside) {
      fail('E_PROOF', {
        where: tilePath(tile),
        wanted: `subtree ${level}/${index}`,
        found: 'an unfinished one',
      });
    }
    return complete(row);
  };
}

/** The hashes in a tile's bytes. Throws E_PROOF when they are not exactly `width`. */
export function tileHashes(bytes: Uint8Array, tile: Tile): readonly Hash[] {
  if (bytes.length !== tile.width * HASH_BYTES) {
    const wanted = `${tile.width * HASH_BYTES} bytes`;
    fail('E_PROOF', { where: tilePath(tile), wanted, found: String(bytes.length) });
  }
  return Array.from({ length: tile.width }, (_, i) => bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES));
}

function complete(row: readonly Hash[]): Hash {
  let level = row;
  while (level.length > 1) {
    const above: Hash[] = [];
    for (let i = 0; i < level.length; i += 2) above.push(nodeHash(level[i] as Hash, level[i + 1] as Hash));
    level = above;
  }
  return level[0] as Hash;
}

/** The tiles that one proof or root over `[start, end)` reads, in order, without repeats. */
export function tilesFor(start: number, end: number, size: number): readonly Tile[] {
  const found = new Map<string, Tile>();
  for (const { level, index } of subtrees(start, end)) {
    const inside = level % TILE_HEIGHT;
    const tile = tileAt((level - inside) / TILE_HEIGHT, Math.floor((index * 2 ** inside) / TILE_WIDTH), size);
    found.set(tilePath(tile), tile);
  }
  return [...found.values()];
}

/** The bytes of an entry bundle: each entry behind its big-endian uint16 length. Throws E_TOO_LARGE. */
export function entryBundle(entries: readonly Uint8Array[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const entry of entries) {
    if (entry.length > MAX_ENTRY) {
      fail('E_TOO_LARGE', {
        where: 'log entry',
        wanted: `at most ${MAX_ENTRY} bytes`,
        found: String(entry.length),
      });
    }
    parts.push(Buffer.from([entry.length >> 8, entry.length & 0xff]), entry);
  }
  return Buffer.concat(parts);
}

/** The entries of a bundle of 1 to 256. Throws E_PROOF when it ends inside an entry or is not `width` entries. */
export function bundleEntries(bytes: Uint8Array, width: number): readonly Uint8Array[] {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const start = at + 2;
    const end = start + (((bytes[at] as number) << 8) | (bytes[at + 1] ?? 0));
    if (end > bytes.length)
      fail('E_PROOF', { where: 'entry bundle', wanted: 'whole entries', found: 'a cut one' });
    entries.push(bytes.subarray(start, end));
    at = end;
  }
  if (entries.length !== width) {
    fail('E_PROOF', { where: 'entry bundle', wanted: `${width} entries`, found: String(entries.length) });
  }
  return entries;
}
