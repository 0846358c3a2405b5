/**
 * Bench: the store beside the least work that could do the same, CPU time of this process with its threads.
 * `node dist/test/bench/store.js [folder]` (default: a temporary folder). Prints a line a job: CPU ms of ours and of the
 * floor, their ratio and its target; best of five rounds, so that the first ones pay for compilation.
 * The floors: put = SHA-256 each + one file + one fsync; get = pread + SHA-256; big = one SHA-256 pass + write + fsync,
 * and `openssl dgst` + `dd conv=fdatasync`; check = `openssl dgst`. Peers: cacache, git fast-import, level. Needs git,
 * openssl and dd on PATH, and about 8 GB in the folder.
 */
import { execFileSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkStore } from '../../store/check.ts';
import { type Files, realFiles } from '../../store/files.ts';
import type { Cid } from '../../store/format/cid.ts';
import { hasher } from '../../store/format/crypto.ts';
import type { Store } from '../../store/store.ts';
import { testKinds } from '../store/kinds.ts';
import { newPlace, type TestPlace } from '../store/place.ts';
import { childrenCpu, fastImport, openLevelPeer, putCacache } from '../tools/store-peers.ts';

const ROUNDS = 5;
const COUNT = 10_000;
const SIZE = 4096;
const MIB = 1 << 20;
const BIG_MIB = 512;

const base = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'ashlar-bench-'));
let syncs = 0;
const files: Files = {
  ...realFiles,
  sync: (fd) => {
    syncs++;
    return realFiles.sync(fd);
  },
};

/** CPU of this process, its threads and the children that have ended (ms). */
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenCpu();
};

async function spent(work: () => unknown): Promise<number> {
  const before = cpu();
  await work();
  return cpu() - before;
}

/** Least of several rounds of both, taken in turn: a busy machine disturbs both alike. */
async function compare(
  name: string,
  target: string,
  ours: () => unknown,
  floor: () => unknown,
): Promise<void> {
  let [a, b] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    a = Math.min(a, await spent(ours));
    b = Math.min(b, await spent(floor));
  }
  console.log(
    `${name}: ${a.toFixed(0)} ms, floor ${b.toFixed(0)} ms, ratio ${(a / b).toFixed(2)} (target ${target})`,
  );
}

const blocks = Array.from({ length: COUNT }, () => ({ bytes: randomBytes(SIZE) }));
const floorFile = join(base, 'floor');

function putFloor(): void {
  const fd = openSync(floorFile, 'w');
  for (const { bytes } of blocks) {
    hash('sha256', bytes, 'hex');
    writeSync(fd, bytes);
  }
  fsyncSync(fd);
  closeSync(fd);
}

function getFloor(order: readonly number[]): void {
  const fd = openSync(floorFile, 'r');
  for (const i of order) {
    const bytes = Buffer.allocUnsafe(SIZE);
    readSync(fd, bytes, 0, SIZE, i * SIZE);
    hash('sha256', bytes, 'hex');
  }
  closeSync(fd);
}

async function smallBlocks(): Promise<TestPlace> {
  const places: TestPlace[] = [];
  const stores: Store[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const place = await newPlace(base);
    places.push(place);
    stores.push(await place.open({ files }));
  }
  const waiting = [...stores];
  await compare(
    'put 10,000 x 4 KB, one batch',
    '<= 2',
    () => (waiting.pop() as Store).putMany(blocks),
    putFloor,
  );
  const store = stores[0] as Store;
  const cids = (await store.putMany(blocks)).map(({ cid }) => cid);
  const order = cids.map((_, i) => (i * 7919) % COUNT);
  const getAll = async () => {
    for (const i of order) await store.get(cids[i] as Cid);
  };
  await compare('get 4 KB, verified, random', '<= 2', getAll, () => getFloor(order));
  await besidePeers(store, cids);
  const before = syncs;
  await Promise.all(Array.from({ length: 200 }, (_, i) => store.put(Buffer.from(`together ${i}`))));
  console.log(`200 puts together: ${syncs - before} fsync (target <= 2)`);
  for (const one of stores) await one.close();
  return places[0] as TestPlace;
}

/** What others need for the same: ours is one over these. */
async function besidePeers(store: Store, cids: readonly Cid[]): Promise<void> {
  const bytes = blocks.map((block) => block.bytes);
  const place = await newPlace(base);
  const fresh = await place.open({ files });
  const ours = await spent(() => fresh.putMany(blocks));
  await fresh.close();
  const say = (name: string, theirs: number, mine: number, target: string) =>
    console.log(
      `${name}: ${theirs.toFixed(0)} ms, ours ${mine.toFixed(0)} ms, ${(theirs / mine).toFixed(1)} x (target ${target})`,
    );
  const cached = bytes.slice(0, COUNT / 10);
  const cacache = 10 * (await spent(() => putCacache(join(base, 'cacache'), cached)));
  say('cacache.put of the same (scaled from 1,000)', cacache, ours, '>= 10');
  say('git fast-import of the same', await spent(() => fastImport(join(base, 'git'), bytes)), ours, '>= 5');
  const level = await openLevelPeer(join(base, 'level-peer'), bytes);
  const order = cids.map((_, i) => (i * 7919) % COUNT);
  const theirs = await spent(() => level.getAll(order));
  const mine = await spent(async () => {
    for (const i of order) await store.get(cids[i] as Cid);
  });
  await level.close();
  say('awaited level get + sha256 of the same', theirs, mine, '>= 3');
}

async function* bigPieces(): AsyncGenerator<Uint8Array> {
  const piece = randomBytes(MIB);
  for (let i = 0; i < BIG_MIB; i++) {
    piece.writeUInt32LE(i, 0);
    yield piece;
  }
}

async function bigFloor(): Promise<void> {
  const whole = hasher();
  // A new file, as a put makes one: pages that are there already cost half.
  rmSync(floorFile, { force: true });
  const fd = openSync(floorFile, 'w');
  for await (const piece of bigPieces()) {
    whole.update(piece);
    writeSync(fd, piece);
  }
  fsyncSync(fd);
  closeSync(fd);
  whole.hex();
}

function readFloor(path: string): void {
  const whole = hasher();
  const fd = openSync(path, 'r');
  const piece = Buffer.allocUnsafe(MIB);
  for (let got = 1; got > 0; ) {
    got = readSync(fd, piece, 0, MIB, null);
    whole.update(piece.subarray(0, got));
  }
  closeSync(fd);
  whole.hex();
}

async function bigBlocks(place: TestPlace): Promise<void> {
  const store = await place.open({ files });
  let cid: Cid | undefined;
  const put = async () => {
    ({ cid } = await store.putStream(bigPieces()));
  };
  await compare(`put ${BIG_MIB} MiB`, '<= 1.25', put, bigFloor);
  const get = async () => {
    for await (const piece of store.stream(cid as Cid))
      if (piece.length === 0) throw new Error('an empty piece');
  };
  await compare(`get ${BIG_MIB} MiB`, '<= 1.25', get, () => readFloor(floorFile));
  console.log(
    `peak memory: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB (target: flat, < 150 more than the inputs)`,
  );
  await besideTools(put, get);
  await store.close();
}

/** The design's own yardstick, in CPU and in wall time. */
async function besideTools(put: () => Promise<void>, get: () => Promise<void>): Promise<void> {
  const copied = join(base, 'copied');
  const hashed = () => execFileSync('openssl', ['dgst', '-sha256', floorFile], { stdio: 'ignore' });
  const written = () =>
    execFileSync('dd', [`if=${floorFile}`, `of=${copied}`, 'bs=1M', 'conv=fdatasync'], { stdio: 'ignore' });
  const row = async (name: string, ours: () => unknown, tools: () => unknown) => {
    const [a, b] = [await timed(ours), await timed(tools)];
    const ratio = (key: 'cpu' | 'wall') => `${key} ${(a[key] / b[key]).toFixed(2)}`;
    console.log(`${name}: ${ratio('cpu')}, ${ratio('wall')} (target <= 1.25)`);
  };
  await row(`put ${BIG_MIB} MiB beside openssl dgst + dd conv=fdatasync`, put, () => {
    hashed();
    written();
  });
  rmSync(copied, { force: true });
  await row(`get ${BIG_MIB} MiB beside openssl dgst`, get, hashed);
}

async function timed(work: () => unknown): Promise<{ cpu: number; wall: number }> {
  const start = performance.now();
  const used = await spent(work);
  return { cpu: used, wall: performance.now() - start };
}

/** A store of 80,000 small blocks in several segments, and as many big ones. */
async function whole(): Promise<void> {
  const place = await newPlace(base);
  const store = await place.open();
  for (let i = 0; i < 8; i++)
    await store.putMany(Array.from({ length: COUNT }, () => ({ bytes: randomBytes(SIZE) })));
  for (let i = 0; i < 2; i++) await store.putStream(bigPieces());
  await store.close();
  const check = async (threads: number) => {
    const { faults } = await checkStore(place.path, { kinds: testKinds, threads });
    if (faults.length > 0) throw new Error(JSON.stringify(faults[0]));
  };
  const stored = ['segments', 'big'].flatMap((folder) =>
    readdirSync(join(place.path, folder)).map((name) => join(place.path, folder, name)),
  );
  const openssl = () => execFileSync('openssl', ['dgst', '-sha256', ...stored], { stdio: 'ignore' });
  await compare('check all of it beside openssl dgst of the files', '<= 1.25', () => check(0), openssl);
  const [one, two] = [[], []] as [number[], number[]];
  for (let round = 0; round < ROUNDS; round++) {
    one.push((await timed(() => check(1))).wall);
    two.push((await timed(() => check(2))).wall);
  }
  const gain = Math.min(...one) / Math.min(...two);
  console.log(`check with two threads: ${gain.toFixed(2)} x as quick as with one (target >= 1.7)`);
}

try {
  const place = await smallBlocks();
  await bigBlocks(place);
  await whole();
} finally {
  rmSync(base, { recursive: true, force: true });
}
