/**
 * Every file that a store holds, harmed in every way: the answer is the right one or a named fault, never other bytes and
 * never a fault of ours; blocks outside the harmed file are read whatever it was; the catalog is made again from nothing.
 */
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { checkStore } from '../../store/check.ts';
import { type Files, realFiles } from '../../store/files.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import { AshlarError, isFault } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { testKinds } from '../store/kinds.ts';
import { newPlace, placeAt, quickFolder, type TestPlace } from '../store/place.ts';
import { collect, filled } from '../suite/blocks.ts';

t.setTimeout(280_000);

/** Nothing here needs a real fsync. */
const files: Files = { ...realFiles, sync: async () => undefined, syncFolder: async () => undefined };
const MIB = 1 << 20;

interface Sample {
  readonly place: TestPlace;
  /** What each question is answered with when nothing is wrong. */
  readonly answers: ReadonlyMap<string, string>;
  readonly blocks: readonly Cid[];
}

/** Three flushes, a big block, records in two own logs and a pulled one, checkpoints, a name, an owner's hint. */
async function sample(base: string): Promise<Sample> {
  const place = await newPlace(base);
  const store = await place.open({ files });
  const blocks: Cid[] = [];
  for (let i = 0; i < 6; i++) blocks.push(await store.put(filled(90 + 300 * i, i + 1)));
  blocks.push(await store.put(filled(2 * MIB + 77, 99)));
  const study = await store.record({ kind: 'study', links: [link(blocks[0] as Cid)] });
  for (const unique of ['a', 'b', 'c']) await store.record({ kind: 'entry', study: link(study.cid), unique });
  for (const text of ['x', 'y', 'z']) await store.record({ kind: 'note', text });
  await pull(base, store);
  for (const { origin } of (await store.logs.list()).filter(({ writable }) => writable))
    await store.logs.checkpoint(origin);
  await store.setName('here', blocks[1] as Cid, null);
  await store.setName('here', blocks[2] as Cid);
  const answers = await ask(store, blocks);
  await store.close();
  writeFileSync(join(place.path, 'owner.json'), '{"pid":1,"socket":"/nowhere/x.sock"}');
  return { place, answers, blocks };
}

async function pull(base: string, store: Store): Promise<void> {
  const other = await newPlace(join(base, 'other'));
  const source = await other.open({ files });
  const study = await source.record({ kind: 'study', text: 'theirs' });
  await source.record({ kind: 'entry', study: link(study.cid), unique: 'theirs' });
  const origin = study.log;
  const checkpoint = await source.logs.checkpoint(origin);
  const info = (await source.logs.list()).find((log) => log.origin === origin);
  for await (const { cid } of source.since()) await store.put(await source.get(cid), 'dag-json');
  const leaves = await collect(source.logs.leafBytes(origin));
  await store.logs.adopt({ origin, family: study.cid, vkey: info?.vkey ?? '', leaves, checkpoint });
  await source.close();
}

/** Asks everything; an answer is what came, or the code of the fault. Anything but a fault of ours is thrown on. */
async function ask(store: Store, blocks: readonly Cid[]): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const one = async (question: string, give: () => Promise<unknown>) => {
    try {
      answers.set(question, JSON.stringify(await give()));
    } catch (error) {
      if (!isFault(error) || error.code === 'E_INTERNAL') throw error;
      answers.set(question, error.code);
    }
  };
  for (const cid of blocks) {
    await one(`get ${cid}`, async () => sha256Hex(await store.get(cid)));
    await one(`stream ${cid}`, async () => sha256Hex(await collect(store.stream(cid))));
    await one(`range ${cid}`, async () =>
      (await collect(store.stream(cid, { start: 20, end: 80 }))).toString('hex'),
    );
  }
  await one('name', () => store.name('here'));
  await one('arrivals', async () => {
    const kinds: string[] = [];
    for await (const { cid, log, index } of store.since()) kinds.push(`${cid} ${log} ${index}`);
    return kinds.sort();
  });
  const origins = await logsOf(store);
  for (const [i, origin] of origins.entries()) {
    await one(`leaves ${i}`, async () => (await collect(store.logs.leafBytes(origin))).toString());
    await one(`checkpoint ${i}`, async () => Buffer.from(await store.logs.checkpoint(origin)).toString());
    await one(`proof ${i}`, () => store.logs.inclusion(origin, 1, 2));
  }
  return answers;
}

async function logsOf(store: Store): Promise<string[]> {
  try {
    return (await store.logs.list()).map(({ origin }) => origin).sort();
  } catch (error) {
    if (isFault(error)) return [];
    throw error;
  }
}

function filesIn(path: string, at = ''): string[] {
  return readdirSync(join(path, at), { withFileTypes: true }).flatMap((entry) => {
    const name = join(at, entry.name);
    return entry.isDirectory() ? filesIn(path, name) : [name];
  });
}

interface Harm {
  readonly what: string;
  apply(path: string): void;
}

function harmsOf(size: number): Harm[] {
  const flip = (at: number): Harm => ({
    what: `a bit of byte ${at}`,
    apply(path) {
      const bytes = readFileSync(path);
      bytes[at] = (bytes[at] as number) ^ (1 << (at % 8));
      writeFileSync(path, bytes);
    },
  });
  const step = Math.max(1, Math.ceil(size / 7));
  const flips = Array.from({ length: Math.ceil(size / step) }, (_, i) =>
    flip(Math.min(size - 1, i * step + (i % step))),
  );
  const cut = (to: number): Harm => ({ what: `cut to ${to}`, apply: (path) => truncateSync(path, to) });
  const gone: Harm = { what: 'gone', apply: (path) => rmSync(path) };
  const zeros: Harm = { what: 'zeros', apply: (path) => writeFileSync(path, Buffer.alloc(size)) };
  const cuts = size === 0 ? [] : [cut(0), cut(size >> 1), cut(size - 1), zeros];
  return [...flips, ...cuts, gone];
}

/** Faults that say what is wrong; E_NOT_FOUND only where nothing is left that knows of the block. */
const NAMED = ['E_STORE_DAMAGED', 'E_LOG_ROLLBACK', 'E_DIGEST'];

async function opened(place: TestPlace): Promise<Store | AshlarError> {
  try {
    return await place.open({ files });
  } catch (error) {
    if (!isFault(error)) throw error;
    return error;
  }
}

/** The answers that are neither right nor a named fault. */
function wrong(
  found: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string>,
  allowed: readonly string[],
) {
  return [...found]
    .filter(([question, answer]) => answer !== wanted.get(question) && !allowed.includes(answer))
    .map(([question, answer]) => `${question}: ${answer.slice(0, 80)}`);
}

/** Opens what is left twice (the second time nothing is new) and gives what is wrong with either. */
async function lookTwice(place: TestPlace, { answers, blocks }: Sample, name: string): Promise<string[]> {
  const inBlocks = /^(segments|big)\//.test(name);
  const faults: string[] = [];
  for (const time of ['first', 'second']) {
    const store = await opened(place);
    if (store instanceof AshlarError) {
      const known =
        store.code === 'E_STORE_DAMAGED' || (name === 'ashlar.json' && store.code === 'E_STORE_FORMAT');
      if (!known || (store.exit !== 4 && store.code !== 'E_STORE_FORMAT'))
        faults.push(`opening: ${store.message}`);
      if (name !== 'ashlar.json') faults.push(`does not open: ${store.message}`);
      return faults;
    }
    const found = await ask(store, blocks);
    const gets = new Map([...found].filter(([question]) => /^(get|stream|range) /.test(question)));
    if (!inBlocks && !name.startsWith('level/')) faults.push(...wrong(gets, answers, []));
    if (name.startsWith('level/') && time === 'second') faults.push(...wrong(found, answers, []));
    faults.push(...wrong(found, answers, inBlocks ? [...NAMED, 'E_NOT_FOUND'] : NAMED));
    const block = filled(333, 1234);
    const put = await store.put(block).then(
      async (cid) => Buffer.from(await store.get(cid)).equals(block),
      (error: unknown) => name.startsWith('level/') && isFault(error, 'E_STORE_DAMAGED'),
    );
    if (!put) faults.push('a block cannot be put');
    await store.close();
  }
  return faults;
}

/** Harm that no look at the folder can see: nothing else says that the thing was ever there, or it is no content. */
function isUnseen(name: string, what: string): boolean {
  if (/^(level|lock|owner\.json)/.test(name)) return true;
  return name.endsWith('/checkpoint') && what === 'gone' && !name.includes('pulled-');
}

async function named(place: TestPlace, name: string): Promise<string[]> {
  try {
    const { faults } = await checkStore(place.path, { kinds: testKinds });
    return faults.map(({ kind, where, found }) => `${kind} ${where} ${found}`);
  } catch (error) {
    if (name === 'ashlar.json' && isFault(error) && /E_STORE_(FORMAT|DAMAGED)/.test(error.code))
      return [error.message];
    throw error;
  }
}

function copyOf({ place }: Sample, base: string): TestPlace {
  rmSync(base, { recursive: true, force: true });
  mkdirSync(base);
  cpSync(place.path, join(base, 'store'), { recursive: true });
  cpSync(dirname(place.logKey), join(base, 'key'), { recursive: true });
  return placeAt(join(base, 'store'), join(base, 'key', 'log.key'));
}

t.test('every file, harmed in every way', async (t) => {
  const base = quickFolder(t);
  const whole = await sample(join(base, 'whole'));
  t.same(await lookTwice(copyOf(whole, join(base, 'copy')), whole, ''), [], 'unharmed, all is answered');
  let harms = 0;
  for (const name of filesIn(whole.place.path)) {
    const seen: string[] = [];
    for (const { what, apply } of harmsOf(statSync(join(whole.place.path, name)).size)) {
      harms++;
      const place = copyOf(whole, join(base, 'copy'));
      apply(join(place.path, name));
      if (!isUnseen(name, what) && (await named(place, name)).length === 0)
        seen.push(`${what}: check names nothing`);
      seen.push(...(await lookTwice(place, whole, name)).map((fault) => `${what}: ${fault}`));
    }
    t.same(seen, [], name);
  }
  t.ok(harms > 250, `${harms} harms`);
});
