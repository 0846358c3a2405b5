import t from 'tap';
import { CERTIFICATION_POLICY } from '../../../rules/certify/policy-v1.ts';
import { certifyRunV1 } from '../../../rules/certify-run/v1.ts';
import { loadInputs } from '../../../rules/rule.ts';
import { scrubV1 } from '../../../rules/scrub/v1.ts';
import { type Cid, digestOf, link } from '../../../store/format/cid.ts';
import {
  type Blocks,
  challengeOf,
  corpusOf,
  derive,
  evidenceOf,
  openBlocks,
  putTree,
  receiptOf,
  studyOf,
} from '../kit.ts';

const TOKEN = 'fedcba98765432100123456789abcdef';

/** A clean surface: what a run in a sandbox shows its agent. */
const CLEAN = {
  home: [
    {
      path: '.agent/turn.json',
      text: '{"prompt":"Use none of the memory, or the memory arm of the crane."}',
    },
  ],
  workspacePath: '/workspace',
  parents: ['/', '/workspace'],
  env: { HOME: '/home/agent', PATH: '/usr/bin:/bin', TZ: 'UTC' },
  hostname: 'sandbox',
  mounts: ['/workspace bind', '/tmp tmpfs'],
  argv: [['node', '/programs/agent.mjs']],
  tools: [{ name: 'search_memory', description: 'Searches the memory; gives none where there is none.' }],
  project: 'billing',
  memoryIds: ['mem_0123456789ab'],
};
const REQUEST = {
  system: 'You edit files.',
  messages: [{ role: 'user', content: 'Make the test pass: none, memory.' }],
};

interface Run {
  readonly surface?: unknown;
  readonly request?: unknown;
  readonly status?: string;
  readonly condition?: Record<string, unknown>;
  readonly accepted?: boolean;
}

interface World {
  readonly blocks: Blocks;
  readonly binding: { readonly inputs: Record<string, Cid> };
  readonly conditions: readonly Cid[];
}

const name = (blocks: Blocks) => link(blocks.raw('a name'));

function planOf(blocks: Blocks, study: Cid, arms: Record<string, Cid>, accepted: boolean): Cid {
  const shared = {
    family: link(study),
    challenge: link(blocks.record(challengeOf(blocks, { answerPhrases: ['weekly rate at day seven'] }))),
    fixture: name(blocks),
    agent: name(blocks),
    corpus: link(corpusOf(blocks, putTree(blocks, { 'a.ts': 'code\n' }))),
    certificate: name(blocks),
    acceptances: accepted ? [name(blocks)] : [],
    validations: [],
    graders: ['audit'],
    images: {},
    network: 'none',
    epoch: 1,
  };
  return blocks.record({
    kind: 'plan',
    v: 1,
    derivation: { rule: 'pair', v: 1, inputs: {} },
    shared,
    arms: Object.fromEntries(Object.entries(arms).map(([arm, cid]) => [arm, link(cid)])),
  });
}

async function world(
  run: (ids: { plan: Cid; study: Cid; conditions: readonly Cid[] }) => Run,
): Promise<World> {
  const blocks = openBlocks();
  const policy = blocks.raw(CERTIFICATION_POLICY.bytes);
  const base = { kind: 'condition', v: 1, parameters: {}, tools: [] };
  const first = run({ plan: policy, study: policy, conditions: [policy, policy] });
  const none = blocks.record({ ...base, name: 'none', source: { type: 'none' } });
  const memory = blocks.record({
    ...base,
    name: 'graph-recall',
    source: { type: 'rule', rule: 'raw' },
    channel: 'prompt',
    ...first.condition,
  });
  const study = blocks.record(studyOf(blocks, [none, memory]));
  const plan = planOf(blocks, study, { none, memory }, first.accepted === true);
  const {
    surface = CLEAN,
    request = REQUEST,
    status = 'completed',
  } = run({ plan, study, conditions: [none, memory] });
  const start = blocks.record({
    kind: 'start',
    v: 1,
    plan: link(plan),
    arm: 'memory',
    attempt: 1,
    study: link(study),
    token: TOKEN,
    executor: 'none',
    isolation: { network: 'none', limits: [] },
  });
  const exchange = blocks.record({
    kind: 'exchange',
    v: 1,
    start: link(start),
    reservation: name(blocks),
    sequence: 1,
    request: evidenceOf(blocks, typeof request === 'string' ? request : JSON.stringify(request)),
    response: evidenceOf(blocks, '{}'),
    status: 200,
  });
  const receipt = blocks.record(
    receiptOf(start, {
      status,
      exchanges: request === null ? [] : [link(exchange)],
      ...(surface === null ? {} : { surface: evidenceOf(blocks, JSON.stringify(surface)) }),
    }),
  );
  const scrub = (await derive(blocks, scrubV1, { inputs: { receipt, study } })).cid;
  return { blocks, binding: { inputs: { receipt, scrub, plan, study, policy } }, conditions: [none, memory] };
}

async function findings(run: Run | Parameters<typeof world>[0]) {
  const { blocks, binding } = await world(typeof run === 'function' ? run : () => run);
  const { value } = await derive(blocks, certifyRunV1, binding);
  return value.findings.map(({ kind, surface, path, pattern }) => [kind, surface, path, pattern]);
}

t.test('a clean run has no finding: names of arms are ordinary words in bodies', async (t) => {
  const { blocks, binding } = await world(() => ({}));
  const { value } = await derive(blocks, certifyRunV1, binding);
  t.same(value.findings, []);
  t.same([...value.surfaces].sort(), [...Object.keys(CLEAN), 'first-request'].sort());
  const scrub = binding.inputs.scrub!;
  t.same(await certifyRunV1.bind({ cid: scrub, value: await blocks.view.record(scrub) }, blocks.view), [
    binding,
  ]);
});

t.test(
  'a name counts as a whole value or path segment outside bodies, and not as a part of one',
  async (t) => {
    const at = (over: object) => findings({ surface: { ...CLEAN, ...over } });
    t.same(await at({ hostname: 'memory' }), [['identifier', 'hostname', '/hostname', 'arm-name']]);
    t.same(await at({ workspacePath: '/runs/graph-recall/ws' }), [
      ['identifier', 'workspacePath', '/workspacePath', 'condition-name'],
    ]);
    t.same(await at({ argv: [['node', '--study', 'memory-study']] }), [
      ['identifier', 'argv', '/argv/0/2', 'study-id'],
    ]);
    t.same(await at({ env: { ARM: 'none' } }), [
      ['identifier', 'env', '/env/ARM', 'arm-name'],
      ['identifier', 'env', '/env/ARM', 'condition-name'],
    ]);
    t.same(
      await at({
        hostname: 'memory-host',
        workspacePath: '/workspace/nonesuch',
        mounts: ['/in-memory tmpfs'],
      }),
      [],
    );
  },
);

t.test(
  'a cid, digest or token is found in every spelling and by twelve characters, in bodies too',
  async (t) => {
    const places = async (text: (ids: { plan: Cid; study: Cid; conditions: readonly Cid[] }) => string) => {
      const body = await findings((ids) => ({ request: { content: `see ${text(ids)} there` } }));
      const env = await findings((ids) => ({ surface: { ...CLEAN, env: { X: text(ids) } } }));
      t.equal(env.length > 0, body.length > 0);
      return body.map(([, , , pattern]) => pattern);
    };
    t.same(await places(({ plan }) => plan), ['plan-cid']);
    t.same(await places(({ plan }) => digestOf(plan)), ['plan-cid']);
    t.same(await places(({ study }) => `sha256:${digestOf(study)}`), ['study-cid', 'study-cid']);
    t.same(await places(({ conditions }) => digestOf(conditions[1]!).slice(0, 12)), ['condition-cid']);
    t.same(
      await places(({ conditions }) =>
        digestOf(conditions[0]!)
          .slice(0, 12)
          .replace(/[a-f]/g, (d) => d.toUpperCase()),
      ),
      ['condition-cid'],
    );
    t.same(await places(({ plan }) => digestOf(plan).slice(0, 11)), []);
    t.same(await places(() => TOKEN.slice(0, 12)), ['start-token']);
    t.same(await places(() => `sha256:${'ab'.repeat(32)} mem_0123456789ab`), []);
  },
);

t.test('the kinds of certification hold for the surface and the request', async (t) => {
  const at = (over: object) => findings({ surface: { ...CLEAN, ...over } });
  const term = ['ash', 'lar'].join('');
  t.same(await at({ env: { [`${term.toUpperCase()}_HOME`]: '/x' } }), [
    ['benchmark-awareness', 'env', `/env/${term.toUpperCase()}_HOME`, term],
  ]);
  t.same(await at({ project: 'billing-control' }), [
    ['benchmark-awareness', 'project', '/project', 'control'],
  ]);
  t.same(await at({ home: [{ path: '.config/CLAUDE.md', text: 'x' }] }), [
    ['auto-loaded-context', 'home', '/home/0/path', 'claude.md'],
  ]);
  t.same(await at({ parents: ['/', '/AGENTS.md', `/data/.${term}/log`] }), [
    ['auto-loaded-context', 'parents', '/parents/1', 'agents.md'],
    ['suspicious-metadata', 'parents', '/parents/2', `.${term}`],
    ['benchmark-awareness', 'parents', '/parents/2', term],
  ]);
  const key = `AK${'IA'}Q3EGRV7N5XKJ2M4P`;
  t.same(await at({ env: { KEY: key } }), [
    ['suspicious-metadata', 'env', '/env/KEY', 'secret:aws-access-key-id'],
  ]);
  const leak = { messages: [{ content: 'notes:\n"the weekly rate\n at day seven"' }] };
  t.same(await findings({ request: leak }), [
    ['solution-leak', 'first-request', '/messages/0/content', 'answer-phrase-1'],
  ]);
  const hunk = { content: '@@ -1,2 +1,2 @@\n-a\n+b' };
  t.same(await findings({ request: hunk }), [
    ['patch-or-diff', 'first-request', '/content', 'unified-diff-hunk'],
  ]);
  t.same(
    await findings({ request: hunk, accepted: true }),
    [],
    'an accepted patch may come back with a memory',
  );
  t.same(await findings({ request: `no JSON ${TOKEN}` }), [
    ['identifier', 'first-request', '', 'start-token'],
  ]);
});

t.test('the agent’s native memory is no finding where the condition declares that channel', async (t) => {
  const surface = { ...CLEAN, home: [{ path: 'CLAUDE.md', text: 'remember' }] };
  t.equal((await findings({ surface })).length, 1);
  t.same(await findings({ surface, condition: { channel: 'native' } }), []);
});

t.test('what is missing or unreadable is a finding', async (t) => {
  const { mounts, ...rest } = CLEAN;
  t.same(await findings({ surface: { ...rest, tools: 'none' } }), [
    ['surface-missing', 'mounts', '', 'not-there'],
    ['surface-missing', 'tools', '', 'unreadable'],
    ['identifier', 'tools', '/tools', 'arm-name'],
    ['identifier', 'tools', '/tools', 'condition-name'],
  ]);
  t.same(await findings({ surface: null }), [['surface-missing', 'run-time-surface', '', 'not-there']]);
  t.same(await findings({ surface: [] }), [['surface-missing', 'run-time-surface', '', 'unreadable']]);
  t.same(await findings({ request: null }), [['surface-missing', 'first-request', '', 'not-there']]);
  t.same(await findings({ request: null, status: 'memory_absent' }), [], 'no agent ran');
  t.ok(mounts);
});

t.test(
  'the record is had back where scrubbed files are withheld; what is there is looked at again',
  async (t) => {
    const { blocks, binding } = await world(() => ({
      surface: { ...CLEAN, hostname: 'memory' },
      request: { a: TOKEN },
    }));
    const { value } = await derive(blocks, certifyRunV1, binding);
    const { kind, v, derivation, ...body } = value;
    const inputs = await loadInputs(certifyRunV1.needs, binding, blocks.reader);
    const io = { ...blocks, parameters: {} };
    t.same(await certifyRunV1.recheck!(body, inputs as never, io), { body, withheld: 0 });
    blocks.map.delete(digestOf(blocks.raw(JSON.stringify({ a: TOKEN }))));
    t.same(await certifyRunV1.recheck!(body, inputs as never, io), { body, withheld: 1 });
    const forged = { ...body, findings: body.findings.filter(({ surface }) => surface !== 'hostname') };
    t.notSame((await certifyRunV1.recheck!(forged, inputs as never, io)).body, forged);
  },
);
