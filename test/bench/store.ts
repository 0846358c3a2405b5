/**
 * Bench: the store beside the least work that could do the same, CPU time of this process with its threads.
 * `node dist/test/bench/store.js [folder]` (default: a temporary folder). Prints a line a job: CPU ms of ours and of the
 * floor, their ratio and its target; best of five rounds, so that the first ones pay for compilation.
 * The floors: put = SHA-256 each + one file + one fsync; get = pread + SHA-256; big = one SHA-256 pass + write + fsync;
 * check = one SHA-256 pass over all bytes. `openssl dgst` and `dd` are told beside them where they are installed.
 */
import { execFileSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
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

const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
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
  const before = syncs;
  await Promise.all(Array.from({ length: 200 }, (_, i) => store.put(Buffer.from(`together ${i}`))));
  console.log(`200 puts together: ${syncs - before} fsync (target <= 2)`);
  for (const one of stores) await one.close();
  return places[0] as TestPlace;
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
  const child = (command: string, args: readonly string[]) => {
    const before = process.resourceUsage();
    execFileSync(command, args, { stdio: 'ignore' });
    return before;
  };
  try {
    child('openssl', ['dgst', '-sha256', floorFile]);
    const ticks = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]?.split(' ') ?? [];
    console.log(`openssl dgst of the same: ${Number(ticks[13]) * 10 + Number(ticks[14]) * 10} ms CPU`);
  } catch {
    console.log('openssl is not here');
  }
  await store.close();
}

async function whole(place: TestPlace): Promise<void> {
  const check = async () => {
    const { faults } = await checkStore(place.path, { kinds: testKinds });
    if (faults.length > 0) throw new Error(JSON.stringify(faults[0]));
  };
  const floor = () => {
    readFloor(floorFile);
    for (const { bytes } of blocks) hash('sha256', bytes, 'hex');
  };
  await compare('check all of it', '<= 1.25', check, floor);
}

try {
  const place = await smallBlocks();
  await bigBlocks(place);
  await whole(place);
} finally {
  rmSync(base, { recursive: true, force: true });
}
