/**
 * Fills a small file system and lives on it: `node store-full-child.js FOLDER`, FOLDER being one of a few MiB. Prints as
 * JSON which faults were met and what was wrong afterwards.
 */
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { checkStore } from '../../store/check.ts';
import type { Cid } from '../../store/format/cid.ts';
import { isFault } from '../../store/format/errors.ts';
import { initStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { testKinds } from '../store/kinds.ts';
import { placeAt, type TestPlace } from '../store/place.ts';
import { collect, filled } from '../suite/blocks.ts';

const [folder = ''] = process.argv.slice(2);
const filler = join(folder, 'filler');
const faults: string[] = [];
const wrong: string[] = [];

/** Leaves about so many bytes. */
function fill(left: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const fd = openSync(filler, 'w');
  const piece = Buffer.alloc(bsize, 1);
  for (let rest = bavail * bsize - left; rest > 0; rest -= bsize) writeSync(fd, piece);
  closeSync(fd);
}

/** What was acknowledged: this must be there afterwards. */
interface Kept {
  readonly blocks: Map<Cid, Buffer>;
  readonly records: Set<Cid>;
  target: Cid | null;
}

async function attempt(what: string, act: () => Promise<void>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (!isFault(error)) throw error;
    faults.push(error.code);
    if (error.code !== 'E_IO') wrong.push(`${what}: ${error.message}`);
    return false;
  }
}

/** Puts, records and names until each of them fails, or has gone well often enough. */
async function live(store: Store, kept: Kept, seed: number): Promise<void> {
  const put = async (bytes: Buffer) => void kept.blocks.set(await store.put(bytes), bytes);
  for (const [length, times] of [
    [3 << 20, 1],
    [200_000, 8],
    [3000, 12],
  ] as const)
    for (let i = 0; i < times; i++) await attempt('put', () => put(filled(length, seed + length + i)));
  await attempt('putMany', async () => {
    const many = Array.from({ length: 40 }, (_, i) => filled(30_000, seed * 100 + i));
    const stored = await store.putMany(many.map((bytes) => ({ bytes })));
    stored.forEach(({ cid }, i) => void kept.blocks.set(cid, many[i] as Buffer));
  });
  for (let i = 0; i < 6; i++)
    await attempt('record', async () => {
      const text = `${seed} ${i} ${'x'.repeat(9000)}`;
      kept.records.add((await store.record({ kind: 'note', text })).cid);
    });
  for (const cid of [...kept.blocks.keys()].slice(-3))
    await attempt('name', async () => {
      kept.target = (await store.setName('here', cid)).target;
    });
}

async function mustHold(store: Store, kept: Kept, when: string): Promise<void> {
  for (const [cid, bytes] of kept.blocks)
    if (!(await collect(store.stream(cid))).equals(bytes)) wrong.push(`${when}: other bytes of ${cid}`);
  for (const cid of kept.records)
    if ((await store.leafOf(cid)) === null) wrong.push(`${when}: no leaf of ${cid}`);
  const target = (await store.name('here'))?.target ?? null;
  // A name that was refused may stand after all: its leaf can have been durable before the rest failed.
  if (kept.target !== null && target === null) wrong.push(`${when}: the name is gone`);
}

async function round(place: TestPlace, left: number, seed: number): Promise<void> {
  const kept: Kept = { blocks: new Map(), records: new Set(), target: null };
  const before = await place.open();
  await before.setName('here', await before.put(filled(100, seed)));
  fill(left);
  await live(before, kept, seed);
  await mustHold(before, kept, 'still full, same process');
  await attempt('close', () => before.close());
  await attempt('open', async () => (await place.open()).close());
  const reader = await place.open({ readOnly: true });
  await mustHold(reader, kept, 'still full, read-only');
  await reader.close();
  rmSync(filler);
  const after = await place.open();
  await mustHold(after, kept, 'with room again');
  const bytes = filled(50_000, seed + 7777);
  if (!Buffer.from(await after.get(await after.put(bytes))).equals(bytes)) wrong.push('a put after it');
  await after.record({ kind: 'note', text: `after ${seed}` });
  await after.close();
  const report = await checkStore(place.path, { kinds: testKinds });
  wrong.push(...report.faults.map((fault) => `${left} bytes left: ${JSON.stringify(fault)}`));
}

for (const [i, left] of [0, 4096, 20_000, 70_000, 600_000, 2_000_000, 4_000_000].entries()) {
  const base = join(folder, String(i));
  mkdirSync(base);
  const logKey = join(base, 'log.key');
  await initStore(join(base, 'store'), { logKey });
  await round(placeAt(join(base, 'store'), logKey), left, 1000 * (i + 1));
  rmSync(base, { recursive: true });
}
process.stdout.write(JSON.stringify({ faults, wrong }));
