/**
 * The main job, whole and twice: the outcome table is the registered one, and everything before chance and clock has
 * the same cids in two stores.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { type DemoResult, runDemo } from '../../cli/demo/run.ts';
import { parseHost } from '../../daemon/host.ts';
import { viewOf } from '../../daemon/view.ts';
import { KIND_TABLE, type Kind } from '../../rules/contracts/table.ts';
import { runOf, viewAs } from '../../rules/runs.ts';
import type { Cid } from '../../store/format/cid.ts';
import { canonicalJson } from '../../store/format/json.ts';
import { initStore, openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';

const CATALOGUE = fileURLToPath(new URL('../../../challenges', import.meta.url));

interface Expected {
  readonly reward: 0 | 1;
  readonly func: string;
  readonly lesson: string;
  readonly diag: string;
  readonly delivered: boolean;
}
interface Authored {
  readonly epochs: number;
  readonly pairs: readonly {
    readonly challenge: string;
    readonly expected: Readonly<Record<string, Expected>>;
  }[];
}
const authored = JSON.parse(readFileSync(join(CATALOGUE, 'studies', 'demo.json'), 'utf8')) as Authored;

function host() {
  const argv = [execPath, join(CATALOGUE, 'provisioner', 'reference.mjs')];
  const value = {
    v: 1,
    executor: 'none',
    provisioners: { reference: { argv, recall: true } },
    model: { kind: 'scripted', behaviours: [join(CATALOGUE, 'challenges')] },
  };
  return parseHost(Buffer.from(canonicalJson(value), 'utf8'), CATALOGUE);
}

interface Done {
  readonly store: Store;
  readonly result: DemoResult;
}

async function demo(folder: string): Promise<Done> {
  mkdirSync(folder, { recursive: true });
  const logKey = join(folder, 'log.key');
  await initStore(join(folder, 'store'), { logKey });
  const store = await openStore(join(folder, 'store'), {
    kinds: KIND_TABLE,
    clock: () => new Date(),
    logKey,
  });
  const target = join(folder, 'release');
  const result = await runDemo({ store, catalogue: CATALOGUE, target, host: host(), say: () => {} });
  return { store, result };
}

async function all(store: Store, kind: Kind): Promise<string[]> {
  return [...(await viewOf(store).byKind(kind))].sort();
}

/** The workspace before and after of every run, by challenge, epoch and arm. */
async function snapshots(store: Store): Promise<Record<string, unknown>> {
  const view = viewOf(store);
  const found: Record<string, unknown> = {};
  for (const cid of await view.byKind('receipt')) {
    const run = await runOf(cid, view);
    if (run === undefined) continue;
    const { before, after, prebuild } = run.receipt;
    found[`${run.planCid} ${run.start.arm}`] = { before, after, prebuild };
  }
  return found;
}

async function outcomes(store: Store): Promise<Map<string, Expected[]>> {
  const view = viewOf(store);
  const found = new Map<string, Expected[]>();
  for (const cid of await view.byKind('grade')) {
    const grade = await viewAs('grade', cid, view);
    if (!('receipt' in grade)) continue;
    const run = await runOf(grade.receipt['/'] as Cid, view);
    const challenge = await viewAs('challenge', run?.plan.shared.challenge['/'] as Cid, view);
    const byTag = run?.receipt.verdict?.byTag ?? { func: 'none', lesson: 'none', diag: 'none' };
    const key = `${challenge.id} ${grade.arm}`;
    const row = { reward: grade.reward ?? 0, ...byTag, delivered: grade.delivered } as Expected;
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  return found;
}

t.test(
  'the demo gives the registered outcomes, verifies, and gives the same cids in another store',
  async (t) => {
    const root = t.testdir();
    const [one, two] = await Promise.all([demo(join(root, 'one')), demo(join(root, 'two'))]);
    t.teardown(() => Promise.all([one.store.close(), two.store.close()]));

    const found = await outcomes(one.store);
    const wanted = authored.pairs.flatMap(({ challenge, expected }) =>
      Object.entries(expected).map(([arm, row]) => [`${challenge} ${arm}`, row] as const),
    );
    t.same([...found.keys()].sort(), wanted.map(([key]) => key).sort(), 'every task and arm, and no other');
    for (const [key, row] of wanted) t.same(found.get(key), Array(authored.epochs).fill(row), key);

    for (const { result } of [one, two]) {
      t.equal(result.verified.result, 'ok', 'the release verifies');
      t.same(result.verified.faults, []);
      t.ok(result.ran.every(({ status, attempt }) => status === 'completed' && attempt === 1));
    }
    const kinds: Kind[] = [
      'source',
      'redaction',
      'corpus',
      'certificate',
      'challenge',
      'fixture',
      'validation',
      'study',
      'plan',
      'audit',
    ];
    for (const kind of kinds) {
      const cids = await all(one.store, kind);
      t.ok(cids.length > 0, `there are ${kind} records`);
      t.same(await all(two.store, kind), cids, `${kind}: the same cids in both stores`);
    }
    t.same(await snapshots(two.store), await snapshots(one.store), 'every workspace snapshot');

    const view = viewOf(one.store);
    for (const cid of await all(one.store, 'certificate')) {
      const certificate = await viewAs('certificate', cid as Cid, view);
      t.same('findings' in certificate ? certificate.findings : 'refused', [], 'a clean certificate');
    }
    const removed = new Set<string>();
    for (const cid of await all(one.store, 'redaction')) {
      const redaction = await viewAs('redaction', cid as Cid, view);
      if ('removed' in redaction) for (const { path } of redaction.removed) removed.add(path.join('/'));
    }
    t.same(
      [...removed].sort(),
      ['.cursor/rules/events.mdc', 'CLAUDE.md', 'src/AGENTS.md'],
      'the three files',
    );
  },
);
