/**
 * What every implementation of the block part of `Store` must do: on disk, over HTTP, or yours.
 * Run it with `blocksSuite(t, { name, open })`; `open` gives an empty place that can be written, `close` ends it.
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { Test } from 'tap';
import { type Cid, cidOf, parseCid } from '../../store/format/cid.ts';
import type { NewBlock, Store } from '../../store/store.ts';

export type BlockStore = Pick<Store, 'put' | 'putStream' | 'putMany' | 'get' | 'stream' | 'has' | 'size'>;

/** tap's `t`, or one of its subtests. */
type Tester = Pick<Test, 'test' | 'equal' | 'ok' | 'same' | 'rejects' | 'comment'>;

export interface Place {
  readonly store: BlockStore;
  close(): Promise<void>;
}

export interface Suite {
  readonly name: string;
  open(): Promise<Place>;
}

const MIB = 1 << 20;
/** An independent account of identity: SHA-256 by node, spelled as the other accepted spelling. */
const named = (bytes: Uint8Array): Cid =>
  parseCid(`sha256:${createHash('sha256').update(bytes).digest('hex')}`);

/** Bytes that are the same on every run. */
export function filled(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  let x = (seed * 2654435761 + 1) >>> 0;
  for (let i = 0; i + 4 <= length; i += 4) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    bytes.writeInt32LE(x | 0, i);
  }
  return bytes;
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(Uint8Array.from(chunk));
  return Buffer.concat(parts);
}

export function blocksSuite(t: Tester, { name, open }: Suite): void {
  const withPlace = (promise: string, body: (t: Tester, store: BlockStore) => Promise<void>) =>
    t.test(`${name}: ${promise}`, async (t) => {
      const { store, close } = await open();
      try {
        await body(t, store);
      } finally {
        await close();
      }
    });
  withPlace('sizes around every border come back as they were', sizes);
  withPlace('a put names the SHA-256 of the bytes, whatever they are', identity);
  withPlace('a stream in any pieces is the block of its bytes', streams);
  withPlace('ranges are the slices of the block', ranges);
  withPlace('a batch answers in order and stores each block once', batches);
  withPlace('a wrong expectation is refused and keeps nothing', expectations);
  withPlace('what is not there is E_NOT_FOUND', absent);
  withPlace('thirty-two puts of one block at once are one block', race);
  withPlace('bytes may change as soon as put was called', reuse);
}

async function sizes(t: Tester, store: BlockStore): Promise<void> {
  for (const size of [0, 1, 2, 127, 128, 4096, 65_535, 65_536, MIB - 1, MIB, MIB + 1, 3 * MIB, 3 * MIB + 7]) {
    const bytes = filled(size, size);
    const cid = await store.put(bytes);
    t.equal(cid, named(bytes), `${size} bytes: cid`);
    t.ok(Buffer.from(await store.get(cid)).equals(bytes), `${size} bytes: get`);
    t.ok((await collect(store.stream(cid))).equals(bytes), `${size} bytes: stream`);
    t.equal(await store.size(cid), size, `${size} bytes: size`);
    t.equal(await store.has(cid), true, `${size} bytes: has`);
  }
}

async function identity(t: Tester, store: BlockStore): Promise<void> {
  const seed = Date.now() & 0x7fffffff;
  t.comment(`seed ${seed}`);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), async (bytes) => {
      const cid = await store.put(bytes);
      return cid === named(bytes) && Buffer.compare(await store.get(cid), bytes) === 0;
    }),
    { seed, numRuns: 60 },
  );
  const record = Buffer.from('{"kind":"x"}');
  t.equal(await store.put(record, 'dag-json'), cidOf('dag-json', record), 'the codec is in the cid');
  t.ok(await store.has(cidOf('raw', record)), 'and not in the place');
}

async function streams(t: Tester, store: BlockStore): Promise<void> {
  for (const [size, piece] of [
    [5, 1],
    [MIB, 70_000],
    [2 * MIB + 3, MIB + 1],
    [2 * MIB, 5 * MIB],
  ] as const) {
    const bytes = filled(size, size + 1);
    const stored = await store.putStream(inPieces(bytes, piece));
    t.same({ ...stored }, { cid: named(bytes), size, added: true }, `${size} bytes in pieces of ${piece}`);
    t.equal((await store.putStream(inPieces(bytes, size))).added, false, 'the second time adds nothing');
    t.ok((await collect(store.stream(stored.cid))).equals(bytes));
  }
  const none = await store.putStream(inPieces(new Uint8Array(), 1));
  t.equal(none.size, 0, 'a stream of nothing is the empty block');
}

async function ranges(t: Tester, store: BlockStore): Promise<void> {
  for (const size of [100, 3 * MIB + 5]) {
    const bytes = filled(size, 9);
    const cid = await store.put(bytes);
    const cuts: readonly (readonly [number, number])[] = [
      [0, 0],
      [0, 1],
      [10, 20],
      [size - 1, size],
      [size - 3, size + 50],
      [size, size + 1],
      [Math.floor(size / 3), Math.floor((2 * size) / 3)],
    ];
    for (const [start, end] of cuts) {
      const found = await collect(store.stream(cid, { start, end }));
      t.ok(found.equals(bytes.subarray(start, end)), `${size} bytes: [${start}, ${end})`);
    }
  }
}

async function batches(t: Tester, store: BlockStore): Promise<void> {
  const blocks: NewBlock[] = Array.from({ length: 300 }, (_, i) => ({ bytes: filled(i % 100, i % 100) }));
  blocks.splice(150, 0, { bytes: filled(MIB + 9, 3) });
  const first = await store.putMany(blocks);
  t.same(
    first.map(({ cid }) => cid),
    blocks.map(({ bytes }) => named(bytes)),
    'cids in order',
  );
  const fresh = new Set(first.filter(({ added }) => added).map(({ cid }) => cid));
  t.equal(first.filter(({ added }) => added).length, fresh.size, 'each block was added once');
  const second = await store.putMany(blocks);
  t.equal(second.filter(({ added }) => added).length, 0, 'the second time adds 0 blocks');
}

async function expectations(t: Tester, store: BlockStore): Promise<void> {
  for (const size of [10, MIB + 10]) {
    const bytes = filled(size, 77);
    const right = named(bytes);
    const wrong = named(Buffer.from('nope'));
    await t.rejects(store.putStream(inPieces(bytes, 4096), { expect: wrong }), { code: 'E_DIGEST' });
    await t.rejects(store.putMany([{ bytes, expect: wrong }]), { code: 'E_DIGEST' });
    await t.rejects(store.get(wrong), { code: 'E_NOT_FOUND' });
    await t.rejects(store.get(right), { code: 'E_NOT_FOUND' });
    t.equal((await store.putStream(inPieces(bytes, 4096), { expect: right })).cid, right);
    t.ok(Buffer.from(await store.get(right)).equals(bytes));
  }
}

async function absent(t: Tester, store: BlockStore): Promise<void> {
  const cid = named(Buffer.from('absent'));
  t.equal(await store.has(cid), false);
  await t.rejects(store.get(cid), { code: 'E_NOT_FOUND' });
  await t.rejects(store.size(cid), { code: 'E_NOT_FOUND' });
  await t.rejects(collect(store.stream(cid)), { code: 'E_NOT_FOUND' });
}

async function race(t: Tester, store: BlockStore): Promise<void> {
  for (const size of [4096, 4 * MIB]) {
    const bytes = filled(size, 5);
    const all = await Promise.all(
      Array.from({ length: 32 }, () => store.putStream(inPieces(bytes, 1 << 16))),
    );
    t.equal(new Set(all.map(({ cid }) => cid)).size, 1, `${size} bytes: one name`);
    t.equal(all.filter(({ added }) => added).length, 1, `${size} bytes: added once`);
    t.ok(Buffer.from(await store.get(named(bytes))).equals(bytes));
  }
}

async function reuse(t: Tester, store: BlockStore): Promise<void> {
  for (const size of [100, MIB + 5]) {
    const bytes = filled(size, 11);
    const copy = Buffer.from(bytes);
    const putting = store.put(bytes);
    bytes.fill(0);
    t.equal(await putting, named(copy), `${size} bytes`);
    t.ok(Buffer.from(await store.get(named(copy))).equals(copy));
  }
}
