/**
 * Closures as CARv1 (IPLD CARv1), out and in.
 * Promises: `exportCar` gives the same bytes for the same roots; `importCar` re-hashes every block before it is kept,
 * refuses a block under another's name, and walks the closure of the roots to its end, since a CAR that was cut between
 * two blocks looks whole. Running it again after a failure goes on with what is there. Memory: a MiB and the set of cids.
 * Does not promise: records. Blocks of records get their leaves from `record` or `adopt`.
 */

import { type Cid, codecOf, digestOf } from './format/cid.ts';
import { type ClosureOptions, closure } from './format/closure.ts';
import { fail, isFault } from './format/errors.ts';
import type { Reader } from './format/reader.ts';
import {
  carHeader,
  cidOfHead,
  MAX_HEAD,
  MAX_HEADER,
  readHead,
  readHeader,
  readVarint,
  sectionHead,
} from './frame.ts';
import { MEBIBYTE } from './keys.ts';
import type { NewBlock, Store } from './store.ts';

/** What an export reads from: a reader that knows sizes. */
export type SizedReader = Reader & Pick<Store, 'size'>;

/** The closure of `roots` as a CAR. Throws what reading throws, before the block that is missing. */
export async function* exportCar(
  reader: SizedReader,
  roots: readonly Cid[],
  options: ClosureOptions = {},
): AsyncGenerator<Uint8Array> {
  yield carHeader(roots);
  for await (const { cid, bytes } of closure(reader, roots, options)) {
    if (bytes === null) yield* rawSection(reader, cid);
    else yield Buffer.concat([sectionHead('dag-json', digestOf(cid), bytes.length), bytes]);
  }
}

async function* rawSection(reader: SizedReader, cid: Cid): AsyncGenerator<Uint8Array> {
  yield sectionHead(codecOf(cid), digestOf(cid), await reader.size(cid));
  yield* reader.stream(cid);
}

/** These blocks alone as a CAR, in this order: what a mirror sends to one who said what it has. */
export async function* exportBlocks(
  reader: SizedReader,
  roots: readonly Cid[],
  cids: Iterable<Cid>,
): AsyncGenerator<Uint8Array> {
  yield carHeader(roots);
  for (const cid of cids) yield* rawSection(reader, cid);
}

/** A section on its way in. `bytes` must be read to its end before the next section. */
export interface Section {
  readonly cid: Cid;
  readonly length: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface CarReader {
  readonly roots: readonly Cid[];
  /** Throws E_CAR for anything that is not framed as a CARv1, a cut inside a section included. Hashes nothing. */
  readonly sections: AsyncIterable<Section>;
}

/** Reads the frames of a CAR. Throws E_CAR, E_CID. */
export async function readCar(source: AsyncIterable<Uint8Array>): Promise<CarReader> {
  const input = openInput(source);
  const head = readVarint(await input.peek(8), 0);
  if (head === null || head.value > MAX_HEADER) fail('E_CAR', { where: 'header', wanted: 'its length' });
  await input.peek(head.length);
  input.skip(head.length);
  const body = await input.peek(head.value);
  if (body.length < head.value) fail('E_CAR', { where: 'header', found: 'the end of the file' });
  const roots = readHeader(Uint8Array.from(body.subarray(0, head.value)));
  input.skip(head.value);
  return { roots, sections: sections(input) };
}

async function* sections(input: Input): AsyncGenerator<Section> {
  for (let number = 0; ; number++) {
    const bytes = await input.peek(MAX_HEAD);
    if (bytes.length === 0) return;
    const head = readHead(bytes, 0);
    if (head === null)
      fail('E_CAR', { where: `section ${number}`, wanted: 'a length and a sha2-256 CIDv1, raw or dag-json' });
    input.skip(head.head);
    const body = input.take(head.length, `section ${number}`);
    yield { cid: cidOfHead(head), length: head.length, bytes: body };
    // What the consumer left unread would be taken for the next section.
    for await (const _ of body);
  }
}

interface Input {
  /** At least `count` bytes, unless the source ends before; not consumed. */
  peek(count: number): Promise<Buffer>;
  skip(count: number): void;
  take(count: number, where: string): AsyncIterable<Uint8Array>;
}

function openInput(source: AsyncIterable<Uint8Array>): Input {
  const chunks = source[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  const more = async (): Promise<boolean> => {
    const next = await chunks.next();
    if (next.done === true) return false;
    held = held.length === 0 ? view(next.value) : Buffer.concat([held, next.value]);
    return true;
  };
  return {
    async peek(count) {
      while (held.length < count && (await more()));
      return held;
    },
    skip(count) {
      held = held.subarray(count);
    },
    async *take(count, where) {
      for (let left = count; left > 0; ) {
        if (held.length === 0 && !(await more()))
          fail('E_CAR', { where, wanted: `${left} more bytes`, found: 'the end of the file' });
        const piece = held.subarray(0, left);
        held = held.subarray(piece.length);
        left -= piece.length;
        if (piece.length > 0) yield piece;
      }
    },
  };
}

const view = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

export interface Imported {
  readonly roots: readonly Cid[];
  /** Sections read, and those that were new. */
  readonly blocks: number;
  readonly added: number;
}

/** What an import writes to. */
export type Target = SizedReader & Pick<Store, 'putStream' | 'putMany'>;

/** Small blocks go in as batches of this many, or this many bytes. */
const BATCH = 1024;
const BATCH_BYTES = 16 * MEBIBYTE;

/**
 * Stores the blocks of a CAR and demands the closure of its roots (and of `wanted`). Throws E_DIGEST for a block under
 * another's name (which is not kept; those before it are), E_CAR, and E_INCOMPLETE naming what is missing.
 */
export async function importCar(
  store: Target,
  source: AsyncIterable<Uint8Array>,
  options: ClosureOptions & { readonly wanted?: readonly Cid[] } = {},
): Promise<Imported> {
  const car = await readCar(source);
  let batch: NewBlock[] = [];
  let held = 0;
  let blocks = 0;
  let added = 0;
  const flush = async () => {
    const stored = await store.putMany(batch);
    added += stored.filter((block) => block.added).length;
    batch = [];
    held = 0;
  };
  for await (const { cid, length, bytes } of car.sections) {
    blocks++;
    if (length < MEBIBYTE) batch.push({ bytes: await whole(bytes), expect: cid });
    else if ((await store.putStream(bytes, { expect: cid })).added) added++;
    held += length < MEBIBYTE ? length : 0;
    if (batch.length >= BATCH || held >= BATCH_BYTES) await flush();
  }
  await flush();
  await demand(store, [...car.roots, ...(options.wanted ?? [])], options);
  return { roots: car.roots, blocks, added };
}

async function whole(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts);
}

/** How many missing blocks a fault names. */
const NAMED = 20;

/** Throws E_INCOMPLETE unless the closure of the roots is here. */
export async function demand(
  reader: Reader,
  roots: readonly Cid[],
  options: ClosureOptions = {},
): Promise<void> {
  const missing: Cid[] = [];
  const onMissing = (cid: Cid, error: Error) => {
    if (isFault(error, 'E_CODEC')) throw error;
    missing.push(cid);
  };
  const walk = closure(reader, roots, { ...options, onMissing });
  for await (const _ of walk);
  if (missing.length === 0) return;
  const more = missing.length > NAMED ? ` and ${missing.length - NAMED} more` : '';
  fail('E_INCOMPLETE', {
    wanted: 'all that the roots link to',
    found: `nothing for ${missing.slice(0, NAMED).join(', ')}${more}`,
  });
}
