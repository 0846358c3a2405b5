/** A fixture that asks for it is explored without anybody's decision: from the frozen files to grades and a release. */
import { join } from 'node:path';
import t from 'tap';
import { admitEligible } from '../../daemon/decide/admit.ts';
import { closeFamily, publish } from '../../daemon/decide/close.ts';
import { families } from '../../daemon/family.ts';
import { openFolder } from '../../daemon/release/folder.ts';
import { writeRelease } from '../../daemon/release/write.ts';
import { runPending } from '../../daemon/run.ts';
import { viewOf } from '../../daemon/view.ts';
import { why } from '../../daemon/why.ts';
import { type Full, isRefused } from '../../rules/contracts/kit.ts';
import type { RecordOf } from '../../rules/contracts/table.ts';
import { eligibleV1 } from '../../rules/eligible/v1.ts';
import { derivedBy, viewAs } from '../../rules/runs.ts';
import { verify } from '../../rules/verify/verify.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import { type Case, labFolder, makeLab, removeLab } from './kit.ts';

t.setTimeout(600_000);
const by = { who: 'a test', why: 'all ran' };

async function labOf(cases: readonly Case[], explore = true) {
  const root = labFolder();
  t.teardown(() => removeLab(root));
  const lab = await makeLab(root, {
    cases,
    ...(explore ? { explore: { arms: ['none', 'memory'] as const, epochs: 2 } } : {}),
  });
  t.teardown(lab.close);
  return { ...lab, root, view: viewOf(lab.store) };
}

t.test('certified corpus, fixture and challenge: a study, its runs, their grades, a release', async (t) => {
  const { root, store, engine, trigger, view, study } = await labOf([{ name: 'open' }]);
  const all = await families(store);
  const registered = study('open');
  const [own] = all.filter((cid) => cid !== registered) as [Cid];
  t.equal(all.length, 2, 'beside the registered one');
  const value = await viewAs('study', own, view);
  t.match(value, { stage: 'exploratory', epochs: 2, derivation: { rule: 'explore', v: 1 } });
  const [fixture] = (await view.byKind('fixture')) as [Cid];
  const answers = async () => (await why(store, fixture)).map(({ reason }) => reason);
  t.same(await answers(), ['ready', 'ready']);
  const before = await view.byKind('receipt');
  const ran = await runPending(store, engine, trigger, { family: own });
  t.same(ran.map(({ arm, epoch, status }) => `${arm} ${epoch} ${status}`).sort(), [
    'memory 1 completed',
    'memory 2 completed',
    'none 1 completed',
    'none 2 completed',
  ]);
  t.same(await answers(), ['already-done', 'already-done']);
  await trigger.settle();
  t.equal((await view.byKind('receipt')).length, before.length + 4);
  const grades = await Promise.all((await view.byKind('grade')).map((cid) => viewAs('grade', cid, view)));
  t.equal(grades.filter((grade) => !isRefused(grade)).length, 4);
  const settled = await families(store);
  t.equal(settled.length, 2, 'looking again makes no further study');

  await admitEligible(store, own, { ...by, outcomesVisible: false });
  await trigger.settle();
  const release = await publish(store, trigger, await closeFamily(store, own, by));
  await writeRelease(store, release, join(root, 'release'));
  const source = await openFolder(join(root, 'release'));
  t.match(await verify(source), { result: 'ok', faults: [] });
  const text = Buffer.from(await source.read('report/report.txt')).toString();
  t.match(text, /^stage +exploratory$/m);
});

t.test('its numbers are never admitted as registered ones', async (t) => {
  const { root, store, engine, trigger, view, study } = await labOf([{ name: 'open' }]);
  const registered = study('open');
  const [own] = (await families(store)).filter((cid) => cid !== registered) as [Cid];
  await runPending(store, engine, trigger, { family: registered });
  const [{ receipt } = { receipt: undefined }] = await runPending(store, engine, trigger, { family: own });
  await admitEligible(store, registered, { ...by, outcomesVisible: false });
  await trigger.settle();
  const eligibility = (await derivedBy(eligibleV1, receipt as Cid, view))?.cid as Cid;
  await store.record({
    ...{
      kind: 'admission',
      v: 1,
      ...by,
      study: link(registered),
      decision: 'admitted',
      outcomesVisible: false,
    },
    subject: { receipt: link(receipt as Cid), eligibility: link(eligibility) },
  } as never);
  await trigger.settle();
  const release = await publish(store, trigger, await closeFamily(store, registered, by));
  const { summary } = (await viewAs('release', release, view)) as Full<RecordOf<'release'>>;
  const { runs } = (await viewAs('summary', summary['/'], view)) as Full<RecordOf<'summary'>>;
  t.equal(runs.length, 1, 'the registered run alone is counted');
  await writeRelease(store, release, join(root, 'forged'));
  const { result, faults } = await verify(await openFolder(join(root, 'forged')));
  t.equal(result, 'faults');
  t.ok(
    faults.some(({ kind, detail }) => kind === 'order' && /admission before .* not in the log/.test(detail)),
    'and the release that holds the admission does not verify',
  );
});

t.test('why says what it lacks', async (t) => {
  const reasons = async (
    lab: Awaited<ReturnType<typeof labOf>>,
    kind: 'fixture' | 'challenge' | 'certificate',
  ) => {
    const [cid] = await lab.view.byKind(kind);
    return (await why(lab.store, cid as Cid)).map(({ reason }) => reason);
  };
  const plain = await labOf([{ name: 'open' }], false);
  t.same(await reasons(plain, 'fixture'), ['no-match']);
  t.same(await reasons(plain, 'challenge'), ['no-match'], 'a fixture that serves it asks for nothing');
  const leaking = await labOf([{ name: 'leaking', answerPhrases: ['it says Well met'], unregistered: true }]);
  for (const kind of ['fixture', 'challenge', 'certificate'] as const)
    t.same(await reasons(leaking, kind), ['not-certified'], kind);
  t.equal((await families(leaking.store)).length, 0, 'and no study is there');
  const real = await labOf([{ name: 'paid', modelKind: 'real' }]);
  t.same(await reasons(real, 'certificate'), ['budget-gate']);
  t.equal((await families(real.store)).length, 1);
});
