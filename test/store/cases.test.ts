/** The public reports that this store must not repeat, one test each; named after the report's case. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { checkStore } from '../../store/check.ts';
import { type Files, realFiles } from '../../store/files.ts';
import { parseCid } from '../../store/format/cid.ts';
import { fail, isFault } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { collect, filled } from '../suite/blocks.ts';
import { testKinds } from './kinds.ts';
import { newPlace, quickFolder } from './place.ts';

t.setTimeout(280_000);

const MIB = 1 << 20;
const hex = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

t.test('crlf-and-lf-differ: a digest is of the bytes', async (t) => {
  const store = await (await newPlace(quickFolder(t))).open();
  const border = Buffer.alloc(MIB + 1, 'a');
  border.write('\r\n', MIB - 1);
  const inputs = ['a\nb\n', 'a\r\nb\r\n', 'a\r\nb\n'].map((text) => Buffer.from(text));
  for (const bytes of [...inputs, border]) {
    const cid = await store.put(bytes);
    t.equal(cid, parseCid(`sha256:${hex(bytes)}`));
    t.ok(Buffer.from(await store.get(cid)).equals(bytes));
  }
  t.equal(
    (await store.putMany([...inputs, border].map((bytes) => ({ bytes })))).filter(({ added }) => added)
      .length,
    0,
  );
  await store.close();
});

t.test('digest-spellings: two spellings are accepted, and "not a digest" is not "not found"', async (t) => {
  const place = await newPlace(quickFolder(t));
  const opened: string[] = [];
  const files: Files = {
    ...realFiles,
    openRead: (path) => {
      opened.push(path);
      return realFiles.openRead(path);
    },
  };
  const store = await place.open({ files });
  const hello = Buffer.from('hello');
  const cid = await store.put(hello);
  const d = hex(hello);
  const upper = d.toUpperCase();
  const asks = [
    d,
    `sha256:${d}`,
    upper,
    `SHA256:${d}`,
    d.slice(0, 12),
    `${d}0`,
    `${d}\n`,
    ` ${d}`,
    `sha1:${d}`,
    `sha256:${d}/../x`,
  ];
  asks.push(
    `../${d}`,
    `sha256:${'0'.repeat(64)}`,
    'bafkqabi',
    '',
    `${d.slice(0, 63)}g`,
    `sha256-${Buffer.from(d, 'hex').toString('base64')}`,
    `${cid} `,
    cid.toUpperCase(),
  );
  opened.length = 0;
  const answers = new Map<string, string>();
  for (const ask of [...asks, cid]) {
    const before = opened.length;
    const answer = await read(store, ask);
    answers.set(ask, answer);
    if (answer === 'E_CID') t.equal(opened.length, before, `${JSON.stringify(ask)} touched no file`);
  }
  t.same(
    [...answers].filter(([, answer]) => answer === 'hello').map(([ask]) => ask),
    [`sha256:${d}`, cid],
  );
  t.same(
    [...answers].filter(([, answer]) => answer === 'E_NOT_FOUND').map(([ask]) => ask),
    [`sha256:${'0'.repeat(64)}`],
  );
  t.equal([...answers].filter(([, answer]) => answer === 'E_CID').length, asks.length - 2);
  await store.close();
});

async function read(store: Store, ask: string): Promise<string> {
  try {
    return Buffer.from(await store.get(parseCid(ask))).toString();
  } catch (error) {
    return isFault(error) ? error.code : String(error);
  }
}

t.test('get-must-not-share-inode: what is written out is a copy', async (t) => {
  const base = quickFolder(t);
  const place = await newPlace(base);
  const store = await place.open();
  mkdirSync(join(base, 'out'));
  const inodes = new Set<number>();
  const all: string[] = [];
  for (const bytes of [Buffer.from('shared text\n'), Buffer.alloc(0), filled(MIB + 3, 1)]) {
    const cid = await store.put(bytes);
    for (const name of ['1', '2']) {
      const path = join(base, 'out', `${bytes.length}-${name}`);
      writeFileSync(path, await collect(store.stream(cid)));
      all.push(path);
      inodes.add(statSync(path).ino);
    }
    appendFileSync(join(base, 'out', `${bytes.length}-1`), 'x');
    t.ok(readFileSync(join(base, 'out', `${bytes.length}-2`)).equals(bytes));
    t.ok(Buffer.from(await store.get(cid)).equals(bytes));
  }
  await store.close();
  for (const folder of ['segments', 'big'])
    for (const name of readdirSync(join(place.path, folder))) {
      all.push(name);
      inodes.add(statSync(join(place.path, folder, name)).ino);
    }
  t.equal(inodes.size, all.length, 'no two are one file');
  t.same((await checkStore(place.path, { kinds: testKinds })).faults, []);
});

t.test('put-with-wrong-expectation: nothing is kept, no temporary file is left', async (t) => {
  const place = await newPlace(quickFolder(t));
  const store = await place.open();
  for (const size of [3893, MIB + 3893]) {
    const body = filled(size, 4);
    const right = parseCid(`sha256:${hex(body)}`);
    const wrong = parseCid(`sha256:${hex(Buffer.from('nope'))}`);
    const stream = async function* () {
      yield body;
    };
    await t.rejects(store.putStream(stream(), { expect: wrong }), { code: 'E_DIGEST' });
    await t.rejects(store.get(wrong), { code: 'E_NOT_FOUND' });
    await t.rejects(store.get(right), { code: 'E_NOT_FOUND' });
    t.same(readdirSync(join(place.path, 'tmp')), []);
    t.equal((await store.putStream(stream(), { expect: right })).cid, right);
    t.ok(Buffer.from(await store.get(right)).equals(body));
  }
  await store.close();
});

interface Ended {
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly string[];
}

function child(args: readonly string[]): Promise<Ended> {
  const script = fileURLToPath(new URL('./cases-child.js', import.meta.url));
  const running = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const parts: Buffer[] = [];
  running.stdout.on('data', (part: Buffer) => parts.push(part));
  return new Promise((resolve) => {
    running.on('close', (_code, signal) => {
      resolve({
        signal,
        lines: Buffer.concat(parts)
          .toString()
          .split('\n')
          .filter((line) => line !== ''),
      });
    });
  });
}

t.test('same-bytes-at-once: four processes, thirty-two puts, one killed', async (t) => {
  const base = quickFolder(t);
  const place = await newPlace(base);
  const big = filled(4 * MIB, 3);
  writeFileSync(join(base, 'big.bin'), big);
  const args = [place.path, place.logKey, join(base, 'big.bin'), '8'];
  const ended = await Promise.all([child(args), child(args), child([...args, 'die']), child(args)]);
  t.same(
    ended.map(({ signal }) => signal),
    [null, null, 'SIGKILL', null],
  );
  const lines = ended.flatMap((one) => one.lines);
  const cid = parseCid(`sha256:${hex(big)}`);
  t.equal(lines.length, 24, 'every put that was not killed succeeded');
  t.same(lines.filter((line) => line.startsWith(`${cid} `)).length, 24);
  t.equal(lines.filter((line) => line.endsWith(' true')).length, 1, 'one of them added it');
  t.same(readdirSync(join(place.path, 'big')), [hex(big), `${hex(big)}.leaves`]);
  const report = await checkStore(place.path, { kinds: testKinds });
  t.same(report.faults, []);
  t.equal(report.blocks, 1);
  await (await place.open()).close();
  t.same(readdirSync(join(place.path, 'tmp')), [], 'the next owner clears what the killed one left');
});

t.test('puts that come together share their fsyncs', async (t) => {
  const place = await newPlace(quickFolder(t));
  let syncs = 0;
  const files: Files = {
    ...realFiles,
    sync: (fd) => {
      syncs++;
      return realFiles.sync(fd);
    },
  };
  const store = await place.open({ files });
  await store.put(Buffer.from('the segment is there'));
  const spent = async (work: () => Promise<unknown>) => {
    const before = syncs;
    await work();
    return syncs - before;
  };
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => filled(100, from + i));
  t.equal(
    await spent(() => Promise.all(many(0, 100).map((bytes) => store.put(bytes)))),
    1,
    '100 puts of one turn: 1',
  );
  t.equal(
    await spent(() => store.putMany(many(200, 5000).map((bytes) => ({ bytes })))),
    1,
    'a batch of 5,000: 1',
  );
  t.equal(
    await spent(() => Promise.all(many(0, 100).map((bytes) => store.put(bytes)))),
    0,
    'known blocks: 0',
  );
  const staggered = async () => {
    const first = store.put(filled(50, 9001));
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, ...many(9100, 50).map((bytes) => store.put(bytes))]);
  };
  t.ok((await spent(staggered)) <= 2, 'one window: at most 2');
  t.equal(
    (await spent(() => Promise.all(['a', 'b', 'c'].map((text) => store.record({ kind: 'note', text }))))) <=
      6,
    true,
  );
  t.equal(
    await spent(() => Promise.all(['d', 'e', 'f'].map((text) => store.record({ kind: 'note', text })))),
    2,
    'three records together: blocks and leaves',
  );
  await store.close();
});

t.test(
  'a failed fsync is final: its waiters fail, the segment gets no further byte, later puts go on',
  async (t) => {
    const place = await newPlace(quickFolder(t));
    let failing = false;
    const files: Files = {
      ...realFiles,
      sync: (fd) => (failing ? Promise.reject(fail1()) : realFiles.sync(fd)),
    };
    const fail1 = () => {
      try {
        return fail('E_IO', { found: 'EIO' });
      } catch (error) {
        return error;
      }
    };
    const store = await place.open({ files });
    await store.put(filled(10, 1));
    failing = true;
    const waiters = await Promise.allSettled([store.put(filled(10, 2)), store.put(filled(10, 3))]);
    t.same(
      waiters.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    t.equal(await store.has(parseCid(`sha256:${hex(filled(10, 2))}`)), false);
    failing = false;
    const left = statSync(join(place.path, 'segments', '00000001.car')).size;
    t.equal((await store.putMany([{ bytes: filled(10, 2) }]))[0]?.added, true);
    t.equal(statSync(join(place.path, 'segments', '00000001.car')).size, left);
    t.equal(readdirSync(join(place.path, 'segments')).length, 2);
    await store.close();
    const again = await place.open();
    for (const i of [1, 2])
      t.ok(Buffer.from(await again.get(parseCid(`sha256:${hex(filled(10, i))}`))).equals(filled(10, i)));
    await again.close();
  },
);

t.test('a failed write is taken back: the segment keeps its size and goes on', async (t) => {
  const place = await newPlace(quickFolder(t));
  let failing = false;
  const files: Files = {
    ...realFiles,
    write: async (fd, chunks, position) => {
      await realFiles.write(fd, chunks, position);
      if (failing) fail('E_IO', { found: 'ENOSPC' });
    },
  };
  const store = await place.open({ files });
  await store.put(filled(10, 1));
  const path = join(place.path, 'segments', '00000001.car');
  const size = statSync(path).size;
  failing = true;
  await t.rejects(store.put(filled(5000, 2)), { code: 'E_IO' });
  t.equal(statSync(path).size, size);
  failing = false;
  await store.put(filled(5000, 2));
  t.equal(readdirSync(join(place.path, 'segments')).length, 1);
  await store.close();
  t.same((await checkStore(place.path, { kinds: testKinds })).faults, []);
});

t.test('100 MB go in and out in flat memory; 0 and 1 byte too', async (t) => {
  const place = await newPlace(quickFolder(t));
  const store = await place.open();
  const whole = createHash('sha256');
  const stream = async function* () {
    for (let i = 0; i < 100; i++) {
      const piece = filled(1_000_000, i);
      whole.update(piece);
      yield piece;
    }
  };
  const before = process.memoryUsage().rss;
  const { cid, size, added } = await store.putStream(stream());
  t.same([cid, size, added], [parseCid(`sha256:${whole.digest('hex')}`), 100_000_000, true]);
  const back = createHash('sha256');
  for await (const piece of store.stream(cid)) back.update(piece);
  t.equal(parseCid(`sha256:${back.digest('hex')}`), cid);
  const grown = process.memoryUsage().rss - before;
  t.ok(grown < 150 * MIB, `memory grew by ${Math.round(grown / MIB)} MiB`);
  for (const bytes of [Buffer.alloc(0), Buffer.from('x')])
    t.ok(Buffer.from(await store.get(await store.put(bytes))).equals(bytes));
  await store.close();
});
