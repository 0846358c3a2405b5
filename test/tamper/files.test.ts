/** What can be done to the files of a publication: each is named, in one pass that goes on to the end. */
import { spawnSync } from 'node:child_process';
import { cpSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openFolder } from '../../daemon/release/folder.ts';
import { cidOfPath, LOG_FILES, MANIFEST, SEAL_FILES } from '../../rules/release/files.ts';
import type { FaultKind } from '../../rules/verify/fault.ts';
import { type Verified, verify } from '../../rules/verify/verify.ts';
import { openCheckpoint, signCheckpoint } from '../../store/format/checkpoint.ts';
import { generateKey } from '../../store/format/crypto.ts';
import { noteSigner, parseVerifierKey, printVerifierKey } from '../../store/format/note.ts';
import { type Files, flipped, GOLDEN, inMemory, readFiles } from './publication.ts';

// The whole file is many verifications; a machine under load takes its time.
t.setTimeout(600_000);
const golden = readFiles(GOLDEN);
const bytesOf = (path: string): Uint8Array => golden.get(path) as Uint8Array;
const vkey = Buffer.from(bytesOf(LOG_FILES.vkey)).toString().trimEnd();

/** The faults that name `path`, wherever in them it stands. */
const naming = ({ faults }: Verified, path: string) =>
  faults.filter(({ at, detail }) => at.includes(path) || detail.includes(path));
const kindsAt = (verified: Verified, path: string): FaultKind[] =>
  verified.faults.filter(({ at }) => at === path).map(({ kind }) => kind);

const changed = (edit: (files: Files) => void): Files => {
  const files = new Map(golden);
  edit(files);
  return files;
};

t.test('a bit turned in every file at once: every file is named in one pass', async (t) => {
  const verified = await verify(
    inMemory(new Map([...golden].map(([path, bytes]) => [path, flipped(bytes)]))),
  );
  t.equal(verified.result, 'faults');
  const silent = [...golden.keys()].filter((path) => naming(verified, path).length === 0);
  t.same(silent, [], 'no file goes unnamed');
});

t.test('a bit turned in every file but the manifest: every file is named as changed', async (t) => {
  const files = changed((all) => {
    for (const [path, bytes] of golden) if (path !== MANIFEST) all.set(path, flipped(bytes));
  });
  const verified = await verify(inMemory(files));
  const listed = [...golden.keys()].filter((path) => path !== MANIFEST && !path.startsWith('seal/'));
  t.same(
    listed.filter((path) => !kindsAt(verified, path).includes('file-changed')),
    [],
  );
  t.same(
    Object.values(SEAL_FILES).filter((path) => kindsAt(verified, path).length === 0),
    [],
  );
});

t.test('a bit turned in one file alone: it is named, and the rest is looked at', async (t) => {
  const others = [...golden.keys()].filter((path) => cidOfPath(path) === undefined);
  const blocks = [...golden.keys()].filter((path) => cidOfPath(path) !== undefined);
  const some = blocks.filter((_, i) => i % 60 === 0);
  for (const path of [...others, ...some]) {
    const verified = await verify(inMemory(changed((all) => all.set(path, flipped(bytesOf(path))))));
    t.equal(verified.result, 'faults', path);
    t.ok(naming(verified, path).length > 0, `${path} is named`);
    t.ok(verified.records > 0, 'rules were applied all the same');
  }
});

t.test('the manifest torn at its ends', async (t) => {
  const whole = bytesOf(MANIFEST);
  for (const bytes of [whole.subarray(1), whole.subarray(0, -1), Buffer.alloc(0), Buffer.from('{}')]) {
    const verified = await verify(inMemory(changed((all) => all.set(MANIFEST, bytes))));
    t.equal(verified.result, 'faults');
    t.same(kindsAt(verified, MANIFEST), ['manifest']);
    t.equal(verified.release, null);
    t.ok(verified.records > 30 && verified.leaves === 8, 'what needs no manifest is checked');
  }
});

t.test('missing, changed, unlisted and dot files, all in one pass', async (t) => {
  const [gone = '', other = ''] = [...golden.keys()].filter((path) => path.startsWith('blocks/'));
  const files = changed((all) => {
    all.delete(gone);
    all.set(other, Buffer.concat([bytesOf(other), Buffer.from(' ')]));
    for (const path of ['notes.txt', '.DS_Store', 'seal/more', 'blocks/aa/x.json'])
      all.set(path, Buffer.from('x\n'));
  });
  const verified = await verify(inMemory(files));
  t.same(kindsAt(verified, gone), ['file-missing']);
  t.same(kindsAt(verified, other), ['file-changed']);
  for (const path of ['notes.txt', '.DS_Store', 'seal/more', 'blocks/aa/x.json'])
    t.same(kindsAt(verified, path), ['file-extra'], path);
  t.ok(verified.records > 0);
});

t.test('each file of log and seal missing: named, never skipped', async (t) => {
  for (const path of [...Object.values(LOG_FILES), ...Object.values(SEAL_FILES)]) {
    const verified = await verify(inMemory(changed((all) => all.delete(path))));
    t.equal(verified.result, 'faults', path);
    t.ok(kindsAt(verified, path).length > 0, `${path} is named`);
  }
  const none = await verify(inMemory(new Map()));
  t.equal(none.result, 'faults', 'an empty folder is no release');
});

t.test('one path twice in the manifest is a fault whatever the digests say', async (t) => {
  const text = Buffer.from(bytesOf(MANIFEST)).toString();
  const [entry = ''] = /\{"digest":"[0-9a-f]{64}","path":"log\/vkey","size":\d+\}/.exec(text) ?? [];
  const wrong = entry.replace(/[0-9a-f]{64}/, '0'.repeat(64));
  for (const first of [entry, wrong]) {
    const bytes = Buffer.from(text.replace(entry, `${first},${entry}`));
    const verified = await verify(inMemory(changed((all) => all.set(MANIFEST, bytes))));
    t.ok(kindsAt(verified, 'log/vkey').includes('file-irregular'));
    t.ok(kindsAt(verified, MANIFEST).includes('manifest'), 'and it is not the release that the log names');
  }
});

t.test('leaves cut off, put in another order or said twice: the signed roots do not follow', async (t) => {
  const lines = Buffer.from(bytesOf(LOG_FILES.entries)).toString().trimEnd().split('\n');
  const [first = '', second = '', ...rest] = lines;
  const logs = {
    'cut off': lines.slice(0, -1),
    reordered: [first, ...rest, second],
    'said twice': [...lines, lines.at(-1)],
    torn: [...lines.slice(0, -1), `${lines.at(-1)}`.slice(0, -2)],
  };
  for (const [what, log] of Object.entries(logs)) {
    const bytes = Buffer.from(`${log.join('\n')}\n`);
    const verified = await verify(inMemory(changed((all) => all.set(LOG_FILES.entries, bytes))));
    t.equal(verified.result, 'faults', what);
    const log1 = verified.faults.filter(({ kind }) => kind === 'log');
    t.ok(log1.length > 0, `${what}: ${log1[0]?.detail}`);
  }
});

t.test('C2 signed again by another key of the same name is named without any policy', async (t) => {
  const key = parseVerifierKey(vkey);
  const { checkpoint } = openCheckpoint(bytesOf(SEAL_FILES.c2), key);
  const other = noteSigner(key.name, generateKey().seed);
  const forged = changed((all) => all.set(SEAL_FILES.c2, signCheckpoint(checkpoint, other)));
  const verified = await verify(inMemory(forged));
  t.equal(verified.result, 'faults');
  t.same(kindsAt(verified, SEAL_FILES.c2), ['log']);
});

t.test('trust comes from outside: a key or a release, and only the right one', async (t) => {
  const source = inMemory(golden);
  const alone = await verify(source);
  t.match(alone, { result: 'ok', trust: 'self-attested', vkey, faults: [] });
  t.match(await verify(source, { keys: [vkey] }), { result: 'ok', trust: 'trusted' });
  const expect = alone.release ?? undefined;
  t.match(await verify(source, expect === undefined ? {} : { expect }), { result: 'ok', trust: 'trusted' });
  const { name } = parseVerifierKey(vkey);
  const other = printVerifierKey(noteSigner(name, generateKey().seed).key);
  for (const keys of [[other], []]) {
    const verified = await verify(source, { keys });
    t.match(verified, { result: 'faults', trust: 'self-attested', faults: [{ kind: 'trust' }] });
  }
  const wrong = await verify(source, { expect: cidOfPath([...golden.keys()][0] ?? '') as never });
  t.match(wrong, { result: 'faults', faults: [{ kind: 'trust', at: MANIFEST }] });
});

t.test('a folder on disk: links, shared files and pipes are named and never followed', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'tamper-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'release');
  cpSync(GOLDEN, folder, { recursive: true });
  t.match(await verify(await openFolder(folder)), { result: 'ok', faults: [] }, 'the copy is sound');
  const [linked = '', shared = '', pipe = ''] = [...golden.keys()].filter((path) =>
    path.startsWith('blocks/'),
  );
  writeFileSync(join(root, 'elsewhere'), bytesOf(linked));
  rmSync(join(folder, linked));
  symlinkSync(join(root, 'elsewhere'), join(folder, linked));
  rmSync(join(folder, pipe));
  t.equal(spawnSync('mkfifo', [join(folder, pipe)]).status, 0);
  linkSync(join(folder, shared), join(root, 'second-name'));
  rmSync(join(folder, SEAL_FILES.proof));
  t.equal(spawnSync('mkfifo', [join(folder, SEAL_FILES.proof)]).status, 0);
  symlinkSync('/', join(folder, 'everything'));
  const verified = await verify(await openFolder(folder));
  for (const path of [linked, shared, pipe, SEAL_FILES.proof, 'everything'])
    t.ok(kindsAt(verified, path).includes('file-irregular'), path);
  t.ok(kindsAt(verified, 'everything').includes('file-extra'), 'a linked folder is not walked');
});

t.test('a name that is no UTF-8 is a fault by itself, and the rest is looked at', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'tamper-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'release');
  cpSync(GOLDEN, folder, { recursive: true });
  const at = (...bytes: number[]) => Buffer.concat([Buffer.from(`${folder}/blocks/`), Buffer.from(bytes)]);
  writeFileSync(at(0x61, 0xff), 'x');
  mkdirSync(at(0xc3, 0x28));
  writeFileSync(Buffer.concat([at(0xc3, 0x28), Buffer.from('/below')]), 'x');
  const verified = await verify(await openFolder(folder));
  const irregular = verified.faults.filter(({ kind }) => kind === 'file-irregular');
  t.same(
    irregular.map(({ at: path, detail }) => `${path}: ${detail}`),
    ['blocks/%61%ff', 'blocks/%c3%28'].map(
      (path) => `${path}: a name that is no UTF-8, told here by its bytes`,
    ),
  );
  t.same(
    verified.faults.filter(({ kind }) => kind !== 'file-irregular').map(({ kind, at: path }) => [kind, path]),
    [
      ['file-extra', 'blocks/%61%ff'],
      ['file-extra', 'blocks/%c3%28'],
    ],
    'nothing else is wrong',
  );
});
