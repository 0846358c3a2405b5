import fc from 'fast-check';
import t from 'tap';
import type { Full } from '../../../rules/contracts/kit.ts';
import type { Scrub } from '../../../rules/contracts/scrub.ts';
import { WITHHOLDABLE } from '../../../rules/contracts/study.ts';
import { referencesOf } from '../../../rules/contracts/table.ts';
import { loadInputs } from '../../../rules/rule.ts';
import { pathFinder, type Replacement, replacementsOf } from '../../../rules/scrub/paths.ts';
import { blockOf } from '../../../rules/scrub/published.ts';
import { scrubbed } from '../../../rules/scrub/stream.ts';
import { scrubV1 } from '../../../rules/scrub/v1.ts';
import { OVERLAP, WINDOW } from '../../../rules/windows.ts';
import { cidOf, digestOf, evidence, link } from '../../../store/format/cid.ts';
import { type Blocks, collect, derive, evidenceOf, openBlocks, receiptOf, seeded, studyOf } from '../kit.ts';

const KEY = `AK${'IA'}Q3EGRV7N5XKJ2M4P`;

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function scrub(text: string | Uint8Array, replacements: Replacement[] = [], size = 1 << 20) {
  const tally = { replaced: 0 };
  const bytes = Buffer.from(text as string);
  const out = await collect(scrubbed(chunked(bytes, size), pathFinder(replacements), tally));
  return { text: Buffer.from(out).toString('utf8'), bytes: out, replaced: tally.replaced };
}

const RUN = [{ path: '/tmp/run-Ab3/ws', with: '/workspace' }];

t.test('a host path goes in every spelling that we know, its replacement in the same one', async (t) => {
  const json = (text: string, depth: number): string =>
    depth === 0 ? text : json(JSON.stringify(text).slice(1, -1), depth - 1);
  const spellings: [string, string][] = [
    ['/tmp/run-Ab3/ws/src/a.ts', '/workspace/src/a.ts'],
    ['file:///tmp/run-Ab3/ws', 'file:///workspace'],
    ['-I/tmp/run-Ab3/ws/include', '-I/workspace/include'],
    ['\\/tmp\\/run-Ab3\\/ws', '\\/workspace'],
    ['%2Ftmp%2Frun-Ab3%2Fws%2Fx', '%2Fworkspace%2Fx'],
    ['%2ftmp%2frun-Ab3%2fws', '%2fworkspace'],
  ];
  for (const [before, after] of spellings) t.same((await scrub(`a ${before} b`, RUN)).text, `a ${after} b`);
  const windows = [{ path: 'C:\\Users\\ann é\\ws', with: '/workspace' }];
  for (const depth of [0, 1, 2, 3]) {
    const { text, replaced } = await scrub(`"${json('C:\\Users\\ann é\\ws', depth)}"`, windows);
    t.same([text, replaced], ['"/workspace"', 1], `JSON depth ${depth}`);
  }
  t.equal((await scrub('C:\\\\Users\\\\ann \\u00e9\\\\ws', windows)).text, '/workspace');
  const doubly = JSON.stringify({ result: JSON.stringify({ inner: '/tmp/run-Ab3/ws/x' }) });
  t.equal(
    (await scrub(doubly, RUN)).text,
    JSON.stringify({ result: JSON.stringify({ inner: '/workspace/x' }) }),
  );
});

t.test('a longer name is another path, and the longest path wins', async (t) => {
  t.equal((await scrub('/tmp/run-Ab3/ws2 /tmp/run-Ab3/ws-old /tmp/run-Ab3/ws_x', RUN)).replaced, 0);
  t.equal((await scrub('/tmp/run-Ab3/ws.log /tmp/run-Ab3/ws: x', RUN)).text, '/workspace.log /workspace: x');
  const nested = [
    { path: '/tmp/r1', with: '/outer' },
    { path: '/tmp/r1/home/', with: '/home/agent' },
  ];
  t.equal((await scrub('/tmp/r1/home/a /tmp/r1/b', nested)).text, '/home/agent/a /outer/b');
});

t.test('secrets become marks and all else keeps its bytes', async (t) => {
  const found = await scrub(`{"k":"${KEY}","x-api-key":"${'f'.repeat(8)}0123456789abcdef"}`);
  t.same(found, {
    text: '{"k":"[redacted:aws-access-key-id]","x-api-key":"[redacted:api-key-header]"}',
    bytes: found.bytes,
    replaced: 2,
  });
  const odd = Uint8Array.from([0, 0xff, 0xfe, 10, 0xc3, 0x28, ...Buffer.from('/workspace é')]);
  const same = await scrub(odd, RUN);
  t.same([Buffer.from(same.bytes), same.replaced], [Buffer.from(odd), 0]);
  t.equal((await scrub('', RUN)).bytes.length, 0);
});

t.test('the published lines of a transcript: seven found, look-alikes untouched', async (t) => {
  const home = `/${'home'}`;
  const lines = [
    { t: `${home}/alice/work/x.py line 3` },
    { t: 'C:\\Users\\alice\\x' },
    { t: JSON.stringify({ inner: `${home}/bob/.ssh/config` }) },
    { t: `file://${home}/alice/a` },
    { t: `key ${KEY}` },
    { t: `AI${'zaSy'}A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q` },
    { t: `x-api-key: ${'f'.repeat(8)}0123456789abcdef` },
  ];
  const facts = [`${home}/alice`, `${home}/bob`, 'C:\\Users\\alice'].map((path) => ({
    path,
    with: '/workspace',
  }));
  const { text, replaced } = await scrub(lines.map((line) => JSON.stringify(line)).join('\n'), facts);
  t.equal(replaced, 7);
  for (const line of text.split('\n')) t.match(line, /\/workspace|\[redacted:/);
  const alike = [
    '/workspace/src/a.rs',
    '/usr/lib/node',
    '~/.smb-work/x',
    `sha512-${'a'.repeat(86)}==`,
    'ASIAPACIFIC',
    '/tmp/pytest-of-root/0',
  ];
  t.equal((await scrub(alike.map((each) => JSON.stringify({ t: each })).join('\n'), facts)).replaced, 0);
});

t.test('what lies across windows and chunks is found as in one piece', async (t) => {
  const total = WINDOW * 2 + OVERLAP;
  for (const at of [
    WINDOW - 9,
    WINDOW,
    WINDOW - OVERLAP - 5,
    WINDOW + OVERLAP - 3,
    WINDOW * 2 - 7,
    total - 60,
  ]) {
    const bytes = Buffer.alloc(total, 'a ');
    bytes.write(` ${KEY} /tmp/run-Ab3/ws/x `, at);
    const whole = await scrub(bytes, RUN);
    t.equal(whole.replaced, 2, `at ${at}`);
    t.equal(
      whole.text,
      bytes.toString().replace(KEY, '[redacted:aws-access-key-id]').replace('/tmp/run-Ab3/ws', '/workspace'),
    );
    t.same((await scrub(bytes, RUN, 65_537)).bytes, whole.bytes, 'whatever the chunks');
  }
});

t.test(
  'a path that a replacement completes is replaced too, and one that never ends is refused',
  async (t) => {
    const facts = [
      { path: '/tmp/run1', with: '/ws' },
      { path: '/home/u/ws', with: '/w' },
    ];
    t.equal((await scrub('cd /home/u/tmp/run1/x', facts)).text, 'cd /w/x');
    await t.rejects(scrub('see /abc', [{ path: '/abc', with: '/abc/abc' }]), { code: 'E_RULE_INPUT' });
  },
);

const bit = fc.constantFrom(
  '/tmp/r1',
  '/ws',
  '/home/u',
  ' ',
  '\\',
  '"',
  'é',
  '\n',
  KEY,
  '/',
  'x',
  '%2Ftmp%2Fr1',
  'API_KEY=',
  'a1b2c3d4e5f6g7h8i9j0',
);

t.test('scrubbing is a fixed point for any text, and independent of chunks', async (t) => {
  const facts = [
    { path: '/tmp/r1', with: '/ws' },
    { path: '/home/u', with: '/ws/home' },
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.array(bit, { maxLength: 40 }),
      fc.integer({ min: 1, max: 50 }),
      async (bits, size) => {
        const once = await scrub(bits.join(''), facts);
        t.equal((await scrub(once.bytes, facts)).replaced, 0);
        t.same((await scrub(bits.join(''), facts, size)).bytes, once.bytes);
        t.notOk(once.text.includes(KEY) && !/[A-Za-z0-9_-]AKIA|4P[A-Za-z0-9_-]/.test(once.text), once.text);
      },
    ),
    seeded(t, 60),
  );
});

/** A receipt with a file of each kind, of a run under a study that withholds these kinds. */
function receipt(
  blocks: Blocks,
  withheld: readonly string[] = [],
  session = `in /tmp/run-Ab3/ws with ${KEY}\n`,
) {
  const name = link(blocks.raw('a name'));
  const none = { kind: 'condition', v: 1, name: 'none', source: { type: 'none' }, parameters: {}, tools: [] };
  const study = blocks.record({ ...studyOf(blocks, [blocks.record(none)]), withheld });
  const isolation = { network: 'none', limits: [] };
  const start = blocks.record({
    ...{ kind: 'start', v: 1, plan: name, arm: 'none', attempt: 1, study: link(study) },
    ...{ token: '0'.repeat(32), executor: 'none', isolation },
  });
  const facts = { replacements: RUN, note: 'kept at /tmp/run-Ab3/ws' };
  const exchange = blocks.record({
    kind: 'exchange',
    v: 1,
    start: link(start),
    reservation: link(start),
    sequence: 1,
    request: evidenceOf(blocks, '{"cwd":"/tmp/run-Ab3/ws"}'),
    response: evidenceOf(blocks, '{"ok":true}'),
    status: 200,
  });
  const receipt = blocks.record(
    receiptOf(start, {
      exchanges: [link(exchange)],
      natives: [
        { name: 'report', bytes: evidenceOf(blocks, 'forged') },
        { name: 'session.jsonl', bytes: evidenceOf(blocks, session) },
      ],
      report: evidenceOf(blocks, 'ok 1\n'),
      surface: evidenceOf(blocks, '{"workspacePath":"/tmp/run-Ab3/ws"}'),
      replies: [{ verb: 'restore', bytes: evidenceOf(blocks, '{}') }],
      hostFacts: evidenceOf(blocks, JSON.stringify(facts)),
    }),
  );
  return { receipt, study };
}

const heldOf = (value: Full<Scrub>) =>
  value.files.flatMap((file) => ('held' in file ? [[file.name, file.held]] : []));

t.test('a receipt’s evidence is listed by name, ours first, with what was replaced', async (t) => {
  const blocks = openBlocks();
  const inputs = receipt(blocks);
  const { value } = await derive(blocks, scrubV1, { inputs });
  t.same(
    value.files.map(({ name, replaced }) => [name, replaced]),
    [
      ['report', 0],
      ['surface', 1],
      ['host-facts', 2],
      ['reply-restore', 0],
      ['exchange-1-request', 1],
      ['exchange-1-response', 0],
      ['report', 0],
      ['session.jsonl', 2],
    ],
  );
  t.same(heldOf(value), []);
  for (const file of value.files)
    t.equal(file.replaced === 0, `sha256:${digestOf(blockOf(file.scrubbed))}` === file.original, file.name);
  const facts = replacementsOf(await blocks.reader.get(blockOf(value.files[2]!.scrubbed)));
  t.same(facts, [], 'the published host facts hold no host path');
  const subject = { cid: inputs.receipt, value: await blocks.view.record(inputs.receipt) };
  t.same(
    await scrubV1.bind(subject, blocks.view),
    [{ inputs }],
    'under the study version that the start names',
  );
});

t.test('what the study withholds is scrubbed and linked by nothing, by kind and not by name', async (t) => {
  const KINDS: Record<string, unknown[]> = {
    'source-tree': [],
    removed: [],
    trajectories: [],
    natives: [
      ['report', 'natives'],
      ['session.jsonl', 'natives'],
    ],
    exchanges: [
      ['exchange-1-request', 'exchanges'],
      ['exchange-1-response', 'exchanges'],
    ],
    replies: [['reply-restore', 'replies']],
    reports: [['report', 'reports']],
    'host-facts': [['host-facts', 'host-facts']],
  };
  t.same(Object.keys(KINDS).sort(), [...WITHHOLDABLE].sort(), 'every kind of the closed list');
  for (const [kind, held] of Object.entries(KINDS)) {
    const blocks = openBlocks();
    const { value, cid } = await derive(blocks, scrubV1, { inputs: receipt(blocks, [kind]) });
    t.same(heldOf(value), held, kind);
    const { links, evidence } = referencesOf(await blocks.view.record(cid));
    for (const file of value.files.filter((each) => 'held' in each)) {
      t.notOk(
        links.some((each) => each.cid === blockOf(file.scrubbed)),
        'no link leads there',
      );
      t.ok(evidence.includes(file.scrubbed as never), 'the store that made it keeps the bytes');
    }
  }
});

t.test(
  'what is only found once it is decoded is held back by hygiene, and the study’s kind goes first',
  async (t) => {
    const encoded = `{"data":"${Buffer.from(`key ${KEY} in a text that is long enough`).toString('base64')}"}\n`;
    for (const [withheld, held] of [
      [[], 'hygiene'],
      [['natives'], 'natives'],
    ] as const) {
      const blocks = openBlocks();
      const { value } = await derive(blocks, scrubV1, { inputs: receipt(blocks, withheld, encoded) });
      t.same(heldOf(value).at(-1), ['session.jsonl', held]);
    }
  },
);

type Bound = ReturnType<typeof receipt>;

async function recheck(blocks: Blocks, inputs: Bound, recorded: Full<Scrub>, withheld: readonly string[]) {
  const part = openBlocks();
  for (const [digest, bytes] of blocks.map) if (!withheld.includes(digest)) part.map.set(digest, bytes);
  const loaded = await loadInputs(scrubV1.needs, { inputs: { ...inputs } }, part.reader);
  const { kind, v, derivation, ...body } = recorded;
  return { again: await scrubV1.recheck!(body, loaded as never, { ...part, parameters: {} }), body };
}

const put = (value: Full<Scrub>, i: number, over: object) =>
  value.files.map((file, at) => (at === i ? { ...file, ...over } : file));

t.test('the record is had back from what was published alone; anything else differs', async (t) => {
  const blocks = openBlocks();
  const inputs = receipt(blocks);
  const { value } = await derive(blocks, scrubV1, { inputs });
  const originals = value.files
    .filter(({ replaced }) => replaced > 0)
    .map(({ original }) => original.slice(7));
  const published = await recheck(blocks, inputs, value, originals);
  t.same(published.again, { body: published.body, withheld: 0 });
  const whole = await recheck(blocks, inputs, value, []);
  t.same(whole.again, { body: whole.body, withheld: 0 });

  const native = value.files[7]!;
  const gone = recheck(blocks, inputs, value, [...originals, digestOf(blockOf(native.scrubbed))]);
  await t.rejects(gone, { code: 'E_NOT_FOUND' }, 'a published file that is missing is not withheld');

  const differs = async (files: unknown[], what: string, without: readonly string[] = []) => {
    const { again, body } = await recheck(blocks, inputs, { ...value, files } as never, [
      ...originals,
      ...without,
    ]);
    t.notSame(again.body, body, what);
  };
  await differs(
    put(value, 7, { scrubbed: link(blocks.raw(`still ${KEY}`)) }),
    'published bytes that hold a secret',
  );
  await differs(
    put(value, 0, { scrubbed: link(blocks.raw('ok 2\n')) }),
    'other bytes where nothing was replaced',
  );
  await differs(put(value, 7, { replaced: 0 }), 'a count of nothing over changed bytes');
  await differs(put(value, 0, { replaced: 1 }), 'a count over bytes that are the same');
  await differs(value.files.slice(0, -1), 'a file left out');
  await differs(put(value, 7, { name: 'other' }), 'another name');
  const digest = digestOf(blockOf(native.scrubbed));
  const claimed = (held: string) => put(value, 7, { scrubbed: evidence(digest), held });
  await differs(claimed('natives'), 'held back under a kind that the study does not withhold', [digest]);
  await differs(claimed('hygiene'), 'held back by hygiene, and the bytes are here and fine');
});

t.test('held files are had back as far as they go, and counted', async (t) => {
  const blocks = openBlocks();
  const inputs = receipt(blocks, ['natives', 'host-facts']);
  const { value } = await derive(blocks, scrubV1, { inputs });
  const away = value.files.flatMap((file) => [
    file.original.slice(7),
    ...('held' in file ? [digestOf(blockOf(file.scrubbed))] : []),
  ]);
  const missing = away.filter((digest) => !KEPT.has(digest));
  const { again, body } = await recheck(blocks, inputs, value, missing);
  t.same(again, { body, withheld: 3 });
  const lie = { ...value, files: put(value, 7, { held: 'hygiene' }) };
  const other = await recheck(blocks, inputs, lie as never, missing);
  t.notSame(other.again.body, other.body, 'another reason than the study gives');
});

/** Originals that are published as they are. */
const KEPT: ReadonlySet<string> = new Set(
  ['ok 1\n', '{}', '{"ok":true}'].map((text) => digestOf(cidOf('raw', Buffer.from(text)))),
);

t.test('host facts that cannot be read are refused', async (t) => {
  const blocks = openBlocks();
  const { study } = receipt(blocks);
  const bad = blocks.record(receiptOf(blocks.raw('s'), { hostFacts: evidenceOf(blocks, 'no JSON') }));
  t.match((await derive(blocks, scrubV1, { inputs: { receipt: bad, study } })).value, {
    refused: { code: 'E_RULE_INPUT' },
  });
});
