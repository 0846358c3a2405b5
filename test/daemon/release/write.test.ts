/**
 * Publishing a close: what cannot be written is refused before anything is logged, one close has one release, and a
 * folder that was lost comes back byte for byte, whatever was logged meanwhile.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { collect } from '../../../cli/objects.ts';
import { admitEligible } from '../../../daemon/decide/admit.ts';
import { claimPage } from '../../../daemon/decide/claims.ts';
import { closeFamily, reportClose } from '../../../daemon/decide/close.ts';
import { openFolder } from '../../../daemon/release/folder.ts';
import { releaseTo, writeRelease } from '../../../daemon/release/write.ts';
import { runPending } from '../../../daemon/run.ts';
import { verify } from '../../../rules/verify/verify.ts';
import { type Cid, link } from '../../../store/format/cid.ts';
import type { ErrorCode } from '../../../store/format/errors.ts';
import { type Lab, labFolder, makeLab, removeLab } from '../kit.ts';

const BY = { who: 'a test', why: 'a test' };
const root = labFolder();
const at = (...names: string[]) => join(root, ...names);
let lab: Lab;
let close: Cid;

t.before(async () => {
  lab = await makeLab(root, { cases: [{ name: 'once', arms: ['none', 'memory'] }], validated: true });
  const family = lab.study('once');
  await runPending(lab.store, lab.engine, lab.trigger, { family });
  await admitEligible(lab.store, family, { ...BY, outcomesVisible: false });
  await lab.trigger.settle();
  close = await closeFamily(lab.store, family, BY);
  await lab.trigger.settle();
});
t.teardown(async () => {
  await lab.close();
  removeLab(root);
});

const release = (folder: string) => releaseTo(lab.store, lab.trigger, close, folder);
const leaves = async () => (await lab.store.logs.ofFamily(lab.study('once')))?.size;

function contents(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) found[path.slice(folder.length + 1)] = readFileSync(path, 'base64');
  }
  return found;
}

t.test('a folder that cannot be written is refused before anything is logged', async (t) => {
  writeFileSync(at('a-file'), 'mine');
  mkdirSync(at('full'));
  writeFileSync(at('full/mine'), 'mine');
  mkdirSync(at('empty'));
  symlinkSync('empty', at('a-link'));
  const before = await leaves();
  const refused: Record<string, ErrorCode> = {
    [at('a-file')]: 'E_STORE_EXISTS',
    [at('full')]: 'E_STORE_EXISTS',
    [at('a-link')]: 'E_STORE_EXISTS',
    [process.cwd()]: 'E_STORE_EXISTS',
    [at('nowhere/release')]: 'E_NOT_FOUND',
    [at('a-file/release')]: 'E_NOT_FOUND',
    // Nobody may make a folder there, root neither.
    '/proc/ashlar-release': 'E_IO',
  };
  for (const [folder, code] of Object.entries(refused))
    await t.rejects(release(folder), { code }, `${folder}: ${code}`);
  t.equal(await leaves(), before, 'no leaf');
  t.equal(readFileSync(at('full/mine'), 'utf8'), 'mine');
  t.same(readdirSync(at('empty')), []);
  t.same(
    readdirSync(root).filter((name) => name.endsWith('.part')),
    [],
    'and nothing half-made',
  );
});

t.test('what stands beside the target under the name of a part is not ours', async (t) => {
  mkdirSync(at('first.part'));
  writeFileSync(at('first.part/mine'), 'mine');
  await release(at('first'));
  t.equal(readFileSync(at('first.part/mine'), 'utf8'), 'mine', 'after a release');
  await t.rejects(release(at('first')), { code: 'E_STORE_EXISTS' });
  // What is no release fails after the part was made.
  await t.rejects(writeRelease(lab.store, close, at('second')), { code: 'E_KIND' });
  t.equal(readFileSync(at('first.part/mine'), 'utf8'), 'mine', 'after a refusal');
  t.same(
    readdirSync(root).filter((name) => /^(first|second)/.test(name)),
    ['first', 'first.part'],
    'a failed one leaves nothing of its own',
  );
});

t.test('closed again while nothing was logged since, it is the same close', async (t) => {
  const family = lab.study('once');
  const again = await closeFamily(lab.store, family, BY);
  const size = await leaves();
  t.equal(await closeFamily(lab.store, family, BY), again);
  t.equal(await leaves(), size);
  const other = await closeFamily(lab.store, family, { ...BY, why: 'another reason' });
  t.not(other, again, 'for another reason it is another one');
});

t.test('a folder without a file is a fault: a name says something too', async (t) => {
  mkdirSync(at('first/blocks/a secret told by a name/inner'), { recursive: true });
  const { result, faults } = await verify(await openFolder(at('first')));
  t.equal(result, 'faults');
  const where = 'blocks/a secret told by a name/inner';
  t.same(
    faults.map(({ at, detail }) => [at, detail]),
    [
      [where, 'a folder without a file'],
      [where, 'not in the manifest'],
    ],
  );
  rmSync(at('first/blocks/a secret told by a name'), { recursive: true });
});

t.test('released twice, and after its folder was lost, a close gives the same release', async (t) => {
  const first = contents(at('first'));
  const [cid] = await collect(lab.store.byKind('release'));
  const size = await leaves();
  t.equal(await release(at('empty')), cid, 'into an empty folder');
  t.same(contents(at('empty')), first);
  t.equal(await leaves(), size, 'nothing is logged');

  // The log goes on: C2 of the release stays what it was.
  const study = link(lab.study('once'));
  await lab.store.record({ kind: 'deviation', v: 1, ...BY, study, what: 'Found later.' } as never);
  const later = await closeFamily(lab.store, lab.study('once'), BY);
  rmSync(at('first'), { recursive: true });
  t.equal(await release(at('first')), cid);
  t.same(contents(at('first')), first, 'byte for byte');
  const { result, faults } = await verify(await openFolder(at('first')));
  t.same([result, faults], ['ok', []]);

  const other = await releaseTo(lab.store, lab.trigger, later, at('later'));
  t.not(other, cid, 'another close has another release');
  t.same((await verify(await openFolder(at('later')))).faults, []);
});

t.test('a release under its own close, though records came between them', async (t) => {
  const family = lab.study('once');
  const closed = await closeFamily(lab.store, family, BY);
  await lab.store.record({
    kind: 'addendum',
    v: 1,
    ...BY,
    study: link(family),
    text: 'Afterwards.',
  } as never);
  await releaseTo(lab.store, lab.trigger, closed, at('between'));
  t.same((await verify(await openFolder(at('between')))).faults, [], 'C1 ends with the close');
});

t.test('a page that is bound after a release makes another, which says so', async (t) => {
  const { summary } = await reportClose(lab.store, lab.trigger, close);
  const text = 'Results: <!-- claim: summary /runs/0/epoch as plain --><!-- /claim -->\n';
  const before = contents(at('first'));
  await claimPage(lab.store, close, summary, { name: 'results.md', text, ...BY });
  const bound = await release(at('bound'));
  t.equal(await release(at('bound-again')), bound);
  t.ok(existsSync(at('bound/pages/results.md')));
  t.same((await verify(await openFolder(at('bound')))).faults, []);
  t.same(contents(at('first')), before);
});
