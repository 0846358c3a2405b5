/** Every case of public reports on Git trees, through both back ends, against the listing that Git itself gives. */
import t, { type Test } from 'tap';
import { cidOf } from '../../../store/format/cid.ts';
import { gitTreeOid } from '../../../store/format/git-tree.ts';
import type { Emit } from '../../../store/format/reader.ts';
import { printPath, walkTree } from '../../../store/format/tree.ts';
import { importCommit } from '../../../store/git/import.ts';
import { openGit } from '../../../store/git/open.ts';
import { BACKENDS, byPath, CASES, type Case, listing, looseRepository, type Taken, take } from './kit.ts';

/** What a case asks beyond its listing. */
const ALSO: Readonly<Record<string, (t: Test, taken: Taken) => void | Promise<void>>> = {
  'case-fold-collision': (t, { collisions }) => {
    const groups = collisions.map((group) => group.map(printPath)).sort();
    t.same(groups, [
      ['Build', 'build'],
      ['README.md', 'readme.md'],
    ]);
  },
  'nfc-nfd-collision': (t, { collisions }) => {
    const [nfd, nfc] = ['a\u0301rea.2dm', '\u00e1rea.2dm'];
    t.same(collisions, [
      [
        ['d', nfd],
        ['d', nfc],
      ],
    ]);
  },
  'lfs-pointer': (t, { lfs }) => {
    const pointers = new Map(lfs.map(({ path, ...pointer }) => [printPath(path), pointer]));
    t.same([...pointers.keys()].sort(), ['models/a.bin', 'models/b.bin']);
    t.same(pointers.get('models/b.bin'), { malformed: true });
    const oid = 'sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393';
    t.same(pointers.get('models/a.bin'), { oid, size: 12345, malformed: false });
  },
  'submodule-gitlink': (t, { submodules, counts }) => {
    t.same(submodules, [{ path: ['lib', 'dep'], oid: '1'.repeat(40) }]);
    t.equal(counts.submodules, 1);
  },
  'non-utf8-names': async (t, { blocks, tree }) => {
    const found: unknown[] = [];
    for await (const { entry } of walkTree(blocks.reader, tree)) found.push(entry.name);
    const bytes = (hex: string) => ({
      '/': { bytes: Buffer.from(hex, 'hex').toString('base64').replace(/=+$/, '') },
    });
    t.same(found, [bytes('636166e82e747874'), bytes('636166e92e747874'), 'plain.txt']);
  },
  'tags-of-everything': (t, { given, commit }) => {
    t.not(given, commit, 'the tag is not the commit');
    t.equal(commit, '7270cb1abb7bec88d6b45e939888617a174e0735');
  },
};

/** Asks that must fail, with the code and what the message must name. */
const REFUSED: Readonly<Record<string, { readonly code: string; readonly says: RegExp }>> = {
  'missing-blob/1': { code: 'E_GIT', says: /at s\/b \(0cfbf08886fca9a91cb753ec8734c84fcbe52c9f\).*missing/ },
  'ref-looks-like-sha/2': { code: 'E_GIT_REF', says: /v1/ },
  'ref-looks-like-sha/3': { code: 'E_GIT_REF', says: /40b8211/ },
  'ref-looks-like-sha/4': { code: 'E_GIT_REF', says: /full/ },
  'ref-looks-like-sha/5': { code: 'E_GIT_REF', says: /lower-case/ },
  'ref-looks-like-sha/6': { code: 'E_GIT_REF', says: /main/ },
  'tags-of-everything/tree': { code: 'E_GIT_REF', says: /a tree/ },
  'tags-of-everything/blob': { code: 'E_GIT_REF', says: /a blob/ },
};
for (const [ask, { name_hex: hex }] of Object.entries(CASES['dot-git-spellings']?.asks ?? {})) {
  const name = hex === '' ? 'an empty name' : `entry 0x${hex}`;
  Object.assign(REFUSED, { [`dot-git-spellings/${ask}`]: { code: 'E_PATH', says: new RegExp(name) } });
}

async function checkTaken(t: Test, name: string, given: Case, taken: Taken): Promise<void> {
  t.same(await listing(taken), byPath(given.oracle ?? []), 'every entry is what Git says');
  const wanted = given.expect.entries ?? given.expect.entries_if_ok;
  if (wanted !== undefined) t.equal(taken.entries, wanted, 'entries');
  t.equal(taken.entries, given.oracle?.length);
  const { blocks, tree, oddTrees, treeOid } = taken;
  t.same(oddTrees, []);
  t.equal(await gitTreeOid(blocks.reader, tree, oddTrees, 'sha1'), treeOid, 'the tree id comes back');
  await ALSO[name]?.(t, taken);
}

for (const backend of BACKENDS) {
  for (const [name, given] of Object.entries(CASES)) {
    t.test(`${backend}: ${name}`, async (t) => {
      const repository = looseRepository(t.testdir(), given);
      for (const [ask, { rev }] of Object.entries(given.asks)) {
        const refused = REFUSED[`${name}/${ask}`];
        if (refused === undefined) await checkTaken(t, name, given, await take(repository, rev, backend));
        else
          await t.rejects(take(repository, rev, backend), { code: refused.code, message: refused.says }, ask);
      }
    });
  }
}

t.test('both back ends give the same cids, from one run to the next', async (t) => {
  for (const [name, given] of Object.entries(CASES)) {
    const repository = looseRepository(t.testdir(), given);
    const rev = Object.values(given.asks)[0]?.rev as string;
    if (`${name}/${Object.keys(given.asks)[0]}` in REFUSED) continue;
    const [a, b] = [await take(repository, rev, 'git'), await take(repository, rev, 'isomorphic')];
    t.equal(a.tree, b.tree, name);
    t.equal(a.commitRaw, b.commitRaw, name);
    t.same([...a.blocks.map.keys()].sort(), [...b.blocks.map.keys()].sort(), name);
  }
});

t.test('a hostile tree leaves nothing, a missing blob no tree', async (t) => {
  for (const backend of BACKENDS) {
    for (const [name, kept] of [
      ['dot-git-spellings', []],
      ['missing-blob', ['raw', 'raw']],
    ] as const) {
      const given = CASES[name] as Case;
      const reader = await openGit(looseRepository(t.testdir(), given), { backend });
      const emitted: string[] = [];
      const emit: Emit = async (_, codec = 'raw') => {
        emitted.push(codec);
        return cidOf(codec, new Uint8Array());
      };
      await t.rejects(importCommit(reader, Object.values(given.asks)[0]?.rev as string, emit));
      await reader.close();
      t.ok(emitted.length <= kept.length, `${backend} ${name}: no node, no record`);
      t.notOk(emitted.includes('dag-json'));
    }
  }
});
