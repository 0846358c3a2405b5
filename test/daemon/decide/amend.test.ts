/**
 * What people say about a registered study, from the first version to a release: each kind stands where it belongs, what
 * comes too late is refused and leaves no record, and the report prints them in the order of the log.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { collect } from '../../../cli/objects.ts';
import { admitEligible } from '../../../daemon/decide/admit.ts';
import { addWords, amendStudy, deviate, excludeTask } from '../../../daemon/decide/amend.ts';
import { closeFamily } from '../../../daemon/decide/close.ts';
import { keepC0 } from '../../../daemon/decide/register.ts';
import { standingOf } from '../../../daemon/family.ts';
import { authoredStudy, recordStudy } from '../../../daemon/freeze/study.ts';
import { pendingRuns } from '../../../daemon/pending.ts';
import { openFolder } from '../../../daemon/release/folder.ts';
import { releaseTo } from '../../../daemon/release/write.ts';
import { runPending } from '../../../daemon/run.ts';
import { verify } from '../../../rules/verify/verify.ts';
import { type Cid, link } from '../../../store/format/cid.ts';
import { isFault } from '../../../store/format/errors.ts';
import { type Case, inputsOf, labFolder, makeLab, removeLab, studyOf } from '../kit.ts';

const BY = { who: 'ann', why: 'a test' };
const CASES: readonly Case[] = [
  { name: 'first', arms: ['none', 'memory'], unregistered: true },
  { name: 'second', unregistered: true },
  { name: 'third', unregistered: true },
];
const root = labFolder();
t.teardown(() => removeLab(root));
const lab = await makeLab(root, { cases: CASES });
t.teardown(lab.close);
const { store, engine, trigger } = lab;

const pair = (challenge: string, ...arms: string[]) => ({
  challenge,
  fixture: 'greeter',
  arms: Object.fromEntries(arms.map((arm) => [arm, arm])),
});
const PAIRS = [pair('first', 'none', 'memory'), pair('second', 'none')];
const FILE = { ...studyOf(CASES[0] as Case), id: 'amended', pairs: PAIRS };
const versionOf = (change: object) => ({ read: authoredStudy.parse({ ...FILE, ...change }), folder: root });

const family = await recordStudy(inputsOf(lab), authoredStudy.parse(FILE), root);
await keepC0(store, family);
await trigger.settle();

const amend = async (change: object) => {
  const amended = await amendStudy(inputsOf(lab), family, versionOf(change), BY);
  await trigger.settle();
  return amended;
};
const challenge = async (name: string) => (await store.name(`challenge/${name}`))?.target as Cid;
const leaves = async () => (await store.logs.ofFamily(family))?.size;

/** The refusal of something that must leave no leaf. */
async function refused(act: () => Promise<unknown>): Promise<string> {
  const before = await leaves();
  try {
    await act();
    return 'accepted';
  } catch (error) {
    if (!isFault(error, 'E_GATE')) throw error;
    t.equal(await leaves(), before, 'nothing is recorded');
    return error.message;
  }
}

t.test('before the first run: plans come and go, and what they are bound to stands', async (t) => {
  t.match(await refused(() => amend({})), /wanted a version that changes something/);
  t.match(
    await refused(() => amend({ isolation: 'bwrap', epochs: 2 })),
    /found a change of isolation/,
    'plans are bound to it',
  );
  const { study, changed, plans } = await amend({
    epochs: 2,
    alpha: '0.04',
    pairs: [...PAIRS, pair('third', 'none')],
  });
  t.same(changed, ['alpha', 'certificates', 'epochs', 'pairs']);
  t.same(plans, { stay: 2, added: 4, withdrawn: 0 });
  const standing = await standingOf(store, family);
  t.same([standing.study.cid, standing.study.value.version, standing.plans.length], [study, 2, 6]);
  t.match(standing.study.value, { family: { '/': family }, previous: { '/': family }, who: 'ann' });

  await addWords(store, family, 'The house style was written down in May.', BY);
  t.match(
    await refused(async () => excludeTask(store, family, family, BY)),
    /wanted a task that stands in it/,
  );
  await excludeTask(store, family, await challenge('third'), BY);
  t.equal((await standingOf(store, family)).plans.length, 4, 'its plans are gone');
  t.match(
    await refused(async () => excludeTask(store, family, await challenge('third'), BY)),
    /a task that stands/,
  );
  t.same(
    (await amend({ epochs: 2, alpha: '0.04', pairs: [...PAIRS, pair('third', 'none')], attempts: 3 })).plans,
    {
      stay: 4,
      added: 0,
      withdrawn: 0,
    },
  );
});

t.test('between runs: only what governs those to come', async (t) => {
  await runPending(store, engine, trigger, { family, limit: 1 });
  const [begun] = await pendingRuns(store, family);
  const now = { epochs: 2, alpha: '0.04', attempts: 3, pairs: [...PAIRS, pair('third', 'none')] };
  if ((begun?.arms.length ?? 0) === 1 && begun?.challenge === 'first')
    t.match(
      await refused(() => amend({ ...now, attempts: 1 })),
      /wanted no attempt under way; found attempt 1 of first/,
    );
  await runPending(store, engine, trigger, { family, limit: 2 });
  t.match(
    await refused(() => amend({ ...now, alpha: '0.05', orderSeed: 'another', attempts: 1 })),
    /a change for runs to come alone; found a change of alpha, orderSeed/,
  );
  const [other] = ['first', 'second'].filter((name) => name !== begun?.challenge);
  t.ok(other);
  await runPending(store, engine, trigger, { family });
  t.match(
    await refused(() => amend({ ...now, pairs: [PAIRS[0], pair('third', 'none')] })),
    /no plan withdrawn that has begun; found second epoch \d/,
  );
  t.match(
    await refused(async () => excludeTask(store, family, await challenge('second'), BY)),
    /an exclusion before the runs of its task; found 2 plans begun: second epoch/,
  );
});

t.test('after the last run: too late for all but a deviation', async (t) => {
  const now = { epochs: 2, alpha: '0.04', attempts: 3, pairs: [...PAIRS, pair('third', 'none')] };
  t.match(
    await refused(() => addWords(store, family, 'Too late.', BY)),
    /an addendum before the runs.*deviation/,
  );
  t.match(
    await refused(() => amend({ ...now, attempts: 1 })),
    /an amendment before the runs that it governs/,
  );
  const added = await amend({ ...now, epochs: 3 });
  t.same(added.plans, { stay: 4, added: 2, withdrawn: 0 }, 'one more epoch is still to come');
  await runPending(store, engine, trigger, { family });
  await admitEligible(store, family, { ...BY, outcomesVisible: false });
  await trigger.settle();
  const [receipt, other] = (await collect(store.byKind('receipt'))) as [Cid, Cid];
  await deviate(store, family, { what: 'The host slept.', run: receipt }, BY);
  const close = await closeFamily(store, family, BY);
  await trigger.settle();
  t.match(
    await refused(() => deviate(store, family, { what: 'It slept twice.', run: other }, BY)),
    /a deviation before the close that follows the run; found the close/,
  );
  t.match(
    await refused(() => deviate(store, family, { what: 'Of another.', run: close }, BY)),
    /a deviation before the close|a start or receipt/,
  );
  await releaseTo(store, trigger, close, join(root, 'release'));
  const { result, faults } = await verify(await openFolder(join(root, 'release')));
  t.same([result, faults], ['ok', []]);
  const report = readFileSync(join(root, 'release/report/report.txt'), 'utf8');
  const said = [
    'changes alpha, certificates, epochs, pairs',
    'The house style was written down in May.',
    'third leaves the study',
    'changes attempts',
    'changes epochs',
    'The host slept.',
  ];
  const places = said.map((words) => report.indexOf(words));
  t.ok(
    places.every((place) => place > 0),
    `all are printed: ${places.join(', ')}`,
  );
  t.same(
    [...places].sort((a, b) => a - b),
    places,
    'in the order of the log',
  );
});

t.test('what another program records too late, verify names', async (t) => {
  const [, receipt] = (await collect(store.byKind('receipt'))) as [Cid, Cid];
  const standing = await standingOf(store, family);
  const late = { kind: 'deviation', v: 1, ...BY, study: link(standing.study.cid), what: 'It slept twice.' };
  await store.record({ ...late, receipt: link(receipt) } as never);
  const close = await closeFamily(store, family, BY);
  await releaseTo(store, trigger, close, join(root, 'late'));
  const { faults } = await verify(await openFolder(join(root, 'late')));
  t.match(faults, [{ kind: 'order', detail: /^a deviation about leaf \d+, which leaf \d+ closed before$/ }]);
  t.equal(faults.length, 1);
});
