import fc from 'fast-check';
import t from 'tap';
import { addedRuns } from '../../../rules/certify/needles.ts';
import { normal } from '../../../rules/certify/normal.ts';
import { CERTIFICATION_POLICY } from '../../../rules/certify/policy-v1.ts';
import { acceptable, certifyV1 } from '../../../rules/certify/v1.ts';
import { loadInputs } from '../../../rules/rule.ts';
import { OVERLAP, WINDOW } from '../../../rules/windows.ts';
import { digestOf, link } from '../../../store/format/cid.ts';
import {
  type Blocks,
  challengeOf,
  corpusOf,
  derive,
  graphOf,
  openBlocks,
  type Plan,
  putTree,
  seeded,
  symlink,
} from '../kit.ts';

type Tree = { readonly [name: string]: Plan };
interface World {
  readonly corpus?: Tree;
  readonly evidence?: Tree;
  readonly challenge?: (blocks: Blocks) => Record<string, unknown>;
  readonly graphs?: (blocks: Blocks) => Record<string, unknown>;
}

/** A challenge and fixture over these trees, with their certificate. */
async function certified({ corpus = {}, evidence = {}, challenge, graphs }: World) {
  const blocks = openBlocks();
  const policy = blocks.raw(CERTIFICATION_POLICY.bytes);
  const inputs = {
    challenge: blocks.record(challengeOf(blocks, challenge?.(blocks))),
    corpus: corpusOf(blocks, putTree(blocks, corpus)),
    evidence: corpusOf(blocks, putTree(blocks, { ...evidence, 'evidence.md': 'e' })),
    policy,
  };
  const fixture = blocks.record({
    kind: 'fixture',
    v: 1,
    id: 'world',
    serves: ['unit'],
    corpus: link(inputs.corpus),
    evidence: link(inputs.evidence),
    graphs: graphs?.(blocks) ?? {},
  });
  const binding = { inputs: { ...inputs, fixture } };
  return { blocks, binding, fixture, ...(await derive(blocks, certifyV1, binding)) };
}

async function findings(world: World) {
  const { value } = await certified(world);
  return value.findings.map(({ surface, path, kind, pattern, line, by }) => ({
    surface,
    path,
    kind,
    pattern,
    line,
    by,
  }));
}
const paths = async (corpus: Tree) => (await findings({ corpus })).map(({ path, kind }) => `${path} ${kind}`);

const HUNK = '--- a/src/a.c\n+++ b/src/a.c\n@@ -1,2 +1,2 @@\n-int a;\n+int b;\n int c;';

t.test(
  'patches are told by name and by content, with path, line and digest; look-alikes are none',
  async (t) => {
    const corpus = {
      'fix.patch': `${HUNK}\n`,
      'src/a.c.orig': 'int a;\n',
      'src/a.c.rej': `${HUNK}\n`,
      'docs/migrate.md': `# Migrating\n\n\`\`\`diff\n${HUNK}\n\`\`\`\n`,
      'test/x.snap.cjs': `exports["x"] = "\n${HUNK}\n"\n`,
      'words.diff': 'alpha\nbeta\n',
      'src/b.ts': '@@decorator\nclass A {}\n// see @@ -1 for the rule\n',
      'src/a.c': 'int a;\n',
    };
    const { value, blocks } = await certified({ corpus });
    t.same(
      value.findings.map(({ path, by, line }) => [path, by, line]),
      [
        ['docs/migrate.md', 'content', 6],
        ['fix.patch', 'name', undefined],
        ['src/a.c.orig', 'name', undefined],
        ['src/a.c.rej', 'name', undefined],
        ['test/x.snap.cjs', 'content', 4],
        ['words.diff', 'name', undefined],
      ],
    );
    t.ok(value.findings.every(({ kind }) => kind === 'patch-or-diff'));
    t.equal(value.findings[0]?.digest, `sha256:${digestOf(blocks.raw(corpus['docs/migrate.md']))}`);
  },
);

t.test('an acceptance resolves one content finding of a patch and nothing else', async (t) => {
  const { value } = await certified({
    corpus: { 'docs/m.md': `${HUNK}\n`, 'fix.patch': HUNK, '.env': 'x', 'docs/n.md': `n\n${HUNK}\n` },
  });
  const accepted = value.findings.map(({ surface, path, digest }) => ({
    surface,
    path,
    digest: digest ?? `sha256:${'0'.repeat(64)}`,
  }));
  t.same(
    acceptable(value, accepted).map(({ path }) => path),
    ['.env', 'fix.patch'],
  );
  t.equal(acceptable(value, []).length, 4);
  const [one] = accepted.filter(({ path }) => path === 'docs/m.md');
  for (const over of [{ surface: 'evidence' }, { path: 'docs/x.md' }, { digest: `sha256:${'1'.repeat(64)}` }])
    t.equal(acceptable(value, [{ ...one!, ...over }]).length, 4, JSON.stringify(over));
  const forged = {
    findings: [{ ...value.findings.find(({ path }) => path === '.env')!, digest: one!.digest }],
  };
  t.equal(acceptable(forged, [{ ...one!, path: '.env' }]).length, 1, 'another kind cannot be accepted');
});

t.test('loaded words in ordinary code are no findings; a harness identity term is one', async (t) => {
  const term = ['ash', 'lar'].join('');
  const corpus = {
    'test/a.test.ts':
      'describe("fixtures", () => { /* control arm of the robot; ground truth from the trial; synthetic data; condition A */ })\n',
    'bench/README.md': 'Run the benchmark: npm run bench. Baseline vs treatment of whitespace.\n',
    'test/fixtures/x.json': '{"control":"negative control for the assay"}\n',
    'src/lab.txt': 'evaluated by the experiment runner in src/lab\n',
    'src/leak.cfg': `one\n${term}-runner run_identity=42\n`,
    'src/words.txt': `${term}s and pre${term} are other words\n`,
    'src/escaped.json': `{"t":"first\\n${term.toUpperCase()} x"}\n`,
  };
  t.same(await findings({ corpus }), [
    {
      surface: 'corpus',
      path: 'src/escaped.json',
      kind: 'benchmark-awareness',
      pattern: term,
      line: 1,
      by: 'content',
    },
    {
      surface: 'corpus',
      path: 'src/leak.cfg',
      kind: 'benchmark-awareness',
      pattern: term,
      line: 2,
      by: 'content',
    },
  ]);
});

t.test('the strict words count in identity fields by position, and nowhere else', async (t) => {
  const body = (text: string) => ({ graphs: (blocks: Blocks) => ({ full: graphOf(blocks, [text]) }) });
  t.same(
    await findings(body('spin up a temp directory with test fixtures; the control arm of the crane')),
    [],
  );
  t.same(await findings(body('{"project":"fixture loader","text":"ok"}')), []);
  const named = await findings({
    graphs: (blocks) => ({ full: graphOf(blocks, [], { project: 'billing-negative-control' }) }),
  });
  t.match(named, [
    {
      surface: 'graph:full:identity',
      path: '/project',
      kind: 'benchmark-awareness',
      pattern: 'negative-control',
    },
  ]);
  for (const branch of ['treatmentArm', 'eval_3', 'fixtures/b', 'BASELINE'])
    t.equal(
      (await findings({ graphs: (blocks) => ({ a: graphOf(blocks, [], { branch }) }) })).length,
      1,
      branch,
    );
  for (const branch of ['evaluate', 'alarm', 'hard', 'benches', 'uncontrolled', 'main'])
    t.equal(
      (await findings({ graphs: (blocks) => ({ a: graphOf(blocks, [], { branch }) }) })).length,
      0,
      branch,
    );
});

t.test('memory files are findings in any surface that is a tree', async (t) => {
  const tree = {
    '.claude/skills/db/SKILL.md': 'skill\n',
    '.github/copilot-instructions.md': 'inst\n',
    '.mcp.json': '{}\n',
    'CLAUDE.md': 'root\n',
    'README.md': 'readme\n',
    'packages/api/CLAUDE.md': 'api\n',
    'packages/api/src/AGENTS.md': 'deep\n',
  };
  const found = await findings({ corpus: tree, evidence: tree });
  t.equal(found.filter(({ surface }) => surface === 'corpus').length, 6);
  t.equal(found.filter(({ surface }) => surface === 'evidence').length, 6);
  t.ok(found.every(({ kind, by }) => kind === 'auto-loaded-context' && by === 'name'));
  t.same(
    await findings({ corpus: { 'src/CLAUDE.md.ts': '', 'docs/about-claude.md': '', 'src/claude/c.ts': '' } }),
    [],
  );
});

t.test(
  'suspicious metadata: .git in every spelling, credentials, our own stores and records, links that leave',
  async (t) => {
    const spellings = ['.git', '.GIT', 'git~1', '.git.', '.git ', '.g\u200cit', '.git::$INDEX_ALLOCATION'];
    for (const name of spellings)
      t.same(await paths({ [name]: 'x' }), [`${name} suspicious-metadata`], JSON.stringify(name));
    t.same(
      await paths({ '.gitignore': '', '.gitmodules': '', 'git~x': '', 'my.git': '', 'x/.env.example': '' }),
      [],
    );
    t.same(await paths({ 'a/.ENV': '', 'b/id_rsa': '', '.ashlar/log/x': '', 'k/store.p12': '' }), [
      '.ashlar suspicious-metadata',
      'a/.ENV suspicious-metadata',
      'b/id_rsa suspicious-metadata',
      'k/store.p12 suspicious-metadata',
    ]);
    const links = {
      up: symlink('../../outside'),
      abs: symlink('/etc/hostname'),
      self: symlink('self'),
      in: symlink('src/a.txt'),
    };
    const chain = {
      dir: symlink('src'),
      c1: symlink('c2'),
      c2: symlink('../../x'),
      'src/a.txt': 'a',
      'src/b': symlink('../in'),
    };
    t.same(await paths({ ...links, ...chain }), [
      'abs suspicious-metadata',
      'c2 suspicious-metadata',
      'up suspicious-metadata',
    ]);
    const { blocks, fixture } = await certified({});
    const record = Buffer.from(await blocks.reader.get(fixture));
    const found = await findings({
      corpus: { 'data/x.json': record, 'data/y.json': '{"kind":"fixture","v":1}' },
    });
    t.match(found, [{ path: 'data/x.json', pattern: 'record:fixture' }]);
    t.equal(found.length, 1);
  },
);

t.test('a secret is found with its line and never stands in the certificate', async (t) => {
  const key = `AK${'IA'}Q3EGRV7N5XKJ2M4P`;
  const { value, cid, blocks } = await certified({ corpus: { 'src/c.py': `a\nb\nk = "${key}"\n` } });
  t.match(value.findings, [{ path: 'src/c.py', line: 3, pattern: 'secret:aws-access-key-id' }]);
  t.notOk(Buffer.from(await blocks.reader.get(cid)).includes(key));
  t.equal(value.findings[0]?.digest, undefined);
});

const FIX = 'export function berthFee(days) {\n  return days >= 7 ? weekly(days) : days * 12;\n}\n';
const leaking = (over: World): World => ({
  challenge: (blocks) => ({
    answerPhrases: ['weekly rate starts at day seven'],
    verifier: {
      ...(challengeOf(blocks).verifier as object),
      asset: link(
        putTree(blocks, { 'fee.test.mjs': "test('weekly fee', () => assert.equal(berthFee(7), 70));\n" }),
      ),
    },
    solutions: [
      {
        name: 'right',
        tree: link(putTree(blocks, { 'src/fee.mjs': `import { weekly } from './rates.mjs';\n${FIX}` })),
        deleted: [],
        expected: { func: 'pass', lesson: 'pass', diag: 'pass' },
        reward: 1,
      },
      {
        name: 'decoy',
        tree: link(
          putTree(blocks, { 'src/fee.mjs': 'export const berthFee = (days) => days * 12 * 1.5 + 3;\n' }),
        ),
        deleted: [],
        expected: { func: 'fail', lesson: 'fail', diag: 'pass' },
        reward: 0,
      },
    ],
  }),
  ...over,
});

t.test(
  'an answer, a passing solution and a hidden test are found in every surface and every wrapping',
  async (t) => {
    const kinds = async (world: World) => [
      ...new Set((await findings(leaking(world))).map(({ surface, kind }) => `${surface} ${kind}`)),
    ];
    const base = { 'src/fee.mjs': "import { weekly } from './rates.mjs';\n" };
    t.same(await kinds({ corpus: base }), [], 'what the solution shares with the corpus is no leak');
    const wrapped = [
      FIX,
      `notes\n\n${FIX.replace(/\n/g, '\r\n').replace(/ {2}/g, '\t')}`,
      JSON.stringify({ text: FIX }),
      JSON.stringify({ a: JSON.stringify({ b: FIX }) }),
      Buffer.from(FIX, 'utf16le'),
      Buffer.concat([Buffer.from([0, 1, 2, 255]), Buffer.from(FIX)]),
    ];
    for (const text of wrapped)
      t.same(await kinds({ corpus: { ...base, 'docs/x.md': text } }), ['corpus solution-leak']);
    const phrase = 'The weekly\n   rate starts at day\tseven.';
    t.same(await kinds({ corpus: base, evidence: { 'chat.jsonl': JSON.stringify({ t: phrase }) } }), [
      'evidence solution-leak',
    ]);
    t.same(await kinds({ corpus: base, graphs: (blocks) => ({ g: graphOf(blocks, ['ok', phrase]) }) }), [
      'graph:g solution-leak',
    ]);
    t.same(
      await kinds({
        corpus: { ...base, 'old.mjs': 'export const berthFee = (days) => days * 12 * 1.5 + 3;\n' },
      }),
      [],
    );
    const hidden = "it\n test('weekly fee', () => assert.equal(berthFee(7), 70));\n";
    t.same(await kinds({ corpus: { ...base, 'test/x.mjs': hidden } }), ['corpus suspicious-metadata']);
    const asked = await findings({
      challenge: (blocks) => ({
        answerPhrases: ['starts at day seven'],
        prompt: link(blocks.raw('Do it.\nIt starts at day seven.\n')),
        followUps: [link(blocks.raw('ok')), link(blocks.raw('starts at day seven'))],
      }),
    });
    t.same(
      asked.map(({ surface, line }) => [surface, line]),
      [
        ['prompt', 2],
        ['follow-up-2', 1],
      ],
    );
  },
);

t.test('a surface that is not there or cannot be read is a finding', async (t) => {
  const { blocks, binding } = await certified({
    corpus: { 'a.txt': 'lost', 'b/c.txt': 'kept' },
    graphs: (each) => ({
      g: graphOf(each, ['lost text']),
      h: graphOf(each, [], { surface: link(each.raw('{no')) }),
    }),
  });
  for (const bytes of ['lost', JSON.stringify([{ id: 'n0', text: 'lost text' }]), 'Make the test pass.\n'])
    blocks.map.delete(digestOf(blocks.raw(bytes)));
  const { value } = await derive(blocks, certifyV1, binding);
  t.same(
    value.findings.map(({ kind, surface, path, pattern }) => [kind, surface, path, pattern]),
    [
      ['surface-missing', 'corpus', 'a.txt', 'not-there'],
      ['surface-missing', 'graph:g', '', 'not-there'],
      ['surface-missing', 'graph:h', '', 'unreadable'],
      ['surface-missing', 'prompt', '', 'not-there'],
    ],
  );
});

t.test(
  'the certificate is had back where a file is withheld, taking only its own findings from the record',
  async (t) => {
    const text = `x\n${HUNK}\n`;
    const { blocks, binding, value } = await certified({ corpus: { 'a.md': text, 'b.md': `y\n${HUNK}\n` } });
    blocks.map.delete(digestOf(blocks.raw(text)));
    const inputs = await loadInputs(certifyV1.needs, binding, blocks.reader);
    const { kind, v, derivation, ...body } = value;
    const io = { ...blocks, parameters: {} };
    t.same(await certifyV1.recheck!(body, inputs as never, io), { body, withheld: 1 });
    const forged = { ...body, findings: body.findings.slice(0, 1) };
    t.notSame(
      (await certifyV1.recheck!(forged, inputs as never, io)).body,
      forged,
      'a finding left out is seen',
    );
  },
);

t.test('surfaces are listed with their cids and bindings are found from either side', async (t) => {
  const { blocks, value, binding, fixture } = await certified({
    graphs: (each) => ({ g: graphOf(each, []) }),
  });
  t.same(
    value.surfaces.map(({ name }) => name),
    ['corpus', 'evidence', 'graph:g', 'graph:g:identity', 'prompt'],
  );
  const other = blocks.record(challengeOf(blocks, { id: 'another' }));
  for (const cid of [fixture, binding.inputs.challenge])
    t.same(await certifyV1.bind({ cid, value: await blocks.view.record(cid) }, blocks.view), [binding]);
  t.same(await certifyV1.bind({ cid: other, value: await blocks.view.record(other) }, blocks.view), []);
});

t.test('long files are read through windows, wherever the leak lies', async (t) => {
  for (const at of [WINDOW - 20, WINDOW + OVERLAP + 10]) {
    const bytes = Buffer.alloc(WINDOW + OVERLAP * 2, 'line of text\n');
    bytes.write('\nthe answer: starts at day seven\n', at);
    const found = await findings({
      corpus: { 'log.txt': bytes },
      challenge: () => ({ answerPhrases: ['starts at day seven'] }),
    });
    const line = bytes.subarray(0, bytes.indexOf('starts at')).toString().split('\n').length;
    t.match(found, [{ path: 'log.txt', line }]);
    t.equal(found.length, 1);
  }
});

t.test(
  'the normal form of any text is that of the text in JSON in JSON, with other whitespace',
  async (t) => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.integer({ min: 0, max: 3 }),
        (text, depth) => {
          // JSON has escapes of its own for control characters, which the form drops like whitespace.
          fc.pre(![...text].some((each) => each < '!' && !' \t\n\r\f'.includes(each)));
          const bytes = (from: string) => normal(Buffer.from(from, 'utf8').toString('latin1'));
          let wrapped = text;
          for (let i = 0; i < depth; i++) wrapped = JSON.stringify(wrapped).slice(1, -1);
          const plain = text.replace(/\\[nrtfb]/g, '').replaceAll('\\', '');
          fc.pre(!/\\/.test(text) || depth === 0);
          t.equal(bytes(wrapped), bytes(plain));
        },
      ),
      seeded(t, 100),
    );
    t.equal(normal('caf\\\\u00e9 \\ud83d\\ude00'), Buffer.from('café😀').toString('latin1'));
    t.same(
      addedRuns(
        'a\nb\n',
        'a\n  b\na new line of code which is long enough to count for something\nb\nshort\n',
      ),
      ['a new line of code which is long enough to count for something'],
    );
  },
);
