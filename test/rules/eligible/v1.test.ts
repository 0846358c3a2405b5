/** Who may be admitted: each reason by itself; and that no outcome, however it changes, is ever looked at. */
import fc from 'fast-check';
import t from 'tap';
import { INELIGIBLE } from '../../../rules/contracts/eligibility.ts';
import { OUTCOME_STATUSES, VERDICT_REASONS, VOID_STATUSES } from '../../../rules/contracts/receipt.ts';
import { eligibleV1 } from '../../../rules/eligible/v1.ts';
import { evidence, link } from '../../../store/format/cid.ts';
import { sha256Hex } from '../../../store/format/crypto.ts';
import { derive, openBlocks, receiptOf, seeded, studyOf } from '../kit.ts';
import { conditionOf } from '../pair/kit.ts';

type Plain = Record<string, unknown>;
interface Given {
  readonly receipt?: Plain;
  /** Null: the run has none. */
  readonly audit?: Plain | null;
  readonly certificate?: Plain;
  readonly parity?: Plain;
  readonly executor?: string;
  readonly isolation?: string;
}

const REFUSED = { refused: { code: 'E_PATH', detail: 'unreadable' } };
const FINDING = { kind: 'identifier', surface: 'env', path: '', pattern: 'a token', by: 'content' };
const DIFFERENCE = { field: 'surface env', arms: ['memory'], detail: 'differs from control' };

async function judged({ receipt = {}, audit = {}, certificate = {}, parity = {}, ...given }: Given = {}) {
  const blocks = openBlocks();
  const name = link(blocks.raw('a name'));
  const none = conditionOf(blocks, 'none');
  const study = blocks.record({ ...studyOf(blocks, [none]), isolation: given.isolation ?? 'none' });
  const isolation = { network: 'none', limits: [] };
  const start = blocks.record({
    ...{ kind: 'start', v: 1, plan: name, arm: 'none', attempt: 1, study: link(study), isolation },
    ...{ token: '0'.repeat(32), executor: given.executor ?? 'none' },
  });
  const receiptCid = blocks.record(receiptOf(start, receipt));
  const derived = (kind: string, rule: string, full: Plain, over: Plain) =>
    blocks.record({
      ...{ kind, v: 1, derivation: { rule, v: 1, inputs: { of: name } } },
      ...('refused' in over ? over : { ...full, ...over }),
    });
  const of = { receipt: link(receiptCid), study: link(study) };
  const inputs = {
    receipt: receiptCid,
    start,
    study,
    runCertificate: derived(
      'run_certificate',
      'certify-run',
      { ...of, scrub: name, plan: name, policy: name, surfaces: ['env'], findings: [] },
      certificate,
    ),
    parity: derived(
      'parity',
      'parity',
      { plan: name, attempt: 1, receipts: [link(receiptCid)], findings: [] },
      parity,
    ),
    ...(audit === null
      ? {}
      : {
          audit: derived(
            'audit',
            'audit',
            { before: name, after: name, challenge: name, mutations: [], outside: 0 },
            audit,
          ),
        }),
  };
  const { value } = await derive(blocks, eligibleV1, { inputs });
  return { eligible: value.eligible, reasons: value.reasons };
}

const MUTATED = { mutations: [{ path: ['x'], change: 'added', inside: false }], outside: 1 };

const ROWS: Record<string, [Given, readonly string[]]> = {
  'a run that is as it should be': [{}, []],
  'the agent wrote where it may not: its reward is 0, and it may be admitted': [{ audit: MUTATED }, []],
  'no audit of a run that ended': [{ audit: null }, ['audit-missing']],
  'an audit that was refused': [{ audit: REFUSED }, ['audit-missing']],
  'a finding in what the agent could see': [
    { certificate: { findings: [FINDING] } },
    ['certification-finding'],
  ],
  'a certificate that was refused': [{ certificate: REFUSED }, ['certification-refused']],
  'a difference between the arms': [{ parity: { findings: [DIFFERENCE] } }, ['parity-finding']],
  'a parity that was refused': [{ parity: REFUSED }, ['parity-refused']],
  'an executor weaker than registered': [{ isolation: 'bwrap' }, ['isolation-too-weak']],
  'the weakest of two registered': [{ isolation: 'docker', executor: 'bwrap' }, ['isolation-too-weak']],
  'the registered executor': [{ isolation: 'bwrap', executor: 'bwrap' }, []],
  'a stronger one': [{ isolation: 'bwrap', executor: 'docker' }, []],
  ...Object.fromEntries(
    VOID_STATUSES.map((status) => [status, [{ receipt: { status }, audit: null }, ['void-status']]]),
  ),
  ...Object.fromEntries(
    ['memory_absent', 'memory_present'].map((status) => [
      status,
      [{ receipt: { status }, audit: null }, ['no-outcome']],
    ]),
  ),
  ...Object.fromEntries(OUTCOME_STATUSES.map((status) => [status, [{ receipt: { status } }, []]])),
  'all at once, each named': [
    {
      ...{ receipt: { status: 'timeout' }, audit: null, isolation: 'docker' },
      ...{ certificate: { findings: [FINDING, FINDING] }, parity: { findings: [DIFFERENCE] } },
    },
    ['audit-missing', 'certification-finding', 'parity-finding', 'isolation-too-weak'],
  ],
};

for (const [what, [given, reasons]] of Object.entries(ROWS)) {
  t.test(what, async (t) => {
    t.same(await judged(given), { eligible: reasons.length === 0, reasons });
  });
}

t.test('every reason of the list is reached above', (t) => {
  const reached = new Set(Object.values(ROWS).flatMap(([, reasons]) => reasons));
  t.same([...reached].sort(), [...INELIGIBLE].sort());
  t.end();
});

t.test('nothing that an outcome is made of changes the answer', async (t) => {
  const result = fc.constantFrom('pass', 'fail', 'absent');
  const verdict = fc.record({
    reward: fc.constantFrom(0, 1),
    reason: fc.constantFrom(...VERDICT_REASONS),
    byTag: fc.record({ func: result, lesson: result, diag: result }),
    tests: fc.array(
      fc.record({ id: fc.string({ minLength: 1 }), tag: fc.constantFrom('func', 'must-fail'), result }),
    ),
  });
  const digest = fc.string().map((words) => evidence(sha256Hex(Buffer.from(words)) as never));
  const outcome = fc.record(
    { verdict, report: digest, timings: fc.constant({ turns: '9.5' }), natives: fc.constant([]) },
    { requiredKeys: [] },
  );
  const rows = Object.values(ROWS);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...rows), outcome, outcome, async ([given, reasons], one, other) => {
      for (const shown of [one, other]) {
        const same = await judged({ ...given, receipt: { ...given.receipt, ...shown } });
        t.same(same, { eligible: reasons.length === 0, reasons });
      }
    }),
    seeded(t, 150),
  );
  for (const name of Object.keys(eligibleV1.needs))
    t.notMatch(name, /outcome|grade|verdict|report|delivery|use/);
});
