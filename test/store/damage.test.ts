import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkStore } from '../../store/check.ts';
import type { Fault } from '../../store/faults.ts';
import { type Cid, cidOf, type Digest, digestOf, evidence, link } from '../../store/format/cid.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import { repairStore } from '../../store/repair.ts';
import type { Store } from '../../store/store.ts';
import { collect, filled } from '../suite/blocks.ts';
import { testKinds } from './kinds.ts';
import { newPlace, placeAt, quickFolder, type TestPlace } from './place.ts';

t.setTimeout(280_000);

const MIB = 1 << 20;
const check = (place: TestPlace) => checkStore(place.path, { kinds: testKinds });
const flip = (path: string, at: number) => {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] as number) ^ 4;
  writeFileSync(path, bytes);
};
const segment = (place: TestPlace) => join(place.path, 'segments', '00000001.car');

/** Paths, sizes and digests of all files: what a look must not change. The lock is not part of what is looked at. */
function picture(path: string, at = ''): string[] {
  return readdirSync(join(path, at), { withFileTypes: true }).flatMap((entry) => {
    const name = join(at, entry.name);
    if (entry.isDirectory()) return picture(path, name);
    return [`${name} ${statSync(join(path, name)).size} ${sha256Hex(readFileSync(join(path, name)))}`];
  });
}

/** A store with three flushes of small blocks, one big block, records in two logs and a checkpoint of each. */
async function sample(base: string): Promise<{ place: TestPlace; cids: readonly Cid[] }> {
  const place = await newPlace(base);
  const store = await place.open();
  const cids: Cid[] = [];
  for (let flush = 0; flush < 3; flush++) {
    const stored = await store.putMany(
      Array.from({ length: 4 }, (_, i) => ({ bytes: filled(60 + 40 * i, flush * 4 + i) })),
    );
    cids.push(...stored.map(({ cid }) => cid));
  }
  cids.push(await store.put(filled(2 * MIB + 9, 99)));
  const study = await store.record({ kind: 'study', links: cids.slice(0, 2).map(link) });
  await store.record({ kind: 'note', links: [link(study.cid)] });
  for (const { origin } of await store.logs.list()) await store.logs.checkpoint(origin);
  await store.close();
  return { place, cids };
}

function copyOf(place: TestPlace, base: string, name: string): TestPlace {
  cpSync(place.path, join(base, name), { recursive: true });
  return placeAt(join(base, name), place.logKey);
}

async function unreadable(store: Store, cids: readonly Cid[]): Promise<Cid[]> {
  const bad: Cid[] = [];
  for (const cid of cids) await collect(store.stream(cid)).catch(() => bad.push(cid));
  return bad;
}

t.test('a sound store has nothing wrong, and looking changes nothing', async (t) => {
  const { place } = await sample(quickFolder(t));
  const before = picture(place.path);
  const report = await check(place);
  t.same(report.faults, []);
  t.same([report.blocks, report.leaves], [15, 2]);
  t.same(picture(place.path), before);
});

t.test('one flipped bit anywhere in a segment costs at most one block, and check names it', async (t) => {
  const base = quickFolder(t);
  const { place, cids } = await sample(base);
  const bytes = readFileSync(segment(place));
  // Records are not counted as lost blocks here, only found by name: their blocks are in the segment too.
  const all = [...cids];
  const reader = await place.open({ readOnly: true });
  for await (const { cid } of reader.since()) all.push(cid);
  await reader.close();
  let named = 0;
  for (let at = 0; at < bytes.length; at += 13) {
    const other = copyOf(place, base, `flip-${at}`);
    flip(segment(other), at);
    const before = picture(other.path);
    const { faults } = await check(other);
    t.ok(faults.length > 0, `byte ${at}: named as ${faults[0]?.kind} ${faults[0]?.where}`);
    named += faults.length > 0 ? 1 : 0;
    t.same(picture(other.path), before, 'looking changed nothing');
    for (const rebuilt of [false, true]) {
      if (rebuilt) rmSync(join(other.path, 'level'), { recursive: true });
      const store = await other.open();
      const bad = await unreadable(store, all);
      t.ok(bad.length <= 1, `byte ${at}${rebuilt ? ', catalog rebuilt' : ''}: ${bad.length} lost`);
      await store.close();
    }
    rmSync(other.path, { recursive: true });
  }
  t.ok(named > 100, `${named} flips`);
});

t.test(
  'four kinds of damage are all named, with what was found; nothing of a bad block is handed out',
  async (t) => {
    const base = quickFolder(t);
    for (const size of [500, MIB + 500]) {
      const place = await newPlace(join(base, String(size)));
      let store = await place.open();
      const blocks = Array.from({ length: 6 }, (_, i) => filled(size, i + 1));
      const cids: Cid[] = [];
      // One flush each, so that a cut can be made at the end of what the last one stored.
      for (const bytes of blocks) cids.push(await store.put(bytes));
      await store.close();
      damage(place, blocks, cids, size);
      const before = picture(place.path);
      const { faults } = await check(place);
      t.same(picture(place.path), before, 'looking changed nothing');
      const bad = faults
        .filter(({ kind }) => kind === 'wrong-digest' || kind === 'disagree')
        .map(({ where }) => where.slice(-64))
        .sort();
      t.same(bad, cids.slice(2).map(digestOf).sort(), `${size} bytes: exactly 3, 4, 5 and 6`);
      for (const { found } of faults.filter(({ kind }) => kind === 'wrong-digest'))
        t.match(found, /^\d+ bytes of sha256:[0-9a-f]{64} in /);
      store = await place.open();
      t.same(await unreadable(store, cids), cids.slice(2));
      for (const cid of cids.slice(2)) await t.rejects(store.get(cid), { code: /E_DIGEST|E_NOT_FOUND/ });
      const again = await store.putMany(blocks.map((bytes) => ({ bytes })));
      t.same(
        again.map(({ added }) => added),
        [false, false, true, true, true, true],
        'a put writes a bad copy again',
      );
      t.same(await unreadable(store, cids), []);
      await store.close();
    }
  },
);

/** Flips a bit of 3, cuts 4, fills 5 with zeros, empties 6. */
function damage(place: TestPlace, blocks: readonly Buffer[], cids: readonly Cid[], size: number): void {
  const [three, four, five, six] = cids.slice(2).map((cid) => join(place.path, 'big', digestOf(cid))) as [
    string,
    string,
    string,
    string,
  ];
  if (size >= MIB) {
    flip(three, 10);
    truncateSync(four, 100);
    writeFileSync(five, Buffer.alloc(size));
    truncateSync(six, 0);
    return;
  }
  const path = segment(place);
  const bytes = readFileSync(path);
  const at = (i: number) => bytes.indexOf(blocks[i] as Buffer);
  bytes[at(2) + 10] = (bytes[at(2) + 10] as number) ^ 1;
  // In a segment a block cannot be shorter: its end is lost.
  bytes.fill(0, at(3) + 100, at(3) + size);
  bytes.fill(0, at(4), at(4) + size);
  writeFileSync(path, bytes.subarray(0, at(5)));
}

t.test('bytes behind the last flush record go to quarantine; sound blocks among them are kept', async (t) => {
  const base = quickFolder(t);
  const { place, cids } = await sample(base);
  const size = statSync(segment(place)).size;
  appendFileSync(segment(place), filled(777, 1));
  t.same(
    (await check(place)).faults.map(({ kind, where }) => [kind, where]),
    [['torn', `segments/1@${size}`]],
  );
  const faults: Fault[] = [];
  let store = await place.open({ onFault: (fault) => faults.push(fault) });
  t.same(
    faults.map(({ kind }) => kind),
    ['torn'],
  );
  await store.close();
  t.equal(statSync(segment(place)).size, size);
  const [kept] = readdirSync(join(place.path, 'quarantine'));
  t.same(readFileSync(join(place.path, 'quarantine', kept as string)), filled(777, 1), 'moved, not deleted');
  t.same((await check(place)).faults, []);
  flip(segment(place), size - 40);
  rmSync(join(place.path, 'level'), { recursive: true });
  store = await place.open();
  t.same(await unreadable(store, cids), [], 'a flip in the last flush record costs no block');
  await store.close();
  t.same((await check(place)).faults, []);
});

t.test('missing, stray and disagreeing things are named, each once, in one look', async (t) => {
  const base = quickFolder(t);
  const { place, cids } = await sample(base);
  const big = digestOf(cids.at(-1) as Cid);
  const logs = readdirSync(join(place.path, 'logs')).sort();
  const family = logs.find((name) => name !== 'store') as string;
  const attempts: readonly (readonly [string, (path: string) => void, RegExp])[] = [
    ['a big file is gone', (p) => rmSync(join(p, 'big', big)), new RegExp(`disagree catalog b/${big}`)],
    ['a leaf list is gone', (p) => rmSync(join(p, 'big', `${big}.leaves`)), /missing big\/.*\.leaves/],
    ['a leaf list is damaged', (p) => flip(join(p, 'big', `${big}.leaves`), 40), /damaged big\/.*\.leaves/],
    ['a stray file at the top', (p) => writeFileSync(join(p, 'x'), ''), /extra x/],
    ['a stray file among segments', (p) => writeFileSync(join(p, 'segments', 'x'), ''), /extra segments\/x/],
    ['a stray file among big blocks', (p) => writeFileSync(join(p, 'big', 'x'), ''), /extra big\/x/],
    ['a segment is gone', (p) => rmSync(join(p, 'segments', '00000001.car')), /disagree baguq/],
    ['a leaf changed', (p) => flip(join(p, 'logs', 'store', 'leaves'), 12), /damaged .* leaf 0/],
    ['a log was cut', (p) => truncateSync(join(p, 'logs', family, 'leaves'), 0), /rollback logs/],
    [
      'a checkpoint changed',
      (p) =>
        flip(
          join(p, 'logs', family, 'checkpoint'),
          -3 + statSync(join(p, 'logs', family, 'checkpoint')).size,
        ),
      /(signature|damaged) logs/,
    ],
    ['a hash changed', (p) => flip(join(p, 'logs', 'store', 'hashes'), 3), /damaged .* leaf 0|rollback logs/],
    ['the catalog is no LevelDB', (p) => writeFileSync(join(p, 'level', 'CURRENT'), 'x'), /disagree level/],
  ];
  for (const [what, harm, wanted] of attempts) {
    const other = copyOf(place, base, what.replaceAll(' ', '-'));
    harm(other.path);
    const before = picture(other.path);
    const { faults } = await check(other);
    const lines = faults.map(({ kind, where }) => `${kind} ${where}`);
    t.ok(
      lines.some((line) => wanted.test(line)),
      `${what}: ${lines.join('; ')}`,
    );
    t.equal(new Set(lines).size, lines.length, 'each once');
    t.same(picture(other.path), before, 'looking changed nothing');
  }
  const all = copyOf(place, base, 'all');
  for (const [what, harm] of attempts) if (!/gone|cut/.test(what)) harm(all.path);
  const { faults } = await check(all);
  t.ok(faults.length >= 6, `all at once: ${faults.length} faults in one look`);
  const told = (list: readonly Fault[]) => list.map(({ kind, where }) => `${kind} ${where}`);
  for (const threads of [1, 2]) {
    const report = await checkStore(all.path, { kinds: testKinds, threads });
    t.same(told(report.faults), told(faults), `the same with ${threads} threads`);
  }
});

t.test(
  'evidence that a record of this store requires is named when it is lost; of another store not',
  async (t) => {
    const base = quickFolder(t);
    const place = await newPlace(base);
    const store = await place.open();
    const kept = await store.put(filled(MIB + 1, 7));
    const lost = await store.put(filled(MIB + 2, 8));
    const study = await store.record({ kind: 'study', text: 's' });
    const made = await store.record({
      kind: 'entry',
      study: link(study.cid),
      unique: 'e',
      evidence: [kept, lost].map((cid) => evidence(digestOf(cid))),
    });
    const note = await store.record({ kind: 'note', text: 'here', evidence: [evidence(digestOf(lost))] });
    const elsewhere = evidence('1'.repeat(64) as Digest);
    const imported = await store.record(
      { kind: 'note', text: 'theirs', evidence: [elsewhere] },
      { imported: true },
    );
    await store.close();
    t.same((await check(place)).faults, [], 'nothing is lost yet');
    const leaf = readFileSync(join(place.path, 'logs', 'store', 'leaves'), 'utf8');
    t.match(
      leaf.split('\n')[1],
      `"cid":{"/":"${imported.cid}"},"imported":true,"kind":"note"`,
      'its leaf says so',
    );
    rmSync(join(place.path, 'big', digestOf(lost)));
    rmSync(join(place.path, 'big', `${digestOf(lost)}.leaves`));
    rmSync(join(place.path, 'level'), { recursive: true });
    const { faults } = await check(place);
    t.same(
      faults.map(({ kind, where, wanted }) => [kind, where, wanted]),
      [made, note].map(({ kind, cid }) => [
        'missing',
        evidence(digestOf(lost)),
        `evidence of ${kind} ${cid}`,
      ]),
    );
  },
);

t.test(
  'repair: survivors move, bad copies go to quarantine, lost blocks are fetched, caches are made anew',
  async (t) => {
    const base = quickFolder(t);
    const { place, cids } = await sample(base);
    const victim = cids[5] as Cid;
    const big = cids.at(-1) as Cid;
    const at = readFileSync(segment(place)).indexOf(filled(60 + 40, 5));
    flip(segment(place), at + 3);
    flip(join(place.path, 'big', digestOf(big)), MIB + 4);
    flip(join(place.path, 'logs', 'store', 'hashes'), 3);
    const held = await place.open({ readOnly: true });
    t.same(await unreadable(held, cids), [victim, big]);
    await held.close();
    const broken = copyOf(place, base, 'unfetched');
    const without = await repairStore(broken.path);
    t.same([...without.lost].sort(), [victim, big].map(digestOf).sort(), 'what cannot be had is named');
    const whole = new Map([
      [cidOf('raw', filled(100, 5)), filled(100, 5)],
      [big, filled(2 * MIB + 9, 99)],
    ]);
    const { lost, done } = await repairStore(place.path, { fetch: async (cid) => whole.get(cid) ?? null });
    t.same(lost, []);
    t.comment(done.join('\n'));
    const store = await place.open();
    t.same(await unreadable(store, cids), []);
    await store.close();
    t.same((await check(place)).faults, []);
    t.same(await repairStore(place.path).then((again) => again.lost), []);
    t.ok(readdirSync(join(place.path, 'quarantine')).length >= 2, 'nothing was deleted');
    const open = await place.open();
    await t.rejects(repairStore(place.path), { code: 'E_STORE_BUSY' });
    await open.close();
  },
);

t.test('a file handed out is a copy: changing it changes nothing here', async (t) => {
  const base = quickFolder(t);
  const place = await newPlace(base);
  const store = await place.open();
  for (const bytes of [filled(20, 1), Buffer.alloc(0), filled(MIB + 1, 2)]) {
    const cid = await store.put(bytes);
    const got = await store.get(cid);
    got.fill(1);
    for await (const piece of store.stream(cid)) piece.fill(2);
    t.ok(Buffer.from(await store.get(cid)).equals(bytes));
  }
  await store.close();
  mkdirSync(join(base, 'out'));
  t.same((await check(place)).faults, []);
});
