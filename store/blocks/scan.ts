/**
 * Reading a segment from front to back: its flushes, its damage, its torn tail.
 * Promises: every sound flush record gives its blocks, damage before it notwithstanding; between damage and the next
 * flush record the blocks that still have their digest are found; only what follows the last sound record is a tail.
 * Does not promise: sound blocks in a flush. Whoever reads them hashes them.
 */

import type { Files } from '../files.ts';
import { sha256Hex } from '../format/crypto.ts';
import { carHeader, type Head, MAX_HEAD, readHead } from '../frame.ts';
import { MAGIC, MAX_ENTRIES, type PlacedEntry, placed, readFlush, recordLength } from './flush.ts';

export interface Flush {
  readonly type: 'flush';
  readonly from: number;
  readonly end: number;
  /** Whether its frames say what its record says; false where the record alone led here. */
  readonly framed: boolean;
  readonly blocks: readonly PlacedEntry[];
}

/** Bytes that belong to no sound flush; `blocks` are those in them that have their digest. */
export interface Stretch {
  readonly type: 'damage' | 'tail';
  readonly from: number;
  readonly end: number;
  readonly blocks: readonly PlacedEntry[];
}

/** Big enough for the largest small block or flush record with its head, many times over. */
const WINDOW = 8 << 20;

/** A view of a file that moves forward. */
export interface Window {
  readonly size: number;
  /** The byte at `at`, or -1 behind the end. */
  byte(at: number): number;
  /** Up to `length` bytes at `at`; fewer only at the end of the file. Valid until the next call. */
  bytes(at: number, length: number): Buffer;
}

export function openWindow(files: Files, fd: number, size: number): Window {
  const buffer = Buffer.allocUnsafe(Math.min(WINDOW, Math.max(size, 1)));
  let start = 0;
  let filled = 0;
  const fill = (at: number, end: number) => {
    if (at >= start && end <= start + filled) return;
    start = at;
    filled = files.read(fd, buffer.subarray(0, Math.min(buffer.length, size - at)), at);
  };
  return {
    size,
    byte(at) {
      if (at >= size) return -1;
      fill(at, at + 1);
      return buffer[at - start] ?? -1;
    },
    bytes(at, length) {
      const end = Math.min(at + length, size);
      fill(at, end);
      return buffer.subarray(at - start, Math.max(at, Math.min(end, start + filled)) - start);
    },
  };
}

/** How every segment begins. */
export const SEGMENT_HEADER = carHeader([]);

/** Where the first flush of a segment begins: behind the header, sound or not; a shorter file has none. */
export const afterHeader = (window: Window): number => Math.min(SEGMENT_HEADER.length, window.size);

/** All of a segment from `from` on, which is where a flush begins. O(bytes). */
export function* scan(window: Window, from: number): Generator<Flush | Stretch> {
  let at = from;
  while (at < window.size) {
    const next = walk(window, at) ?? search(window, at);
    const until = next?.from ?? window.size;
    if (until > at) {
      const type = next === null ? 'tail' : 'damage';
      yield { type, from: at, end: until, blocks: [...sound(window, at, until)] };
    }
    if (next === null) return;
    yield next;
    at = next.end;
  }
}

interface Frame extends Head {
  readonly at: number;
  readonly data: number;
  readonly end: number;
}

function frameAt(window: Window, at: number, until: number): Frame | null {
  const head = readHead(window.bytes(at, MAX_HEAD), 0);
  if (head === null) return null;
  const data = at + head.head;
  const end = data + head.length;
  if (end > until) return null;
  return { codec: head.codec, digest: head.digest, head: head.head, length: head.length, at, data, end };
}

/** The flush that begins at `from`, when its frames and its record agree. */
function walk(window: Window, from: number): Flush | null {
  const seen: Frame[] = [];
  for (let at = from; at < window.size && seen.length <= MAX_ENTRIES; ) {
    const frame = frameAt(window, at, window.size);
    if (frame === null) return null;
    const flush = flushOf(window, frame);
    if (flush?.from === from) return agrees(flush, seen) ? { ...flush, framed: true } : null;
    seen.push(frame);
    at = frame.end;
  }
  return null;
}

function flushOf(window: Window, frame: Frame): Flush | null {
  if (frame.codec !== 'raw' || frame.length > recordLength(MAX_ENTRIES)) return null;
  // Most blocks differ in the first byte: no need to cut out sixteen.
  if (window.byte(frame.data) !== MAGIC[0] || !window.bytes(frame.data, MAGIC.length).equals(MAGIC))
    return null;
  const record = readFlush(window.bytes(frame.data, frame.length));
  if (record === null || recordLength(record.entries.length) !== frame.length) return null;
  const { blocks, end } = placed(record);
  return end === frame.at
    ? { type: 'flush', from: record.from, end: frame.end, framed: false, blocks }
    : null;
}

function agrees(flush: Flush, frames: readonly Frame[]): boolean {
  return flush.blocks.length === frames.length && flush.blocks.every((block, i) => isIn(block, frames[i]));
}

const isIn = (block: PlacedEntry, frame: Frame | undefined): boolean =>
  block.digest === frame?.digest && block.codec === frame.codec && block.offset === frame.data;

/** The next sound record at or after `from`, found by its magic: frames in front of it may be destroyed. */
function search(window: Window, from: number): Flush | null {
  for (let at = find(window, from); at !== null; at = find(window, at + 1)) {
    const record = readFlush(window.bytes(at, recordLength(MAX_ENTRIES)));
    if (record === null || record.from < from) continue;
    const { blocks, end } = placed(record);
    const length = recordLength(record.entries.length);
    // A copy of a record inside some block has the offsets of another place.
    const head = at - end;
    if (head > 0 && head <= MAX_HEAD)
      return { type: 'flush', from: record.from, end: at + length, framed: false, blocks };
  }
  return null;
}

const STEP = 1 << 20;

function find(window: Window, from: number): number | null {
  for (let at = from; at < window.size; at += STEP) {
    const found = window.bytes(at, STEP + MAGIC.length - 1).indexOf(MAGIC);
    if (found >= 0) return at + found;
  }
  return null;
}

/** Blocks in a stretch that frames lead to and that have their digest. */
function* sound(window: Window, from: number, until: number): Generator<PlacedEntry> {
  for (let at = from; at < until; ) {
    const frame = frameAt(window, at, until);
    if (frame === null) return;
    if (frame.length < STEP && has(window, frame) && flushOf(window, frame) === null) {
      const { codec, digest, length, data } = frame;
      yield { codec, digest, length, offset: data };
    }
    at = frame.end;
  }
}

const has = (window: Window, frame: Frame): boolean =>
  sha256Hex(window.bytes(frame.data, frame.length)) === frame.digest;
