/** The gate before every plan: what it asks for, one thing at a time; and that a plan keeps its name for ever. */
import t from 'tap';
import { pairV1 } from '../../../rules/pair/v1.ts';
import { keyFor } from '../../../rules/rule.ts';
import { viewAs } from '../../../rules/runs.ts';
import { studyInForce } from '../../../rules/schedule/standing.ts';
import { type Cid, evidence, link } from '../../../store/format/cid.ts';
import { type Blocks, derive, openBlocks } from '../kit.ts';
import { bindingOf, certificateOf, conditionOf, type Different, FAIL, MATRIX, PASS, worldOf } from './kit.ts';

async function planned(different: Different) {
  const blocks = openBlocks();
  return (await derive(blocks, pairV1, bindingOf(worldOf(blocks, different)))).value;
}

const DIGEST = evidence('a'.repeat(64) as never);
const patch = {
  kind: 'patch-or-diff',
  surface: 'docs',
  path: 'm.md',
  pattern: 'unified-diff',
  by: 'content',
  digest: DIGEST,
};
const fits = { surface: 'docs', path: 'm.md', digest: DIGEST };
const IMAGES = { node: evidence('b'.repeat(64) as never) };

const OPEN: Record<string, Different> = {
  'no finding, the whole matrix': {},
  'a patch by content, accepted': { findings: [patch], acceptances: [fits] },
  'two findings of one kind, both accepted': {
    findings: [patch, { ...patch, path: 'n.md' }],
    acceptances: [fits, { ...fits, path: 'n.md' }],
  },
  'five repeats that agree': { validations: [...MATRIX, ...MATRIX.map((each) => ({ ...each, repeat: 2 }))] },
  'runs under another executor beside those that count': {
    validations: [...MATRIX, { ...MATRIX[0], executor: 'docker', verdict: FAIL, reward: 0 }],
  },
  'images, and the matrix under them': {
    study: { images: IMAGES },
    validations: MATRIX.map((each) => ({ ...each, images: IMAGES })),
  },
  'an exploratory study without a matrix': { validations: [], study: { stage: 'exploratory' } },
};

/** Different -> words of the refusal. */
const SHUT: Record<string, [Different, RegExp]> = {
  'a finding': [{ findings: [patch] }, /certificate.* 1 open findings, first patch-or-diff at docs m\.md/],
  'two findings, one accepted': [
    { findings: [patch, { ...patch, path: 'n.md' }], acceptances: [fits] },
    /1 open findings, first patch-or-diff at docs n\.md/,
  ],
  'a patch accepted for another path': [
    { findings: [patch], acceptances: [{ ...fits, path: 'n.md' }] },
    /1 open findings/,
  ],
  'a patch accepted on another surface': [
    { findings: [patch], acceptances: [{ ...fits, surface: 'prompt' }] },
    /1 open findings/,
  ],
  'a patch accepted with other bytes': [
    { findings: [patch], acceptances: [{ ...fits, digest: evidence('c'.repeat(64) as never) }] },
    /1 open findings/,
  ],
  'a patch by name, which nobody can accept': [
    { findings: [{ ...patch, by: 'name' }], acceptances: [fits] },
    /1 open findings/,
  ],
  ...Object.fromEntries(
    [
      'auto-loaded-context',
      'suspicious-metadata',
      'benchmark-awareness',
      'solution-leak',
      'surface-missing',
    ].map((kind) => [
      `a finding of ${kind}, which nobody can accept`,
      [{ findings: [{ ...patch, kind }], acceptances: [fits] }, new RegExp(`first ${kind}`)],
    ]),
  ),
  'no validation at all': [{ validations: [] }, /validation of unit oracle.*found no such run/],
  'one solution that was not run': [
    { validations: [MATRIX[0] as object as never] },
    /unit nothing.*found no such run/,
  ],
  'a run under another executor': [
    { validations: MATRIX.map((each) => ({ ...each, executor: 'bwrap' })) },
    /wanted a validation run, isolation none, same images; found no such run/,
  ],
  'a run under other images': [
    { validations: MATRIX.map((each) => ({ ...each, images: IMAGES })) },
    /found no such run/,
  ],
  'a run without the images that the study binds': [{ study: { images: IMAGES } }, /found no such run/],
  'a solution that passes and should not': [
    { validations: [MATRIX[0] as never, { solution: 'nothing', verdict: PASS, reward: 0 }] },
    /unit nothing.*"func":"fail".*"func":"pass"/,
  ],
  'a reward that is not the expected one': [
    { validations: [MATRIX[0] as never, { solution: 'nothing', verdict: FAIL, reward: 1 }] },
    /unit nothing/,
  ],
  'one repeat of two that does not agree': [
    { validations: [...MATRIX, { solution: 'oracle', repeat: 2, verdict: FAIL, reward: 0 }] },
    /unit oracle/,
  ],
  'a condition over a graph that the fixture lacks': [
    { condition: { source: { type: 'provisioner', provisioner: 'p' }, channel: 'tool', graph: 'stale' } },
    /condition memory.*wanted a graph of the fixture: none; found stale/,
  ],
  'a pilot, which is no exploration': [{ validations: [], study: { stage: 'pilot' } }, /unit oracle/],
};

for (const [what, different] of Object.entries(OPEN)) {
  t.test(`open: ${what}`, async (t) => {
    const plan = await planned(different);
    t.notOk('refused' in plan, JSON.stringify((plan as never as { refused: unknown }).refused));
    t.same(Object.keys(plan.arms).sort(), ['memory', 'none']);
    t.equal(plan.shared.epoch, 1);
  });
}

for (const [what, [different, words]] of Object.entries(SHUT)) {
  t.test(`shut: ${what}`, async (t) => {
    const plan = (await planned(different)) as unknown as { refused: { code: string; detail: string } };
    t.equal(plan.refused.code, 'E_GATE');
    t.match(plan.refused.detail, words);
  });
}

t.test(
  'two different conditions of one name, and no epoch, are inputs that no plan can be made of',
  async (t) => {
    const blocks = openBlocks();
    const world = worldOf(blocks);
    const twin = conditionOf(blocks, 'none', { parameters: { k: 'v' } });
    const conditions = [...world.conditions, twin];
    const refused = { refused: { code: 'E_RULE_INPUT' } };
    t.match((await derive(blocks, pairV1, bindingOf({ ...world, conditions }))).value, refused);
    const { inputs } = bindingOf(world);
    t.match((await derive(blocks, pairV1, { inputs })).value, refused);
  },
);

t.test('without a certificate of that very pair among those of the study, nothing is bound', async (t) => {
  const blocks = openBlocks();
  const { challenge, fixture, study, ...rest } = worldOf(blocks);
  const value = await viewAs('study', study, blocks.view);
  const bind = async (certificates: readonly Cid[]) =>
    (
      await pairV1.bind(
        { cid: study, value: { ...value, certificates: certificates.map(link) } },
        blocks.view,
      )
    ).length;
  t.equal(await bind([rest.certificate]), 1);
  t.equal(await bind([]), 0, 'none');
  t.equal(await bind([certificateOf(blocks, { challenge: fixture, fixture })]), 0, 'of another challenge');
  t.equal(await bind([certificateOf(blocks, { challenge, fixture: challenge })]), 0, 'of another fixture');
  const refused = { code: 'E_PATH', detail: 'x' };
  const derivation = { rule: 'certify', v: 1, inputs: { a: link(challenge) } };
  t.equal(
    await bind([blocks.record({ kind: 'certificate', v: 1, derivation, refused })]),
    0,
    'a refused one',
  );
});

t.test('one plan per agent and epoch; acceptances and validations of other pairs are left out', async (t) => {
  const blocks = openBlocks();
  const other = worldOf(blocks, { challenge: { id: 'other' }, acceptances: [fits] });
  const world = worldOf(blocks, { findings: [patch], acceptances: [fits] });
  const value = await viewAs('study', world.study, blocks.view);
  const mixed = {
    ...value,
    epochs: 3,
    acceptances: [...value.acceptances, ...other.acceptances.map(link)],
    validations: [...value.validations, ...other.validations.map(link)],
  };
  const bound = await pairV1.bind({ cid: world.study, value: mixed }, blocks.view);
  t.same(
    bound.map(({ parameters }) => parameters),
    [{ epoch: 1 }, { epoch: 2 }, { epoch: 3 }],
  );
  for (const { inputs } of bound) {
    t.same(inputs.acceptances, world.acceptances);
    t.same(inputs.validations, world.validations);
  }
  t.equal(new Set(bound.map((each) => keyFor(pairV1, each))).size, 3, 'each with a name of its own');
});

/** A second version of the study, with the amendment that leads to it. */
async function amended(blocks: Blocks, study: Cid, over: Record<string, unknown>) {
  const value = await viewAs('study', study, blocks.view);
  const links = { family: link(study), previous: link(study), version: 2 };
  const after = blocks.record({ ...value, ...links, ...over });
  const decision = { who: 'a person', why: 'more runs' };
  return blocks.record({ kind: 'amendment', v: 1, ...decision, before: link(study), after: link(after) });
}

t.test('an amendment adds and withdraws plans and never re-identifies one that stays', async (t) => {
  const blocks = openBlocks();
  const { study } = worldOf(blocks);
  const keys = async (amendments: readonly Cid[]) => {
    const inForce = await studyInForce(study, amendments, blocks.view);
    return (await pairV1.bind(inForce, blocks.view)).map((each) => keyFor(pairV1, each));
  };
  const before = await keys([]);
  const more = await keys([await amended(blocks, study, { epochs: 3 })]);
  t.equal(more.length, 3);
  t.equal(more[0], before[0], 'the plan of the first epoch is the same');
  const other = { why: 'another reason', attempts: 2, alpha: '0.01', stage: 'main', orderSeed: 'other' };
  t.same(await keys([await amended(blocks, study, other)]), before, 'whatever else changes');
  const another = await viewAs('study', worldOf(blocks, { challenge: { id: 'other' } }).study, blocks.view);
  const { pairs, certificates, validations } = another;
  const moved = await keys([await amended(blocks, study, { pairs, certificates, validations })]);
  t.equal(moved.length, 1);
  t.not(moved[0], before[0], 'a withdrawn pair has no plan in force');
});
