/** The study that a fixture yields by itself: when, with what in it, and under which name. */
import t from 'tap';
import { exploreV1, whyNot } from '../../../rules/explore/v1.ts';
import { pairV1 } from '../../../rules/pair/v1.ts';
import { keyFor } from '../../../rules/rule.ts';
import { viewAs } from '../../../rules/runs.ts';
import { type Cid, link } from '../../../store/format/cid.ts';
import { type Blocks, derive, openBlocks } from '../kit.ts';
import { agentOf, conditionOf, worldOf } from '../pair/kit.ts';

const finding = {
  kind: 'solution-leak',
  surface: 'prompt',
  path: '',
  pattern: 'answer-phrase',
  by: 'content',
};

/** A world whose fixture asks for two conditions. */
function asking(
  blocks: Blocks,
  findings: readonly object[] = [],
  agent: Record<string, unknown> = {},
  epochs = 2,
) {
  const conditions = ['none', 'memory'].map((name) => link(conditionOf(blocks, name)));
  const explore = { agent: link(agentOf(blocks, agent)), conditions, epochs };
  return { ...worldOf(blocks, { fixture: { explore }, findings }), explore };
}

const bindingsOf = async (blocks: Blocks, certificate: Cid) =>
  exploreV1.bind(
    { cid: certificate, value: await viewAs('certificate', certificate, blocks.view) },
    blocks.view,
  );

t.test('certified: an exploratory study that spends nothing and registers nothing', async (t) => {
  const blocks = openBlocks();
  const { certificate, challenge, fixture, explore } = asking(blocks);
  const [binding, ...more] = await bindingsOf(blocks, certificate);
  t.same(more, []);
  if (binding === undefined) return t.fail('no binding');
  const { cid, value } = await derive(blocks, exploreV1, binding);
  t.match(value, {
    kind: 'study',
    version: 1,
    stage: 'exploratory',
    epochs: 2,
    agents: [explore.agent],
    certificates: [link(certificate)],
    caps: { runMicros: 0, stageMicros: 0, totalMicros: 0 },
    tests: [],
    derivation: { rule: 'explore', v: 1, parameters: { epochs: 2 } },
  });
  t.notOk('family' in value, 'a family of its own');
  t.match(value.pairs, [{ challenge: link(challenge), fixture: link(fixture) }]);
  const plans = await pairV1.bind({ cid, value }, blocks.view);
  t.equal(plans.length, 2, 'its plans come of the same rule as all others');
  for (const plan of plans) t.notOk('refused' in (await derive(blocks, pairV1, plan)).value);
});

t.test('what it lacks is named, and then no study follows', async (t) => {
  const blocks = openBlocks();
  const rows: [Cid, object][] = [
    [worldOf(blocks).certificate, { reason: 'no-match' }],
    [asking(blocks, [finding]).certificate, { reason: 'not-certified', detail: /1 findings/ }],
    [asking(blocks, [], { modelKind: 'real' }).certificate, { reason: 'budget-gate' }],
  ];
  const derivation = { rule: 'certify', v: 1, inputs: {} };
  const refused = { code: 'E_PATH', detail: 'a path' };
  rows.push([blocks.record({ kind: 'certificate', v: 1, derivation, refused }), { reason: 'not-certified' }]);
  for (const [certificate, lack] of rows) {
    t.match(await whyNot(await viewAs('certificate', certificate, blocks.view), blocks.view), lack);
    t.same(await bindingsOf(blocks, certificate), []);
  }
});

t.test('the same inputs give the same study, other epochs another one', async (t) => {
  const keys = async (epochs: number) => {
    const blocks = openBlocks();
    return (await bindingsOf(blocks, asking(blocks, [], {}, epochs).certificate)).map((each) =>
      keyFor(exploreV1, each),
    );
  };
  t.same(await keys(2), await keys(2));
  t.notSame(await keys(2), await keys(3));
});
