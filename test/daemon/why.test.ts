/** Why something does not run: each answer that a store alone can give, and the gate behind it. */
import t from 'tap';
import { progressOfFamily, standingOf } from '../../daemon/family.ts';
import { nextStart, runPending } from '../../daemon/run.ts';
import { viewOf } from '../../daemon/view.ts';
import { REASONS, why } from '../../daemon/why.ts';
import type { Study } from '../../rules/contracts/study.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import { type Case, labFolder, makeLab, removeLab } from './kit.ts';

t.setTimeout(600_000);

const CASES: readonly Case[] = [
  { name: 'open' },
  { name: 'unvalidated', unregistered: true },
  { name: 'leaking', unregistered: true, answerPhrases: ['it says Well met'] },
  { name: 'excluded' },
];
const root = labFolder();
t.teardown(() => removeLab(root));
const lab = await makeLab(root, { cases: CASES });
t.teardown(lab.close);
const { store, engine, trigger } = lab;
const view = viewOf(store);

const answers = async (name: string) => (await why(store, lab.study(name))).map(({ reason }) => reason);

t.test('a plan that may run is ready, and then done', async (t) => {
  const family = lab.study('open');
  t.same(await answers('open'), ['ready']);
  const next = await nextStart(store, family);
  t.match(next, { attempt: 1, arm: 'none' });
  await runPending(store, engine, trigger, { family });
  t.same(await answers('open'), ['already-done']);
  t.equal(await nextStart(store, family), undefined);
});

/** A study as another program might register it: without asking whether its plans can run. */
async function recordedStudy(name: string, change: object): Promise<Cid> {
  const [open] = ((await view.record(lab.study('open'))) as Study).pairs;
  const challenge = (await store.name(`challenge/${name}`))?.target as Cid;
  const [certificate] = await view.linkers(challenge, 'certificate');
  const value = {
    ...(await view.record(lab.study('open'))),
    ...{
      id: name,
      certificates: [link(certificate as Cid)],
      pairs: [{ ...open, challenge: link(challenge) }],
    },
    ...change,
  };
  const { cid } = await store.record(value as never);
  await trigger.settle();
  return cid;
}

t.test('a gate that is shut is named, and nothing starts', async (t) => {
  for (const [name, change, reason] of [
    ['unvalidated', { stage: 'pilot' }, 'not-validated'],
    ['leaking', {}, 'not-certified'],
  ] as const) {
    const family = await recordedStudy(name, change);
    const found = await why(store, family);
    t.match(found, [{ reason }]);
    t.not(found[0]?.detail, '');
    t.same(await runPending(store, engine, trigger, { family }), []);
  }
});

t.test('a plan that an exclusion took out of the study in force is disabled', async (t) => {
  const family = lab.study('excluded');
  const [only] = await progressOfFamily(store, await standingOf(store, family));
  const challenge = only?.plan.value.shared.challenge;
  const decision = { who: 'a test', why: 'withdrawn', study: link(family), challenge };
  await store.record({ kind: 'task_exclusion', v: 1, ...decision } as never);
  t.match(await why(store, only?.plan.cid as Cid), [{ reason: 'rule-disabled' }]);
  t.same(await runPending(store, engine, trigger, { family }), []);
});

t.test('other records answer too, and what is not there is an error', async (t) => {
  const [fixture] = await view.byKind('fixture');
  t.match(await why(store, fixture as Cid), [{ reason: 'no-match' }]);
  const text = await store.put(Buffer.from('no record'));
  await t.rejects(why(store, text), { code: 'E_NOT_FOUND' });
  t.equal(new Set(REASONS).size, REASONS.length);
});
