import fc from 'fast-check';
import t from 'tap';
import { auditV1, mutationsBetween } from '../../../rules/audit/v1.ts';
import { applyRule, type Rule } from '../../../rules/rule.ts';
import { digestOf, link } from '../../../store/format/cid.ts';
import {
  nameFromBytes,
  parseSnapshot,
  printPath,
  snapshotBlock,
  treeBlock,
} from '../../../store/format/tree.ts';
import {
  challengeOf,
  dir,
  fifo,
  file,
  openBlocks,
  type Plan,
  putSnapshot,
  receiptOf,
  seeded,
  studyOf,
  symlink,
} from '../kit.ts';

type Tree = { readonly [name: string]: Plan };

async function audit(before: Tree, after: Tree, allow: string[], modes: [number, number] = [0o755, 0o755]) {
  const blocks = openBlocks();
  const [a, b] = [putSnapshot(blocks, before, modes[0]), putSnapshot(blocks, after, modes[1])];
  const read = async (cid: typeof a) => parseSnapshot(await blocks.reader.get(cid));
  const found = await mutationsBetween(await read(a), await read(b), allow, blocks.reader);
  return found.map((each) => [printPath(each.path as never), each.change, each.inside] as const);
}

const pairs = (list: readonly (readonly [string, string, boolean])[]) =>
  list.map(([path, change]) => [path, change]);

t.test('a directory that was emptied, one that is gone and a new empty one are four mutations', async (t) => {
  const found = await audit(
    { data: { 1: '1\n', 2: '2\n' }, logs: {}, k: 'k\n' },
    { data: {}, new: {}, k: 'k\n' },
    [],
  );
  t.same(pairs(found), [
    ['data/1', 'removed'],
    ['data/2', 'removed'],
    ['logs', 'removed'],
    ['new', 'added'],
  ]);
});

t.test('what a toolchain wrote is inside only where the challenge declares it', async (t) => {
  const before = { 'src/screens/settings.rs': 'a\n', 'Cargo.toml': '[package]\n' };
  const after = {
    'src/screens/settings.rs': 'b\n',
    'Cargo.toml': '[package]\n',
    'Cargo.lock': 'lock\n',
    'target/debug/x': 'x\n',
    'AGENTS.md': 'notes\n',
  };
  const outside = async (allow: string[]) =>
    (await audit(before, after, allow)).filter(([, , inside]) => !inside).map(([path]) => path);
  const first = ['AGENTS.md', 'Cargo.lock', 'target', 'target/debug', 'target/debug/x'];
  t.same(await outside(['src/screens/settings.rs']), first);
  t.same(await outside(['src/screens/settings.rs', 'Cargo.lock', 'target']), ['AGENTS.md']);
  const all = await audit(before, after, ['src/screens/settings.rs']);
  t.same(
    all.find(([path]) => path === 'src/screens/settings.rs'),
    ['src/screens/settings.rs', 'content', true],
  );
});

t.test('permission bits alone are mutations, of the root too', async (t) => {
  const before = { src: { 'a.sh': file('a', 0o644), b: file('b', 0o644), same: 'c' }, d: dir({}, 0o755) };
  const after = { src: { 'a.sh': file('a', 0o755), b: file('b', 0o600), same: 'c' }, d: dir({}, 0o700) };
  t.same(pairs(await audit(before, after, [])), [
    ['d', 'mode'],
    ['src/a.sh', 'mode'],
    ['src/b', 'mode'],
  ]);
  t.same(await audit({ a: 'a' }, { a: 'a' }, ['a'], [0o755, 0o777]), [['', 'mode', false]]);
});

t.test('content and mode of one file are two mutations', async (t) => {
  const found = await audit({ a: file('1', 0o644) }, { a: file('2', 0o755) }, ['a']);
  t.same(found, [
    ['a', 'content', true],
    ['a', 'mode', true],
  ]);
});

t.test('a retargeted link is one mutation and no link is read through', async (t) => {
  const rest = {
    conf: { 'a.yml': 'same', 'b.yml': 'same' },
    abs: symlink('/etc/hosts'),
    dang: symlink('nowhere'),
  };
  const found = await audit(
    { ...rest, cfg: symlink('conf/a.yml') },
    { ...rest, cfg: symlink('conf/b.yml') },
    [],
  );
  t.same(found, [['cfg', 'target', false]]);
});

t.test('swapped types are mutations, with what came to lie or no longer lies below', async (t) => {
  const rest = { real: { f: 'x' }, keep: 'k' };
  const found = await audit(
    { ...rest, a: 'x', b: 'x', c: { f: 'x' }, p: 'x' },
    { ...rest, a: symlink('real/f'), b: { f: 'x' }, c: symlink('real'), p: fifo },
    [],
  );
  t.same(pairs(found), [
    ['a', 'type'],
    ['b', 'type'],
    ['b/f', 'added'],
    ['c', 'type'],
    ['c/f', 'removed'],
    ['p', 'type'],
  ]);
});

t.test(
  'a directory added to hold an allowed path is inside; a link or file in its place is not',
  async (t) => {
    t.same(await audit({}, { src: { deep: { 'x.ts': 'x' } } }, ['src/deep/x.ts']), [
      ['src', 'added', true],
      ['src/deep', 'added', true],
      ['src/deep/x.ts', 'added', true],
    ]);
    t.same(await audit({}, { src: symlink('/elsewhere') }, ['src/deep/x.ts']), [['src', 'added', false]]);
    t.same(await audit({ src: { a: 'a' } }, {}, ['src/a']), [
      ['src', 'removed', false],
      ['src/a', 'removed', true],
    ]);
    t.same(await audit({ src: dir({}, 0o755) }, { src: dir({}, 0o777) }, ['src/a']), [
      ['src', 'mode', false],
    ]);
  },
);

t.test('an allowed path is not a prefix of a longer name and is not case-folded', async (t) => {
  const found = await audit({}, { 'a.txt.bak': '', 'A.txt': '', 'a.txt': '' }, ['a.txt']);
  t.same(found, [
    ['A.txt', 'added', false],
    ['a.txt', 'added', true],
    ['a.txt.bak', 'added', false],
  ]);
});

t.test('names that are not UTF-8 are compared by their bytes', async (t) => {
  const blocks = openBlocks();
  const snap = (names: number[][]) => {
    const cid = blocks.raw('x');
    const entries = names.map((bytes) => ({
      name: nameFromBytes(Uint8Array.from(bytes)),
      type: 'file' as const,
      mode: 0o644,
      cid: link(cid),
      size: 1,
    }));
    const tree = treeBlock(entries);
    blocks.map.set(digestOf(tree.cid), tree.bytes);
    return parseSnapshot(snapshotBlock({ mode: 0o755, tree: link(tree.cid) }).bytes);
  };
  const found = await mutationsBetween(snap([[0x63, 0xe9]]), snap([[0x63, 0xe8]]), [], blocks.reader);
  t.same(
    found.map((each) => [printPath(each.path as never), each.change]),
    [
      ['%63%e8', 'added'],
      ['%63%e9', 'removed'],
    ],
  );
});

t.test(
  'a receipt with both snapshots is bound to the challenge of its plan; one without is not',
  async (t) => {
    const blocks = openBlocks();
    const name = link(blocks.raw('a name'));
    const challenge = blocks.record(challengeOf(blocks));
    const study = blocks.record(studyOf(blocks, [name['/']]));
    const plan = blocks.record({
      kind: 'plan',
      v: 1,
      derivation: { rule: 'pair', v: 1, inputs: {} },
      shared: {
        ...{
          family: link(study),
          fixture: name,
          agent: name,
          corpus: name,
          certificate: name,
          network: 'none',
        },
        ...{
          acceptances: [],
          validations: [],
          graders: ['audit'],
          images: {},
          epoch: 1,
          challenge: link(challenge),
        },
      },
      arms: {},
    });
    const start = blocks.record({
      ...{
        kind: 'start',
        v: 1,
        plan: link(plan),
        arm: 'a',
        attempt: 1,
        study: link(study),
        token: '0'.repeat(32),
      },
      ...{ executor: 'none', isolation: { network: 'none', limits: [] } },
    });
    const [before, after] = [putSnapshot(blocks, { a: '1' }), putSnapshot(blocks, {})];
    const bind = async (over: object) => {
      const cid = blocks.record(receiptOf(start, { ...over }));
      return auditV1.bind({ cid, value: await blocks.view.record(cid) }, blocks.view);
    };
    t.same(await bind({ before: link(before), after: link(after) }), [
      { inputs: { before, after, challenge } },
    ]);
    t.same(await bind({ before: link(before) }), []);
  },
);

t.test('the record names its inputs and counts what lies outside', async (t) => {
  const blocks = openBlocks();
  const before = putSnapshot(blocks, { a: '1' });
  const after = putSnapshot(blocks, { a: '2', 'src/out.ts': 'x' });
  const challenge = blocks.record(challengeOf(blocks));
  const made = await applyRule(auditV1 as unknown as Rule, { inputs: { before, after, challenge } }, blocks);
  t.match(made, { kind: 'audit', outside: 1, derivation: { rule: 'audit', v: 1 } });
});

// Two trees from one alphabet: `flat` is what an audit may compare, computed another way (a map of paths).
const leaf = fc.oneof(
  fc.constantFrom('1', '2').map((text): Plan => text),
  fc.constantFrom('x', 'y').map((text): Plan => symlink(text)),
  fc.constant<Plan>(file('1', 0o755)),
);
const trees = fc.letrec<{ node: Plan; tree: Tree }>((tie) => ({
  node: fc.oneof({ depthSize: 'small' }, leaf, tie('tree') as fc.Arbitrary<Plan>),
  tree: fc.dictionary(fc.constantFrom('a', 'b', 'A', 'é'), tie('node'), { maxKeys: 3 }) as fc.Arbitrary<Tree>,
})).tree;

function flat(tree: Tree, at = ''): Map<string, string> {
  const map = new Map<string, string>();
  for (const [name, node] of Object.entries(tree)) {
    const path = `${at}${name}`;
    const isDir = typeof node === 'object' && !('is' in node);
    map.set(path, isDir ? 'dir' : JSON.stringify(node));
    if (isDir) for (const [below, what] of flat(node as Tree, `${path}/`)) map.set(below, what);
  }
  return map;
}

t.test('the mutated paths are exactly those where two plain listings differ', async (t) => {
  await fc.assert(
    fc.asyncProperty(trees, trees, async (before, after) => {
      const [old, young] = [flat(before), flat(after)];
      const wanted = [...new Set([...old.keys(), ...young.keys()])].filter(
        (p) => old.get(p) !== young.get(p),
      );
      const found = new Set((await audit(before, after, [])).map(([path]) => path));
      t.same([...found].sort(), wanted.sort());
    }),
    seeded(t, 60),
  );
  t.same(await audit({ a: { b: '1' } }, { a: { b: '1' } }, []), [], 'equal trees have none');
});
