/** What a provisioner's word is worth, and the conformance suite on honest and dishonest products. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { checkProvisioner, type Subject } from '../../../daemon/provisioner/conformance.ts';
import { judgeProvision, type Provisioned } from '../../../rules/provision/judge.ts';

// Run alone, tap allows a file 30 s; these start many processes.
t.setTimeout(600_000);

const EXPECT = {
  state: { nodes: 4, edges: 3 },
  probes: { fulltext: ['a'], semantic: ['a', 'b'], graph: ['c'] },
};
const NOTHING = { fulltext: [], semantic: [], graph: [] };
const FULL: Provisioned = { queueBeforeCount: 0, queueAfterCount: 0, ...EXPECT };
const BARE: Provisioned = { queueBeforeCount: 0, queueAfterCount: 0, state: { nodes: 0 }, probes: NOTHING };

t.test('each way to miss the declared memory has its verdict', async (t) => {
  const rows: [string, Provisioned, typeof EXPECT | undefined, string][] = [
    ['all there', FULL, EXPECT, 'ok'],
    ['more than declared', { ...FULL, probes: { ...FULL.probes, graph: ['z', 'c'] } }, EXPECT, 'ok'],
    [
      'the same in another order',
      {
        ...FULL,
        probes: {
          graph: [...FULL.probes.graph].reverse(),
          semantic: [...FULL.probes.semantic].reverse(),
          fulltext: [...FULL.probes.fulltext].reverse(),
        },
      },
      EXPECT,
      'ok',
    ],
    ['queue before', { ...FULL, queueBeforeCount: 1 }, EXPECT, 'provision_failed'],
    ['queue after', { ...FULL, queueAfterCount: 7 }, EXPECT, 'provision_failed'],
    ['a queue goes before an absent memory', { ...BARE, queueAfterCount: 7 }, EXPECT, 'provision_failed'],
    ['restored nothing', BARE, EXPECT, 'memory_absent'],
    [
      'one id of one probe',
      { ...FULL, probes: { ...FULL.probes, semantic: ['a'] } },
      EXPECT,
      'memory_absent',
    ],
    ['a count', { ...FULL, state: { nodes: 5, edges: 3 } }, EXPECT, 'provision_failed'],
    ['a count left out', { ...FULL, state: { nodes: 4 } }, EXPECT, 'provision_failed'],
    ['a count too many', { ...FULL, state: { nodes: 4, edges: 3, notes: 1 } }, EXPECT, 'provision_failed'],
    ['an undeclared zero', { ...FULL, state: { nodes: 4, edges: 3, notes: 0 } }, EXPECT, 'ok'],
    [
      'nothing declared',
      FULL,
      { ...EXPECT, probes: { fulltext: [], semantic: [], graph: [] } },
      'provision_failed',
    ],
    ['an empty control', BARE, undefined, 'ok'],
    ['a control with memory', FULL, undefined, 'memory_present'],
    [
      'a control with one find',
      { ...BARE, probes: { ...NOTHING, graph: ['c'] } },
      undefined,
      'memory_present',
    ],
    ['a control with a hidden node', { ...BARE, state: { nodes: 1 } }, undefined, 'provision_failed'],
    ['a control with a queue', { ...BARE, queueBeforeCount: 1 }, undefined, 'provision_failed'],
    [
      'an inherited name is no count',
      { ...FULL, state: { ...EXPECT.state, constructor: 1 } },
      EXPECT,
      'provision_failed',
    ],
  ];
  for (const [name, found, expected, verdict] of rows) {
    t.equal(judgeProvision(found, expected).verdict, verdict, name);
  }
});

const top = fileURLToPath(new URL('../../../../', import.meta.url));
const fixtures = join(top, 'challenges/fixtures');
const declared = JSON.parse(readFileSync(join(fixtures, 'quayside-surcharges/fixture.json'), 'utf8'));

function subject(change: Partial<Subject> = {}): Subject {
  return {
    argv: [process.execPath, join(top, 'challenges/provisioner/reference.mjs')],
    root: fixtures,
    work: mkdtempSync(join(tmpdir(), 'suite-')),
    fixture: 'quayside-surcharges',
    graphArm: 'current',
    artifacts: { evidenceCorpus: null, graph: 'quayside-surcharges/graphs/current.json' },
    expect: declared.graphs.current.expect,
    recall: declared.graphs.current.surface[0].text,
    ...change,
  };
}

t.test('the reference provisioner passes the conformance suite', async (t) => {
  for (const { name, ok, detail } of await checkProvisioner(subject())) t.ok(ok, `${name} ${detail}`);
});

t.test('the suite as a program prints each check and says by its status whether all passed', async (t) => {
  const file = join(mkdtempSync(join(tmpdir(), 'suite-')), 'suite.json');
  const suite = fileURLToPath(new URL('../../suite/provisioner.js', import.meta.url));
  const run = (given: Subject) => {
    writeFileSync(file, JSON.stringify(given));
    return spawnSync(process.execPath, [suite, file], { encoding: 'utf8' });
  };
  const good = run(subject());
  t.match(good.stdout, /11 passed, 0 failed\n$/);
  t.equal(good.status, 0);
  const bad = run(
    subject({ artifacts: { evidenceCorpus: null, graph: 'quayside-surcharges/graphs/stale.json' } }),
  );
  t.match(bad.stdout, /NOT OK {2}restore puts the declared memory in place, drained: /);
  t.equal(bad.status, 1);
  t.equal(spawnSync(process.execPath, [suite]).status, 2);
});

t.test(
  'a product that restores nothing, one that forgets nothing and one that shares all are found out',
  async (t) => {
    const liar = (body: string) => {
      const file = join(mkdtempSync(join(tmpdir(), 'liar-')), 'liar.mjs');
      const { state, probes } = declared.graphs.current.expect;
      writeFileSync(
        file,
        `const full = ${JSON.stringify({ state, probes, queue_after_count: 0, snapshot_seconds: 0 })};
       const empty = { ...full, state: { nodes: 0 }, probes: { fulltext: [], semantic: [], graph: [] } };
       const out = { destroy: { ok: true }, restore: { project: 'same', queue_before_count: 0, restore_seconds: 0 } };
       ${body}
       process.stdout.write(JSON.stringify(out[process.argv[2]] ?? {}));`,
      );
      return subject({ argv: [process.execPath, file] });
    };
    const failed = async (given: Subject) =>
      (await checkProvisioner(given)).filter(({ ok }) => !ok).map(({ name }) => name);
    t.ok(
      (await failed(liar('out.snapshot = empty;'))).includes(
        'restore puts the declared memory in place, drained',
      ),
    );
    const always = await failed(liar('out.snapshot = full;'));
    t.ok(always.includes('a restore without a graph leaves nothing to find'));
    t.ok(always.includes('nothing can be found after destroy'));
    t.ok(always.includes('two runs do not share state'));
    t.ok(always.includes('what it cannot do ends with a status above 0 and an empty stdout'));
    const absent = await checkProvisioner(subject({ argv: ['./no-such-product'] }));
    t.ok(
      absent.every(({ ok, detail }) => !ok && detail.includes('ENOENT')),
      'every check says it is not there',
    );
  },
);
