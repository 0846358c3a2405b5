/**
 * What an attacker with a key of their own can do to the records of a publication: every consequence is derived again,
 * the log is signed, the manifest is whole. Each edit is named by the check that it is meant for, in a pass that goes on
 * to the end.
 */
import t from 'tap';
import type { Kind, RecordOf } from '../../rules/contracts/table.ts';
import { deliverV1 } from '../../rules/deliver/v1.ts';
import { LOG_FILES } from '../../rules/release/files.ts';
import { applyRule, type Rule } from '../../rules/rule.ts';
import { RULES } from '../../rules/table.ts';
import type { FaultKind } from '../../rules/verify/fault.ts';
import { verify } from '../../rules/verify/verify.ts';
import { type Cid, evidence, link } from '../../store/format/cid.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import { type Forge, forge, type Publishing } from './forge.ts';
import { GOLDEN, inMemory, readFiles } from './publication.ts';

t.setTimeout(600_000);
const golden = readFiles(GOLDEN);
const ALL = RULES.map(({ name }) => name);

type Plain = Record<string, unknown>;
type Edit = (at: Forge) => void | Promise<void>;
type Direct = (at: Forge) => void;

interface Row {
  readonly edit: Edit;
  /** The fault that must be named, and words of it. */
  readonly named: readonly [FaultKind, RegExp];
  /** Further kinds that the same edit brings with it. */
  readonly also?: readonly FaultKind[];
  readonly options?: Publishing;
}

const first = (at: Forge, kind: Kind): Cid => at.all(kind)[0] as Cid;
const armOf = (at: Forge, arm: string): Cid =>
  at.all('start').find((cid) => at.record('start', cid).arm === arm) as Cid;
const receiptOf = (at: Forge, start: Cid): Cid =>
  at.all('receipt').find((cid) => at.record('receipt', cid).start['/'] === start) as Cid;
/** The start of the arm without memory, and the other one. */
const arms = (at: Forge) => ({ none: armOf(at, 'none'), memory: armOf(at, 'memory') });
const editFirst =
  (kind: Kind, change: (value: Plain) => Plain): Edit =>
  (at) =>
    void at.edit(first(at, kind), change);
const editReceipt =
  (arm: string, change: (value: Plain) => Plain): Edit =>
  (at) =>
    void at.edit(receiptOf(at, armOf(at, arm)), change);
const admissionOf = (at: Forge, arm: string): Cid => {
  const receipt = receiptOf(at, armOf(at, arm));
  return at.all('admission').find((cid) => {
    const { subject } = at.record('admission', cid);
    return 'receipt' in subject && subject.receipt['/'] === receipt;
  }) as Cid;
};
const leaf = (kind: string, cid: Cid) => ({ kind, cid, at: '2026-01-01T00:00:00.000Z' });
/** Puts a record into the log before the close. */
function logged(at: Forge, value: Plain, index = at.leaves.length - 1): Cid {
  const cid = at.add(value);
  at.leaves = [...at.leaves.slice(0, index), leaf(value.kind as string, cid), ...at.leaves.slice(index)];
  return cid;
}
const plainOf = (at: Forge, kind: Kind, cid: Cid): Plain => ({ ...(at.record(kind, cid) as object) });

const RUN_KINDS: readonly Kind[] = [
  'exchange',
  'injection',
  'scrub',
  'run_certificate',
  'trajectory',
  'delivery',
  'use',
  'outcome',
  'grade',
  'eligibility',
];
/** Takes one run away with all that is about it alone. */
function dropRun(at: Forge, arm: string): void {
  const start = armOf(at, arm);
  const receipt = receiptOf(at, start);
  at.drop(admissionOf(at, arm));
  for (const kind of RUN_KINDS) {
    for (const cid of at.all(kind)) {
      const { receipt: of, start: from } = plainOf(at, kind, cid) as Record<string, { '/': Cid } | undefined>;
      if (of?.['/'] === receipt || from?.['/'] === start) at.drop(cid);
    }
  }
  at.drop(receipt);
  at.drop(start);
}

const bound = (text: string, field = '/counts/planned') =>
  `<!-- claim: summary ${field} -->${text}<!-- /claim -->`;
/** The one claim with other words, on a page that says `page`. */
function claim(at: Forge, over: Plain, page: string): void {
  at.edit(first(at, 'claim'), (value) => ({ ...value, page: link(at.raw(page)), ...over }));
}

/** The study registers a second epoch, whose runs nobody made. */
const twoEpochs: Direct = (at) => {
  at.edit(first(at, 'study'), (value) => ({ ...value, epochs: 2 }));
  claim(at, { printed: '4' }, `There were ${bound('4')}.`);
};

const swapStarts: Direct = (at) => {
  const { none, memory } = arms(at);
  at.edit(none, (value) => ({ ...value, arm: 'memory' }));
  at.edit(memory, (value) => ({ ...value, arm: 'none' }));
};

/** A second study version in force from the first leaf on. */
const amendFirst = (at: Forge, change: Plain = { why: 'a later version' }): void => {
  const [study] = at.all('study');
  const value = plainOf(at, 'study', study as Cid);
  const links = { family: link(study as Cid), previous: link(study as Cid) };
  const after = logged(at, { ...value, version: 2, ...links, ...change }, 1);
  const between = { before: link(study as Cid), after: link(after) };
  logged(at, { kind: 'amendment', v: 1, who: 'a', why: 'b', ...between }, 2);
};

const secretShape = ['gh', 'p_', 'a1B2'.repeat(9)].join('');

const ROWS: Record<string, Row> = {
  'an unfavourable run dropped with all that is about it': {
    edit: (at) => dropRun(at, 'none'),
    named: ['leaf', /a receipt that the log does not hold/],
    also: ['derivation-extra', 'derivation-missing'],
  },
  'every run of a plan dropped': {
    edit: (at) => {
      dropRun(at, 'none');
      dropRun(at, 'memory');
      at.drop(first(at, 'parity'));
    },
    named: ['bijection', /planned, and pending/],
  },
  'a plan never run and not excluded': {
    edit: twoEpochs,
    named: ['bijection', /planned, and pending/],
    also: ['order'],
  },
  'a start relabelled': {
    edit: (at) => void at.edit(arms(at).none, (value) => ({ ...value, arm: 'memory' })),
    named: ['bijection', /a second start/],
    also: ['run', 'order', 'derivation', 'derivation-missing', 'derivation-extra'],
  },
  'a start of an arm that the plan has not': {
    edit: (at) => void at.edit(arms(at).none, (value) => ({ ...value, arm: 'placebo' })),
    named: ['bijection', /placebo is no arm/],
    also: ['order', 'derivation', 'derivation-missing', 'derivation-extra', 'record'],
  },
  'two arms swapped at their starts': {
    edit: swapStarts,
    named: ['run', /another condition than that of its arm none/],
    also: ['order'],
  },
  'two arms swapped at their starts, the injection with them': {
    edit: (at) => {
      swapStarts(at);
      const start = at.record('start', armOf(at, 'none'));
      const plan = at.record('plan', start.plan['/']);
      const none = 'arms' in plan ? plan.arms.none : undefined;
      at.edit(first(at, 'injection'), (value) => ({ ...value, condition: none }));
    },
    named: ['run', /no injection, though/],
    also: ['order', 'derivation'],
  },
  'two receipts swapped between their starts': {
    edit: (at) => {
      const { none, memory } = arms(at);
      const [a, b] = [receiptOf(at, none), receiptOf(at, memory)];
      at.edit(a, (value) => ({ ...value, start: link(memory) }));
      at.edit(b, (value) => ({ ...value, start: link(none) }));
    },
    named: ['run', /of another start/],
    also: ['order', 'bijection'],
  },
  'a second receipt of one start': {
    edit: (at) => {
      const receipt = receiptOf(at, arms(at).none);
      logged(at, { ...plainOf(at, 'receipt', receipt), timings: { again: '1.0' } });
    },
    named: ['bijection', /has 2 receipts/],
    also: ['derivation', 'derivation-missing', 'derivation-extra', 'record'],
  },
  'an attempt too many': {
    edit: (at) => {
      for (const cid of Object.values(arms(at))) at.edit(cid, (value) => ({ ...value, attempt: 3 }));
    },
    named: ['bijection', /attempt 3, 2 registered/],
  },
  'a second attempt after one that is not void': {
    edit: (at) => {
      for (const cid of Object.values(arms(at))) at.edit(cid, (value) => ({ ...value, attempt: 2 }));
    },
    named: ['bijection', /attempt 2 follows one that is not void/],
  },
  'an ineligible run admitted': {
    edit: editReceipt('none', ({ verdict, ...value }) => ({ ...value, status: 'sandbox_lost' })),
    named: ['bijection', /admitted though ineligible: void-status/],
    also: ['accounts'],
  },
  'an eligible run excluded for a reason that no record bears out': {
    edit: (at) =>
      void at.edit(admissionOf(at, 'none'), (value) => ({
        ...value,
        decision: 'excluded',
        reason: 'parity-finding',
      })),
    named: ['bijection', /excluded for parity-finding, which no record bears out/],
  },
  'an exclusion without a reason': {
    edit: (at) => void at.edit(admissionOf(at, 'none'), (value) => ({ ...value, decision: 'excluded' })),
    named: ['bijection', /needs a reason/],
  },
  'a decision taken out of the log': {
    edit: (at) => at.drop(admissionOf(at, 'none')),
    named: ['bijection', /has 0 decisions in effect/],
  },
  'two decisions in effect about one receipt': {
    edit: (at) => void logged(at, { ...plainOf(at, 'admission', admissionOf(at, 'none')), why: 'again' }),
    named: ['bijection', /has 2 decisions in effect/],
  },
  'the spend of a run changed': {
    edit: editReceipt('memory', (value) => ({ ...value, spend: { ...(value.spend as Plain), micros: 1 } })),
    named: ['accounts', /says 1 micros/],
  },
  'an exchange taken out of its receipt': {
    edit: editReceipt('memory', (value) => ({
      ...value,
      exchanges: (value.exchanges as unknown[]).slice(0, -1),
    })),
    named: ['accounts', /requests, its exchanges give/],
    also: ['derivation'],
  },
  'a verdict changed in its receipt': {
    edit: editReceipt('none', (value) => {
      const verdict = value.verdict as Plain;
      return { ...value, verdict: { ...verdict, reward: 1, reason: 'all-passed' } };
    }),
    named: ['run', /verdict is not the one/],
  },
  'other builds than registered': {
    edit: editReceipt('none', (value) => ({ ...value, builds: { reference: { version: '9' } } })),
    named: ['run', /other builds/],
  },
  'an outcome changed': {
    edit: (at) => {
      const cid = at
        .all('outcome')
        .find((each) => (at.record('outcome', each) as Plain & { verdict: Plain }).verdict.reward === 0);
      at.edit(cid as Cid, (value) => ({ ...value, verdict: { ...(value.verdict as Plain), reward: 1 } }));
    },
    named: ['derivation', /outcome.*verdict is/],
    options: { stale: ['outcome'] },
  },
  'a number in the summary changed': {
    edit: editFirst('summary', (value) => ({
      ...value,
      counts: { ...(value.counts as Plain), started: 3 },
    })),
    named: ['derivation', /summary.*counts is/],
    options: { stale: ['summary'] },
  },
  'a number in the report changed': {
    edit: async (at) => {
      const report = at.record('report', first(at, 'report'));
      const [output] = 'outputs' in report ? report.outputs : [];
      const text = Buffer.from(await at.reader.get(output?.bytes['/'] as Cid)).toString();
      const bytes = link(at.raw(text.replace('2 planned', '3 planned')));
      at.edit(first(at, 'report'), (value) => ({
        ...value,
        outputs: (value.outputs as Plain[]).map((each, i) => (i === 0 ? { ...each, bytes } : each)),
      }));
    },
    named: ['derivation', /report.*outputs is/],
    options: { stale: ['report'] },
  },
  'a finding taken out of a certificate': {
    edit: editFirst('certificate', (value) => ({
      ...value,
      surfaces: (value.surfaces as unknown[]).slice(1),
    })),
    named: ['derivation', /certificate.*surfaces is/],
    also: ['order'],
    options: { stale: ['certify'] },
  },
  'a removed entry taken out of a redaction': {
    edit: editFirst('redaction', (value) => ({ ...value, removed: (value.removed as unknown[]).slice(1) })),
    named: ['derivation', /corpus/],
    also: ['order'],
    options: { stale: ALL },
  },
  'a transcript replaced whose bytes were said to be published as they are': {
    edit: (at) => {
      const scrub = at.all('scrub').find((cid) => scrubOf(at, cid).files.some(isKeptSession)) as Cid;
      const bytes = link(at.raw('{"type":"session","model":"another"}\n'));
      at.edit(scrub, (value) => ({
        ...value,
        files: scrubOf(at, scrub).files.map((file) =>
          isKeptSession(file) ? { ...file, scrubbed: bytes } : file,
        ),
      }));
    },
    named: ['derivation', /scrub/],
    also: ['bijection'],
  },
  'a derived record that no binding gives': {
    edit: async (at) => {
      const delivery = at.all('delivery').find((cid) => inputsOf(at, cid).injections?.length === 1) as Cid;
      const { receipt, scrub, trajectory } = inputsOf(at, delivery) as unknown as Record<
        string,
        { '/': Cid }
      >;
      const inputs = {
        receipt: receipt?.['/'] as Cid,
        scrub: scrub?.['/'] as Cid,
        trajectory: trajectory?.['/'] as Cid,
        injections: [],
      };
      const made = await applyRule(deliverV1 as unknown as Rule, { inputs }, at);
      const cid = at.add(made as unknown as Plain);
      const page = `It is <!-- claim: ${cid} /delivered -->false<!-- /claim -->.`;
      claim(at, { record: link(cid), field: '/delivered', printed: 'false' }, page);
    },
    named: ['derivation-extra', /a delivery that no binding gives/],
    also: ['derivation-missing'],
    options: { stale: ['deliver'] },
  },
  'a derived record left out': {
    edit: (at) => at.drop(first(at, 'grade')),
    named: ['derivation-missing', /no trajectory record/],
    options: { stale: ['grade'] },
  },
  'a rule of a version that nobody knows': {
    edit: editFirst('use', (value) => ({ ...value, derivation: { ...(value.derivation as Plain), v: 9 } })),
    named: ['derivation', /use v9/],
    also: ['derivation-missing', 'derivation-extra'],
    options: { stale: ['use', 'grade', 'summary'] },
  },
  'a claim that is not its field': {
    edit: (at) => claim(at, { printed: '3' }, `There were ${bound('3')}.`),
    named: ['claim', /prints 3, the field holds 2/],
    also: ['derivation'],
    options: { stale: ['report'] },
  },
  'a claim that says another number than its page': {
    edit: (at) => claim(at, { printed: '3' }, `There were ${bound('2')}.`),
    named: ['claim', /prints 3, its page says 2/],
    also: ['derivation'],
    options: { stale: ['report'] },
  },
  'a claim that does not stand in its page': {
    edit: (at) => claim(at, {}, 'There were some.'),
    named: ['claim', /its page has no binding 1/],
    also: ['derivation'],
    options: { stale: ['report'] },
  },
  'a number in a page that no claim binds': {
    edit: (at) => claim(at, {}, `There were ${bound('2')} and 7 more.`),
    named: ['claim', /the number 7 is bound to nothing/],
    also: ['derivation'],
    options: { stale: ['report'] },
  },
  'a claim of a field that is not there': {
    edit: (at) => claim(at, { field: '/counts/nothing' }, `There were ${bound('2', '/counts/nothing')}.`),
    named: ['claim', /no such field/],
    also: ['derivation'],
    options: { stale: ['report'] },
  },
  'a start before its study': {
    edit: (at) => {
      const [study, ...rest] = at.leaves;
      const moved = rest.findIndex(({ kind }) => kind === 'start');
      at.leaves = [...rest.slice(moved, moved + 1), study as never, ...rest.toSpliced(moved, 1)];
    },
    named: ['order', /does not begin with the first version/],
    also: ['log'],
  },
  'a receipt before its start': {
    edit: (at) => {
      const at1 = at.leaves.findIndex(({ kind }) => kind === 'receipt');
      const [receipt] = at.leaves.slice(at1, at1 + 1);
      at.leaves = [at.leaves[0] as never, receipt as never, ...at.leaves.toSpliced(at1, 1).slice(1)];
    },
    named: ['order', /a receipt stands before leaf/],
  },
  'the arms begun in another order than registered': {
    edit: (at) => {
      const [a, b] = at.leaves.filter(({ kind }) => kind === 'start');
      at.leaves = at.leaves.map((each) => (each === a ? b : each === b ? a : each) as never);
    },
    named: ['order', /begins after its turn/],
  },
  'the first checkpoint after the first start': {
    edit: () => {},
    named: ['order', /no checkpoint covers the study/],
    options: { c0Size: 2 },
  },
  'a first checkpoint of nothing': {
    edit: () => {},
    named: ['order', /covers no leaf/],
    options: { c0Size: 0 },
  },
  'starts under a study version that an amendment has ended': {
    edit: (at) => amendFirst(at),
    named: ['order', /was in force/],
  },
  'an amendment of what results are computed by, after a run': {
    edit: (at) => {
      const study = first(at, 'study');
      const links = { family: link(study), previous: link(study) };
      const value = { ...plainOf(at, 'study', study), version: 2, ...links, alpha: '0.01' };
      const after = logged(at, value);
      const amendment = {
        kind: 'amendment',
        v: 1,
        who: 'a',
        why: 'b',
        before: link(study),
        after: link(after),
      };
      logged(at, amendment);
    },
    named: ['order', /changes alpha after a run had begun/],
  },
  'an amendment of what plans are bound to': {
    edit: (at) => amendFirst(at, { isolation: 'bwrap' }),
    named: ['order', /changes isolation to which plans are bound/],
  },
  'a task that leaves the study after its runs': {
    edit: (at) => {
      const links = { study: link(first(at, 'study')), challenge: link(first(at, 'challenge')) };
      logged(at, { kind: 'task_exclusion', v: 1, who: 'a', why: 'b', ...links });
      claim(at, { printed: '0' }, `There were ${bound('0')}.`);
    },
    named: ['order', /a task leaves the study after leaf \d+, a run of it/],
  },
  'a start of a study that is not in the log': {
    edit: (at) => {
      const [study] = at.all('study');
      const other = at.add({ ...plainOf(at, 'study', study as Cid), why: 'another' });
      at.edit(arms(at).none, (value) => ({ ...value, study: link(other) }));
    },
    named: ['order', /is not in the log/],
    also: ['leaf', 'derivation', 'derivation-missing', 'derivation-extra', 'bijection'],
  },
  'a leaf that says another kind than its record': {
    edit: (at) => {
      at.leaves = at.leaves.map((each) => (each.kind === 'start' ? { ...each, kind: 'deviation' } : each));
    },
    named: ['leaf', /says deviation, the record is a start/],
    also: ['bijection', 'claim'],
  },
  'a leaf said twice': {
    edit: (at) => {
      at.leaves = at.leaves.toSpliced(2, 0, at.leaves[1] as never);
    },
    named: ['leaf', /has a leaf already/],
    also: ['order', 'bijection'],
  },
  'a close that covers less than stands before it': {
    edit: () => {},
    named: ['order', /the close covers/],
    options: { close: (value) => ({ ...value, size: (value.size as number) - 1 }) },
  },
  'a close of another root': {
    edit: () => {},
    named: ['order', /the close names root/],
    options: { close: (value) => ({ ...value, root: '0'.repeat(64) }) },
  },
  'a link to a block of another kind': {
    edit: editReceipt('none', (value) => ({ ...value, prebuild: value.after })),
    named: ['record', /a snapshot, not a tree/],
    also: ['bijection'],
  },
  'a secret in published evidence': {
    edit: (at) => {
      const scrub = first(at, 'scrub');
      const bytes = link(at.raw(`{"type":"user","text":"${secretShape}"}\n`));
      at.edit(scrub, (value) => ({
        ...value,
        files: scrubOf(at, scrub).files.map((file) =>
          file.name === 'stdout-1' ? { ...file, scrubbed: bytes, replaced: 1 } : file,
        ),
      }));
    },
    named: ['hygiene', /github-token/],
    also: ['derivation'],
  },
};

type ScrubFiles = {
  readonly files: readonly { name: string; original: string; scrubbed: { '/': Cid }; replaced: number }[];
};
const scrubOf = (at: Forge, cid: Cid): ScrubFiles => at.record('scrub', cid) as unknown as ScrubFiles;
const isKeptSession = ({ name, replaced }: { name: string; replaced: number }): boolean =>
  replaced === 0 && name.startsWith('exchange-1-re');
const inputsOf = (at: Forge, cid: Cid) =>
  (at.record('delivery', cid) as RecordOf<'delivery'>).derivation.inputs as Record<
    string,
    never[] | undefined
  >;

t.test('a forgery of nothing re-derives, and only a key from outside tells it', async (t) => {
  const files = await forge(golden, () => {});
  const alone = await verify(inMemory(files));
  t.match(alone, { result: 'ok', trust: 'self-attested', faults: [] });
  const genuine = await verify(inMemory(golden));
  const keys = [
    Buffer.from(golden.get(LOG_FILES.vkey) as Uint8Array)
      .toString()
      .trimEnd(),
  ];
  t.match(await verify(inMemory(files), { keys }), { result: 'faults', faults: [{ kind: 'trust' }] });
  const expect = genuine.release as Cid;
  t.match(await verify(inMemory(files), { expect }), { result: 'faults', faults: [{ kind: 'trust' }] });
});

t.test('a right claim in other words: nothing to name', async (t) => {
  const files = await forge(golden, (at) => claim(at, {}, `There were ${bound('2')}.`));
  t.match(await verify(inMemory(files)), { result: 'ok', faults: [] });
});

t.test('a plan that a decision excludes is not missed', async (t) => {
  const files = await forge(golden, (at) => {
    twoEpochs(at);
    const study = first(at, 'study');
    const plan = at.all('plan')[0] as Cid;
    const decision = { decision: 'excluded', reason: 'registered-defect', outcomesVisible: false };
    logged(at, {
      kind: 'admission',
      v: 1,
      who: 'a',
      why: 'b',
      study: link(study),
      subject: { plan: link(plan) },
      ...decision,
    });
  });
  const { faults } = await verify(inMemory(files));
  const pending = faults.filter(({ detail }) => /planned, and pending/.test(detail));
  t.equal(pending.length, 1, 'the other plan, which nobody excluded');
});

t.test('replaced evidence that is said to be scrubbed is counted', async (t) => {
  const genuine = await verify(inMemory(golden));
  const files = await forge(golden, (at) => {
    const scrub = first(at, 'scrub');
    const bytes = link(at.raw('another\n'));
    at.edit(scrub, (value) => ({
      ...value,
      files: scrubOf(at, scrub).files.map((file) =>
        file.name === 'stderr-1'
          ? {
              ...file,
              original: evidence(sha256Hex(Buffer.from('x')) as never),
              scrubbed: bytes,
              replaced: 1,
            }
          : file,
      ),
    }));
  });
  const verified = await verify(inMemory(files));
  t.equal(verified.scrubbed.changed, genuine.scrubbed.changed + 1);
  t.ok(
    verified.faults.some(({ kind }) => kind === 'derivation'),
    'another original than the receipt names',
  );
});

for (const [what, { edit, named, also = [], options }] of Object.entries(ROWS)) {
  t.test(what, async (t) => {
    const verified = await verify(inMemory(await forge(golden, edit, options)));
    const [kind, words] = named;
    t.equal(verified.result, 'faults');
    const lines = verified.faults.map((fault) => `${fault.kind} ${fault.at}: ${fault.detail}`);
    const found = verified.faults.filter(
      (fault) => fault.kind === kind && words.test(`${fault.at} ${fault.detail}`),
    );
    t.ok(found.length > 0, `${kind} ${words}`, { lines });
    const others = verified.faults.filter((fault) => fault.kind !== kind && !also.includes(fault.kind));
    t.same(others, [], 'and nothing else is wrong');
    t.ok(verified.records > 10, 'rules were applied to the end');
  });
}
