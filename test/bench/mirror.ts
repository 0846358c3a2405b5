/**
 * Bench: a closure pulled over the loopback address, beside a check of the same store in the same process.
 * `node dist/test/bench/mirror.js`. Both re-hash every byte; the pull also sends, receives and stores them durably.
 * Target: the bytes of a second at least half of those of the check. Wall clock: server and client share this process,
 * so that both sides of the pull are in it. Least of three rounds of each, taken in turn.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pullMirror } from '../../daemon/mirror/pull.ts';
import { serveMirror } from '../../daemon/mirror/serve.ts';
import { openSource } from '../../daemon/mirror/source.ts';
import { checkStore } from '../../store/check.ts';
import { link } from '../../store/format/cid.ts';
import { testKinds } from '../store/kinds.ts';
import { newPlace, type TestPlace } from '../store/place.ts';

const SMALL = { count: 10_000, bytes: 4096 };
const LARGE = { count: 24, bytes: 8 << 20 };
const ROUNDS = 3;

async function fill(place: TestPlace, { count, bytes }: typeof SMALL): Promise<void> {
  const store = await place.open();
  const blocks = Array.from({ length: count }, () => ({ bytes: randomBytes(bytes) }));
  const stored = await store.putMany(blocks);
  const links = stored.map(({ cid }) => link(cid));
  const note = await store.record({ kind: 'note', text: 'all of it', links, want: ['raw'] });
  await store.record({ kind: 'study', text: 'published', links: [link(note.cid)], want: ['note'] });
  await store.close();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Milliseconds of one pull into a new store, and the requests that it took. */
async function pull(base: string, url: string): Promise<{ readonly ms: number; readonly blocks: number }> {
  const to = await (await newPlace(base)).open();
  const source = openSource(url);
  let blocks = 0;
  const ms = await timed(async () => {
    blocks = (await pullMirror(to, source, { mirror: 'm', kinds: testKinds })).blocks;
  });
  source.close();
  await to.close();
  rmSync(to.path, { recursive: true, force: true });
  return { ms, blocks };
}

async function compare(name: string, content: typeof SMALL): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), 'ashlar-bench-'));
  const place = await newPlace(base);
  await fill(place, content);
  const store = await place.open();
  const api = await serveMirror(store, { port: 0 });
  let [pulled, checked, blocks] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const one = await pull(base, api.url);
    pulled = Math.min(pulled, one.ms);
    blocks = one.blocks;
    checked = Math.min(checked, await timed(() => checkStore(place.path, { kinds: testKinds })));
  }
  const ratio = (checked / pulled).toFixed(2);
  const times = `${pulled.toFixed(0)} ms beside check ${checked.toFixed(0)} ms`;
  console.log(`mirror pull, ${name}, ${blocks} blocks: ${times}, speed ${ratio} of check (target >= 0.5)`);
  await api.close();
  await store.close();
  rmSync(base, { recursive: true, force: true });
}

await compare(`${SMALL.count} x 4 KB`, SMALL);
await compare(`${LARGE.count} x 8 MiB`, LARGE);
