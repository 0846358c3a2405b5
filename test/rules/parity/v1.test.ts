/** What must be equal between the arms of one attempt: each field by itself, and what the condition declares taken out. */
import t from 'tap';
import { parityV1 } from '../../../rules/parity/v1.ts';
import { loadInputs } from '../../../rules/rule.ts';
import { blockOf } from '../../../rules/scrub/published.ts';
import { digestOf, evidence, link } from '../../../store/format/cid.ts';
import { openBlocks, putSnapshot, putTree } from '../kit.ts';
import { type ArmShown, BLOCK, parityOf } from './kit.ts';

type Change = (arm: ArmShown) => void;
const blocks = openBlocks();
const text = (words: string) => ({ type: 'text', text: words });
const said = (arm: ArmShown) => (arm.request.messages[0] as { content: unknown[] }).content;

/** A change of one arm -> the only field that differs. */
const DIFFERENT: Record<string, [Change, string]> = {
  'the tree before': [
    (arm) => Object.assign(arm.receipt, { before: link(putSnapshot(blocks, { x: 'y' })) }),
    'before',
  ],
  'the prebuild': [
    (arm) => Object.assign(arm.receipt, { prebuild: link(putTree(blocks, { x: 'y' })) }),
    'prebuild',
  ],
  'no prebuild': [(arm) => Reflect.deleteProperty(arm.receipt, 'prebuild'), 'prebuild'],
  'the agent’s version': [(arm) => Object.assign(arm.receipt, { agentVersion: '2' }), 'agentVersion'],
  'the agent’s program': [
    (arm) => Object.assign(arm.receipt, { agentBinary: evidence('b'.repeat(64) as never) }),
    'agentBinary',
  ],
  'the workspace path': [
    (arm) => Object.assign(arm.surface, { workspacePath: '/ws' }),
    'surface workspacePath',
  ],
  'an environment variable': [(arm) => Object.assign(arm.surface, { env: { HOME: '/h' } }), 'surface env'],
  'the host name': [(arm) => Object.assign(arm.surface, { hostname: 'other' }), 'surface hostname'],
  'the argv': [(arm) => Object.assign(arm.surface, { argv: ['node'] }), 'surface argv'],
  'the mounts': [(arm) => Object.assign(arm.surface, { mounts: [] }), 'surface mounts'],
  'the limits': [(arm) => Object.assign(arm.surface, { limits: { cpus: 2 } }), 'surface limits'],
  'a file of the home': [
    (arm) => Object.assign(arm.surface, { home: [{ path: '.bashrc', sha256: 'c' }] }),
    'surface home',
  ],
  'a part that the other arm lacks': [(arm) => Object.assign(arm.surface, { locale: 'C' }), 'surface locale'],
  'an undeclared tool on the surface': [
    (arm) => (arm.surface.tools as unknown[]).push({ name: 'recall_more' }),
    'surface tools',
  ],
  'another description of the agent’s own tool': [
    (arm) => Object.assign((arm.surface.tools as object[])[0] as object, { description: 'Read.' }),
    'surface tools',
  ],
  'an undeclared tool in the request': [
    (arm) => arm.request.tools.push({ name: 'recall_more' }),
    'first request tools',
  ],
  'the model': [(arm) => Object.assign(arm.request, { model: 'other' }), 'first request model'],
  'the longest answer': [(arm) => Object.assign(arm.request, { max_tokens: 99 }), 'first request max_tokens'],
  'the system prompt': [(arm) => Object.assign(arm.request, { system: 'Hurry.' }), 'first request system'],
  'a parameter': [(arm) => Object.assign(arm.request, { temperature: 1 }), 'first request temperature'],
  'the prompt': [(arm) => said(arm).push(text('Quick.')), 'first request messages'],
};

t.test('arms that differ in their condition alone', async (t) => {
  t.same((await parityOf()).value.findings, []);
});

for (const [what, [change, field]] of Object.entries(DIFFERENT)) {
  t.test(`one finding: ${what}`, async (t) => {
    for (const arm of ['none', 'memory'] as const) {
      const { value } = await parityOf((arms) => {
        change(arms[arm]);
      });
      t.same(value.findings, [{ field, arms: ['none'], detail: 'differs from memory' }], `changed in ${arm}`);
    }
  });
}

t.test('two differences are two findings, by name', async (t) => {
  const { value } = await parityOf(({ memory }) => {
    memory.request.model = 'other';
    memory.surface.hostname = 'other';
  });
  t.same(
    value.findings.map(({ field }) => field),
    ['first request model', 'surface hostname'],
  );
});

t.test('the injected block goes, wherever it was put; what is one letter off stays and shows', async (t) => {
  const put = (content: unknown[], system?: string) =>
    parityOf(({ memory }) => {
      memory.request.messages = [{ role: 'user', content }];
      if (system !== undefined) memory.request.messages.unshift({ role: 'system', content: system });
    });
  const fields = async (...of: Parameters<typeof put>) =>
    (await put(...of)).value.findings.map(({ field }) => field);
  t.same(await fields([text(`${BLOCK}\nGo.`)]), []);
  t.same(await fields([text('Go.')], BLOCK), []);
  t.same(await fields([text(BLOCK), text(BLOCK), text('Go.')]), []);
  t.same(await fields([text(BLOCK.replace('half', 'Half')), text('Go.')]), ['first request messages']);
  t.same(await fields([text(`note: ${BLOCK}`), text('Go.')]), ['first request messages']);
  t.same(await fields([{ type: 'tool_result', tool_use_id: 'a', content: BLOCK }, text('Go.')]), [
    'first request messages',
  ]);
});

t.test(
  'an arm without an outcome is left out; a control may not have what only a condition declares',
  async (t) => {
    const lost = await parityOf(({ none, memory }) => {
      none.status = 'memory_present';
      memory.request.model = 'other';
    });
    t.same(lost.value.findings, []);
    const { value } = await parityOf(({ none }) => {
      none.request.tools.push({ name: 'search_memory', description: 'Search what was learned.' });
    });
    t.same(
      value.findings.map(({ field }) => field),
      ['first request tools'],
    );
  },
);

t.test('what is held back is taken from the record, and nothing else is', async (t) => {
  const {
    blocks: all,
    binding,
    value,
  } = await parityOf(({ none, memory }) => {
    none.held = ['exchange-1-request'];
    memory.held = ['exchange-1-request'];
    memory.request.model = 'other';
    memory.surface.hostname = 'other';
  });
  t.equal(value.findings.length, 2);
  const part = openBlocks();
  const held = new Set<string>();
  for (const cid of binding.inputs.scrubs) {
    const { files } = (await all.view.record(cid)) as never as {
      files: { held?: string; scrubbed: never }[];
    };
    for (const file of files) if (file.held !== undefined) held.add(digestOf(blockOf(file.scrubbed)));
  }
  t.equal(held.size, 2);
  for (const [digest, bytes] of all.map) if (!held.has(digest)) part.map.set(digest, bytes);
  const inputs = await loadInputs(parityV1.needs, binding, part.reader);
  const { kind, v, derivation, ...body } = value;
  const io = { ...part, parameters: {} };
  t.same(await parityV1.recheck!(body, inputs as never, io), { body, withheld: 1 });
  const lie = { ...body, findings: body.findings.filter(({ field }) => field !== 'surface hostname') };
  t.same((await parityV1.recheck!(lie, inputs as never, io)).body, body, 'a finding that can be had again');
  await t.rejects(parityV1.apply(inputs as never, io), { code: 'E_NOT_FOUND' });
});
