import fc from 'fast-check';
import t from 'tap';
import type { Full } from '../../../rules/contracts/kit.ts';
import type { Redaction } from '../../../rules/contracts/redaction.ts';
import { corpusV1 } from '../../../rules/corpus/v1.ts';
import { matcher, parseRedactionPolicy } from '../../../rules/redact/match.ts';
import { REDACTION_POLICY } from '../../../rules/redact/patterns-v1.ts';
import { redactV1 } from '../../../rules/redact/v1.ts';
import { loadInputs } from '../../../rules/rule.ts';
import { type Cid, digestOf, evidence } from '../../../store/format/cid.ts';
import { gitObjectId } from '../../../store/format/git-object.ts';
import { gitTreeOid } from '../../../store/format/git-tree.ts';
import {
  type Blocks,
  derive,
  dir,
  file,
  listing,
  openBlocks,
  type Plan,
  putTree,
  seeded,
  sourceOf,
  submodule,
  symlink,
} from '../kit.ts';

type Tree = { readonly [name: string]: Plan };

/** Git's own ids of the cases, from git itself. */
const CASES = {
  nested: {
    tree: {
      '.claude/skills/db/SKILL.md': 'skill\n',
      '.github/copilot-instructions.md': 'inst\n',
      '.mcp.json': '{}\n',
      'CLAUDE.md': 'root\n',
      'README.md': 'readme\n',
      'packages/api/CLAUDE.md': 'api\n',
      'packages/api/src/AGENTS.md': 'deep\n',
      'packages/api/src/index.ts': 'code\n',
      'src/main.ts': 'code\n',
    } as Tree,
    treeOid: '6dce0cd424348cb6bf861ea67c3d2a81b9faa22f',
    commit: '6bc1b7af55844f90ecee99fdb36901079aed6fcd',
  },
  symlinked: {
    tree: {
      '.claude/skills/triage/SKILL.md': 'skill\n',
      '.codex/skills': symlink('../.claude/skills'),
      '.cursorrules': symlink('AGENTS.md'),
      'AGENTS.md': 'house rules\n',
      'CLAUDE.md': symlink('AGENTS.md'),
      'docs/guide.md': symlink('../AGENTS.md'),
      'src/a.ts': 'code\n',
      'src/b.ts': symlink('a.ts'),
    } as Tree,
    treeOid: '3ba6d57c0965a47a4062475e75f09b904a48370a',
    commit: 'c95ad2983c06b1a61d38bd38ee088bce8a44f1e1',
  },
  lowercase: {
    tree: {
      'agents.md': 'a\n',
      'Claude.md': 'b\n',
      'gemini.md': 'c\n',
      'crush.md': 'd\n',
      'src/x.py': 'code\n',
    } as Tree,
    treeOid: '4cec9d54def24957b5b744e966b97bbe35d6b6b8',
    commit: '57cbeb9b620fe4d7fa95fa71b0a81d8a82844c57',
  },
  mention: {
    tree: {
      'src/loader.ts': 'const FILES = ["AGENTS.md", "CLAUDE.md", ".cursorrules"]; // read by the loader\n',
      'src/CLAUDE.md.ts': 'export {}\n',
      'docs/about-claude.md': 'x\n',
      'test/agents.md.snap': 'y\n',
      'src/myAGENTS.mdx': 'z\n',
      'README.md': '# Tool\n\nPut a CLAUDE.md in your project.\n',
      'src/claude/client.ts': 'q\n',
      'src/cursor/caret.ts': 'q\n',
    } as Tree,
    treeOid: '92af115e27fa4e6332ecfd07e32b5b7c808ad83e',
    commit: '28c9ee60b36cc87ad046dea2fa973a890d2b944b',
  },
};

const printed = (list: readonly { readonly path: readonly unknown[] }[]) =>
  list.map((each) => each.path.join('/'));

async function redact(blocks: Blocks, plan: Tree, treeOid?: string) {
  blocks.raw(REDACTION_POLICY.bytes);
  const tree = putTree(blocks, plan);
  const source = sourceOf(blocks, tree, treeOid ?? (await gitTreeOid(blocks.reader, tree, [], 'sha1')));
  const { cid, value } = await derive(blocks, redactV1, { inputs: { source, policy: REDACTION_POLICY.cid } });
  return { tree, source, cid, value };
}

for (const [name, { tree: plan, treeOid, commit }] of Object.entries(CASES)) {
  t.test(`the commit of the ${name} case is had back from what redaction left and took`, async (t) => {
    const blocks = openBlocks();
    const { source, cid } = await redact(blocks, plan, treeOid);
    t.match(await blocks.view.record(source), { commit }, 'the id that git gave');
    const corpus = await derive(blocks, corpusV1, { inputs: { source, redaction: cid } });
    t.notOk('refused' in corpus.value, JSON.stringify(corpus.value));
    t.same(await corpusV1.bind({ cid, value: await blocks.view.record(cid) }, blocks.view), [
      { inputs: { source, redaction: cid } },
    ]);
  });
}

t.test('memory files below the root go too, with their directories, and nothing else does', async (t) => {
  const blocks = openBlocks();
  const { value } = await redact(blocks, CASES.nested.tree);
  t.same(printed(value.removed), [
    '.claude/skills/db/SKILL.md',
    '.github/copilot-instructions.md',
    '.mcp.json',
    'CLAUDE.md',
    'packages/api/CLAUDE.md',
    'packages/api/src/AGENTS.md',
  ]);
  t.same(await listing(blocks, value.tree['/']), {
    'README.md': 'file',
    packages: 'dir',
    'packages/api': 'dir',
    'packages/api/src': 'dir',
    'packages/api/src/index.ts': 'file',
    src: 'dir',
    'src/main.ts': 'file',
  });
  t.match(value.removed[3], {
    pattern: 'claude.md',
    gitMode: '100644',
    oid: gitObjectId('sha1', 'blob', Buffer.from('root\n')),
    bytes: evidence(digestOf(blocks.raw('root\n'))),
  });
});

t.test('a link is matched by its own name, and a kept one that led to memory is named', async (t) => {
  const blocks = openBlocks();
  const { value } = await redact(blocks, CASES.symlinked.tree);
  t.same(printed(value.removed), [
    '.claude/skills/triage/SKILL.md',
    '.codex/skills',
    '.cursorrules',
    'AGENTS.md',
    'CLAUDE.md',
  ]);
  const link = value.removed[1];
  t.match(link, { type: 'link', size: 17, gitMode: '120000' });
  t.equal(link?.bytes, evidence(digestOf(blocks.raw('../.claude/skills'))), 'the digest of its target text');
  t.same(value.danglingLinks, [{ path: ['docs', 'guide.md'], target: '../AGENTS.md' }]);
  t.match(await listing(blocks, value.tree['/']), { 'src/b.ts': 'link', 'docs/guide.md': 'link' });
});

t.test('ASCII case is folded for the names', async (t) => {
  const { value } = await redact(openBlocks(), CASES.lowercase.tree);
  t.same(printed(value.removed), ['Claude.md', 'agents.md', 'crush.md', 'gemini.md']);
  const mixed = await redact(openBlocks(), {
    '.CLAUDE/x': '',
    'a/.GitHub/Prompts/p': '',
    'OpenCode.json': '{}',
  });
  t.same(printed(mixed.value.removed), ['.CLAUDE/x', 'OpenCode.json', 'a/.GitHub/Prompts/p']);
});

t.test('a mention of a name is not the file', async (t) => {
  const { value, tree } = await redact(openBlocks(), CASES.mention.tree);
  t.same(value.removed, []);
  t.equal(value.tree['/'], tree);
});

t.test('root-only names below the root stay and are reported', async (t) => {
  const { value } = await redact(openBlocks(), {
    'replit.md': '',
    'docs/install/replit.md': '',
    'attributes/opencode.json': '{}',
    'src/rules.md': '',
    'CLAUDE.md.bak': '',
    'examples/skills/SKILL.md': '',
    'memory-bank/activeContext.md': '',
  });
  t.same(printed(value.removed), ['replit.md']);
  t.same(
    value.nearMisses.map(({ path, pattern }) => [path.join('/'), pattern]),
    [
      ['CLAUDE.md.bak', 'claude.md'],
      ['attributes/opencode.json', 'opencode.json'],
      ['docs/install/replit.md', 'replit.md'],
      ['examples/skills/SKILL.md', 'skill.md'],
      ['memory-bank', 'memory-bank'],
      ['src/rules.md', 'rules.md'],
    ],
  );
});

t.test('whole directories, sub-paths, submodules and odd modes', async (t) => {
  const blocks = openBlocks();
  const { value, source, cid } = await redact(blocks, {
    'pkg/.cursor/rules/a.mdc': '',
    '.github/workflows/ci.yml': '',
    '.github/deep/x.instructions.md': '',
    '.vscode/mcp.json': '{}',
    '.vscode/settings.json': '{}',
    '.clinerules': 'x',
    '.roorules-code': 'x',
    '.aider.chat.history.md': 'x',
    '.agents': submodule('1'.repeat(40)),
    'x/.claude': symlink('../.github'),
    'bin/WARP.md': file('x', 0o755),
    'old/AGENT.md': file('x', 0o664),
    'not/agents.md': dir({ inner: 'x' }, 0o755),
  });
  t.same(printed(value.removed), [
    '.agents',
    '.aider.chat.history.md',
    '.clinerules',
    '.github/deep/x.instructions.md',
    '.roorules-code',
    '.vscode/mcp.json',
    'bin/WARP.md',
    'old/AGENT.md',
    'pkg/.cursor/rules/a.mdc',
    'x/.claude',
  ]);
  t.same(
    value.removed.filter(({ path }) => /agents|WARP|AGENT/.test(path.join('/'))).map((each) => each.gitMode),
    ['160000', '100755', '100664'],
  );
  t.same(printed(value.nearMisses), ['not/agents.md'], 'a directory of such a name is not read, so it stays');
  const corpus = await derive(blocks, corpusV1, { inputs: { source, redaction: cid } });
  t.match(corpus.value, { counts: { removed: 10, files: 3, submodules: 0 } });
});

t.test(
  'dangling is judged through kept links and vanished directories, not for links that leave',
  async (t) => {
    const { value } = await redact(openBlocks(), {
      '.github/prompts/p.md': '',
      '.claude/skills/s/SKILL.md': '',
      direct: symlink('.claude/skills'),
      chain: symlink('direct/s'),
      parent: symlink('sub/../.github'),
      through: symlink('alias/SKILL.md'),
      alias: symlink('./.claude//skills/s'),
      loop: symlink('loop2'),
      loop2: symlink('loop'),
      away: symlink('../.claude/skills'),
      absolute: symlink('/.claude/skills'),
      broken: symlink('nowhere'),
      'sub/up': symlink('../.claude'),
      'sub/fine': symlink('../src/a'),
      'src/a': '',
    });
    t.same(printed(value.danglingLinks), ['alias', 'chain', 'direct', 'parent', 'sub/up', 'through']);
  },
);

t.test('files that removed configurations name are reported and stay', async (t) => {
  const blocks = openBlocks();
  const { value } = await redact(blocks, {
    '.aider.conf.yml':
      'model: x\nread: [CONVENTIONS.md, "docs/style.md"]\nfile:\n  - a.md # why\n  - \'b.md\'\nlint: c.md\n',
    'opencode.jsonc': '{ // rules\n "instructions": ["docs/*.md", "http://x.invalid/y", ], }',
    '.gemini/settings.json': '{"context":{"fileName":["HOUSE.md"]}}',
    '.codex/config.toml': 'model = "x"\nproject_doc_fallback_filenames = ["TEAM.md", \'.guide.md\']\n',
    'CLAUDE.md':
      'See @docs/git.md and @README.\nMail me@x.invalid, `@not/this`, @someone\n```\n@nor/this\n```\n',
    'pkg/AGENTS.md': 'Nothing here.\n',
    'opencode.json': '{ broken',
    'CONVENTIONS.md': 'kept\n',
  });
  t.same(
    value.named.map(({ config, names }) => [config.join('/'), names]),
    [
      ['.aider.conf.yml', ['CONVENTIONS.md', 'docs/style.md', 'a.md', 'b.md']],
      ['.codex/config.toml', ['TEAM.md', '.guide.md']],
      ['.gemini/settings.json', ['HOUSE.md']],
      ['CLAUDE.md', ['docs/git.md']],
      ['opencode.json', []],
      ['opencode.jsonc', ['docs/*.md', 'http://x.invalid/y']],
    ],
  );
  t.same(Object.keys(await listing(blocks, value.tree['/'])), ['CONVENTIONS.md']);
});

t.test('a tree of nothing but memory becomes the empty tree', async (t) => {
  const blocks = openBlocks();
  const { value, source, cid } = await redact(blocks, { 'AGENTS.md': 'x' });
  t.same(await listing(blocks, value.tree['/']), {});
  const corpus = await derive(blocks, corpusV1, { inputs: { source, redaction: cid } });
  t.match(corpus.value, { counts: { files: 0, removed: 1 } });
});

/** The rule's inputs over a reader without these blocks. */
async function recheck(blocks: Blocks, withheld: readonly Cid[], source: Cid, recorded: Full<Redaction>) {
  const part = openBlocks();
  for (const [digest, bytes] of blocks.map) part.map.set(digest, bytes);
  for (const cid of withheld) part.map.delete(digestOf(cid));
  const inputs = await loadInputs(
    redactV1.needs,
    { inputs: { source, policy: REDACTION_POLICY.cid } },
    part.reader,
  );
  const { kind, v, derivation, ...body } = recorded;
  const again = await redactV1.recheck!(body, inputs as never, { ...part, parameters: {} });
  return { again, body };
}

t.test('the record is had back without the source tree and without what was removed', async (t) => {
  const blocks = openBlocks();
  const { value, tree, source } = await redact(blocks, {
    ...CASES.symlinked.tree,
    '.aider.conf.yml': 'read: a.md\n',
  });
  const secret = value.removed.flatMap(({ bytes }) => (bytes === undefined ? [] : [bytes.slice(7)]));
  const removed = [...blocks.map]
    .filter(([digest]) => secret.includes(digest))
    .map(([, bytes]) => blocks.raw(bytes));
  const without = await recheck(blocks, [tree, ...removed], source, value);
  t.same(without.again.body, without.body);
  t.equal(without.again.withheld, 1 + value.removed.length);
  const whole = await recheck(blocks, [], source, value);
  t.same(whole.again, { body: whole.body, withheld: 0 });
});

t.test('a redaction that took too much, too little or something else is not had back', async (t) => {
  const blocks = openBlocks();
  const { value, tree, source } = await redact(blocks, { 'AGENTS.md': 'x', 'src/a.ts': 'y', 'b.ts': 'z' });
  const differs = async (forged: object, what: string, withheld = [tree]) => {
    const { again, body } = await recheck(blocks, withheld, source, { ...value, ...forged });
    t.notSame(again.body, body, what);
  };
  const entry = value.removed[0]!;
  await differs({ removed: [entry, { ...entry, path: ['b.ts'] }] }, 'too much');
  await differs({ removed: [], tree: { '/': tree } }, 'nothing at all, over the unredacted tree', []);
  await differs({ removed: [{ ...entry, pattern: 'claude.md' }] }, 'another pattern');
  await differs({ removed: [{ ...entry, oid: '0'.repeat(40) }] }, 'another id');
  await differs({ removed: [{ ...entry, gitMode: '100755' }] }, 'another mode');
  await differs({ danglingLinks: [{ path: ['x'], target: 'y' }] }, 'an invented dangling link');
  await differs({ named: [{ config: ['b.ts'], names: ['q'] }] }, 'a name that no removed configuration gave');
});

t.test('a policy that is not one is refused', async (t) => {
  const blocks = openBlocks();
  const source = sourceOf(blocks, putTree(blocks, {}), '0'.repeat(40));
  const bad = await derive(blocks, redactV1, {
    inputs: { source, policy: blocks.raw('{"policy":"other"}') },
  });
  t.match(bad.value, { refused: { code: 'E_RULE_INPUT' } });
});

const alphabet = [
  'AGENTS.md',
  'agents.mdx',
  '.claude',
  'Claude.MD',
  'src',
  'a.ts',
  '.github',
  'prompts',
  'opencode.json',
];
const trees = fc.letrec<{ node: Plan; tree: Tree }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom<Plan>('x', 'y'),
    fc.constantFrom('../src', 'a.ts', '.claude').map((text): Plan => symlink(text)),
    tie('tree') as fc.Arbitrary<Plan>,
  ),
  tree: fc.dictionary(fc.constantFrom(...alphabet), tie('node'), {
    minKeys: 1,
    maxKeys: 4,
  }) as fc.Arbitrary<Tree>,
})).tree;

t.test(
  'for any tree: nothing kept matches, all removed does, and redacting again changes nothing',
  async (t) => {
    const patterns = matcher(parseRedactionPolicy(REDACTION_POLICY.bytes));
    await fc.assert(
      fc.asyncProperty(trees, async (plan) => {
        const blocks = openBlocks();
        const { value, source, cid } = await redact(blocks, plan);
        for (const [path, type] of Object.entries(await listing(blocks, value.tree['/'])))
          if (type !== 'dir') t.equal(patterns.match(path.split('/')), undefined, path);
        t.ok(value.removed.every((each) => patterns.match(each.path) === each.pattern));
        const corpus = await derive(blocks, corpusV1, { inputs: { source, redaction: cid } });
        t.notOk('refused' in corpus.value, 'the Git tree id is had back');
        const again = await derive(blocks, redactV1, {
          inputs: { source: sourceOf(blocks, value.tree['/'], '0'.repeat(40)), policy: REDACTION_POLICY.cid },
        });
        t.same([again.value.tree, again.value.removed], [value.tree, []]);
      }),
      seeded(t, 60),
    );
  },
);
