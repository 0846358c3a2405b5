import t from 'tap';
import { nfd } from '../../../rules/corpus/nfd.ts';
import { corpusV1 } from '../../../rules/corpus/v1.ts';
import { REDACTION_POLICY } from '../../../rules/redact/patterns-v1.ts';
import { redactV1 } from '../../../rules/redact/v1.ts';
import { link } from '../../../store/format/cid.ts';
import { gitTreeOid } from '../../../store/format/git-tree.ts';
import { derive, openBlocks, type Plan, putTree, sourceOf, submodule } from '../kit.ts';

async function packaged(plan: { readonly [name: string]: Plan }) {
  const blocks = openBlocks();
  blocks.raw(REDACTION_POLICY.bytes);
  const tree = putTree(blocks, plan);
  const source = sourceOf(blocks, tree, await gitTreeOid(blocks.reader, tree, [], 'sha1'));
  const redaction = await derive(blocks, redactV1, { inputs: { source, policy: REDACTION_POLICY.cid } });
  const corpus = await derive(blocks, corpusV1, { inputs: { source, redaction: redaction.cid } });
  return { blocks, tree, source, redaction, corpus: corpus.value };
}

t.test('names that differ by case only are carried and reported in groups', async (t) => {
  const { corpus } = await packaged({
    'README.md': 'upper\n',
    'readme.md': 'lower\n',
    Build: 'f\n',
    'build/x': 'f\n',
  });
  t.match(corpus.counts, { files: 4, directories: 1 });
  t.same(
    corpus.notes.map(({ what, paths }) => [what, paths.map((path) => path.join('/'))]),
    [
      ['case-collision', ['Build', 'build']],
      ['case-collision', ['README.md', 'readme.md']],
    ],
  );
});

t.test(
  'names that are one where Unicode spellings are folded are carried as bytes and reported',
  async (t) => {
    const [composed, apart] = ['\u00e1rea.2dm', 'a\u0301rea.2dm'];
    const { corpus } = await packaged({
      [composed]: 'nfc\n',
      [apart]: 'nfd\n',
      // Two marks of different classes in either order; a Hangul syllable; the angstrom sign; ligatures are another name.
      'd/q\u0323\u0307': '1',
      'd/q\u0307\u0323': '2',
      'd/\uac01': '3',
      'd/\u1100\u1161\u11a8': '4',
      'd/\u212b': '5',
      'd/\u00e5': '6',
      'd/\ufb01': '7',
      'd/fi': '8',
      'd/only-\u00e9': '9',
    });
    t.match(corpus.counts, { files: 11 });
    t.same(
      new Set(
        corpus.notes.map(({ what, paths }) =>
          [what, ...paths.map((path) => path.join('/')).sort()].join(' '),
        ),
      ),
      new Set([
        `unicode-collision ${apart} ${composed}`,
        'unicode-collision d/q\u0307\u0323 d/q\u0323\u0307',
        'unicode-collision d/\u1100\u1161\u11a8 d/\uac01',
        'unicode-collision d/\u00e5 d/\u212b',
      ]),
    );
  },
);

t.test('taking names apart agrees with the engine on blocks that no version of Unicode will add to', (t) => {
  const blocks = [
    { first: 0, last: 0x36f },
    { first: 0x400, last: 0x52f },
    { first: 0x1100, last: 0x11ff },
    { first: 0x1e00, last: 0x1fff },
    { first: 0x2100, last: 0x214f },
    { first: 0x3040, last: 0x30ff },
    { first: 0xac00, last: 0xd7a3 },
    { first: 0xf900, last: 0xfaff },
    { first: 0x1d15e, last: 0x1d1c0 },
  ];
  const faults = blocks
    .flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, at) => first + at))
    .map((code) => String.fromCodePoint(code))
    .flatMap((each) => [each, `q\u0345${each}\u0323\u0307`])
    .filter((text) => nfd(text) !== text.normalize('NFD'));
  t.same(faults, []);
  t.end();
});

t.test(
  'a Git LFS pointer is carried as it is and reported, sound or not; prose about one is not',
  async (t) => {
    const version = 'version https://git-lfs.github.com/spec/v1';
    const oid = `sha256:${'4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393'}`;
    const { corpus } = await packaged({
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      'models/a.bin': `${version}\noid ${oid}\nsize 12345\n`,
      'models/b.bin': `${version}\r\noid ${oid}\r\nsize 12345\r\n`,
      'README.md': `A pointer starts with\n\n    ${version}\n`,
    });
    t.same(
      corpus.notes.map(({ what, paths, detail }) => [what, paths[0]?.join('/'), detail]),
      [
        ['lfs-pointer', 'models/a.bin', `oid ${oid}, size 12345`],
        ['lfs-malformed', 'models/b.bin', `oid ${oid}, size 12345`],
      ],
    );
  },
);

t.test('a submodule is carried with its id and reported', async (t) => {
  const { corpus } = await packaged({ 'lib/dep': submodule('1'.repeat(40)), '.gitmodules': 'x' });
  t.match(corpus, { counts: { submodules: 1 }, notes: [{ what: 'submodule', detail: '1'.repeat(40) }] });
});

t.test('a tree, a removed entry or a commit that is not the one committed is refused', async (t) => {
  const { blocks, tree, source, redaction } = await packaged({ 'AGENTS.md': 'x', 'a.ts': 'y' });
  const gate = async (inputs: Record<string, unknown>, code = 'E_GATE') => {
    const made = await derive(blocks, corpusV1, {
      inputs: { source, redaction: redaction.cid, ...inputs } as never,
    });
    t.match(made.value, { refused: { code } });
  };
  const value = redaction.value;
  const forged = (over: object) => ({ redaction: blocks.record({ ...value, ...over }) });
  await gate(forged({ tree: link(putTree(blocks, { 'a.ts': 'other' })) }));
  await gate(forged({ removed: [] }));
  await gate(forged({ removed: [{ ...value.removed[0], oid: '1'.repeat(40) }] }));
  await gate(forged({ tree: link(tree) }), 'E_GIT');
  const oid = '2'.repeat(40);
  await gate({ source: sourceOf(blocks, tree, oid) }, 'E_RULE_INPUT');
  const record = (await blocks.view.record(source)) as unknown as Record<string, unknown>;
  const other = blocks.record({ ...record, commit: oid });
  await gate({ source: other, ...forged({ source: link(other) }) });
  const commitObject = link(blocks.raw('tree 1\n'));
  const odd = blocks.record({ ...record, commitObject });
  await gate({ source: odd, ...forged({ source: link(odd) }) });
});

t.test('a refused redaction yields no binding', async (t) => {
  const { blocks, source } = await packaged({ a: 'a' });
  const bad = await derive(blocks, redactV1, { inputs: { source, policy: blocks.raw('{}') } });
  t.same(await corpusV1.bind({ cid: bad.cid, value: await blocks.view.record(bad.cid) }, blocks.view), []);
  t.same(await redactV1.bind({ cid: source, value: await blocks.view.record(source) }, blocks.view), [
    { inputs: { source, policy: REDACTION_POLICY.cid } },
  ]);
});
