/**
 * Bench: a release of many runs, derived, written and verified. `node dist/test/bench/release.js [runs]` (default 1000).
 * One attempt is run for real, without isolation; its records are put again for every other epoch, so that all that
 * follows from them (the rules, the release, `verify`) is the product's own work on as many distinct runs.
 * The floor of `verify`: SHA-256 over every byte of the release. Targets: at most twice that and the rules' own time; flat
 * memory, which the row of a quarter of the runs shows.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { admitEligible } from '../../daemon/decide/admit.ts';
import { closeFamily, publish } from '../../daemon/decide/close.ts';
import { inOrder, standingOf } from '../../daemon/family.ts';
import { pendingRuns } from '../../daemon/pending.ts';
import { openFolder } from '../../daemon/release/folder.ts';
import { writeRelease } from '../../daemon/release/write.ts';
import { runPending } from '../../daemon/run.ts';
import { viewOf } from '../../daemon/view.ts';
import { why } from '../../daemon/why.ts';
import { parseRecord, referencesOf } from '../../rules/contracts/table.ts';
import { viewAs } from '../../rules/runs.ts';
import { seededOrder } from '../../rules/schedule/order.ts';
import { verify } from '../../rules/verify/verify.ts';
import type { Cid } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { sha256 } from '../../store/format/crypto.ts';
import type { Store } from '../../store/store.ts';
import { type Lab, labFolder, makeLab, removeLab } from '../daemon/kit.ts';

const RUNS = Number(process.argv[2] ?? 1000);
const BY = { who: 'bench', why: 'by eligibility alone', outcomesVisible: false };
/** What a run leaves, in the order in which it is put. */
const LEFT = ['ledger', 'exchange', 'injection', 'receipt'] as const;

interface Original {
  readonly cid: Cid;
  readonly value: Value;
}

/** A start, and every record that hangs on it, each after what it links. */
async function leftBy(store: Store, start: Cid): Promise<Original[]> {
  const found = new Map<Cid, Original>([[start, { cid: start, value: await store.value(start) }]]);
  for await (const { cid, kind } of store.since(undefined)) {
    if (!LEFT.some((each) => each === kind)) continue;
    const value = await store.value(cid);
    const { links } = referencesOf(parseRecord(value));
    if (links.some((link) => found.has(link.cid))) found.set(cid, { cid, value });
  }
  return [...found.values()];
}

/** The same records for another plan: every CID of the original run is replaced by that of its copy. */
async function copyRun(store: Store, originals: readonly Original[], plan: Cid): Promise<void> {
  const renamed = new Map<Cid, Cid>();
  for (const { cid, value } of originals) {
    let text = JSON.stringify(value);
    for (const [from, to] of renamed) text = text.replaceAll(from, to);
    const copy = JSON.parse(text);
    if (copy.kind === 'start') {
      copy.plan = { '/': plan };
      copy.token = Buffer.from(sha256(Buffer.from(plan + copy.arm)))
        .toString('hex')
        .slice(0, 32);
    }
    renamed.set(cid, (await store.record(copy)).cid);
  }
}

/** Every plan that did not run gets the records of the one that did, in the registered order of its arms. */
async function copyRuns({ store }: Lab, family: Cid): Promise<void> {
  const view = viewOf(store);
  const standing = await standingOf(store, family);
  const byArm = new Map<string, readonly Original[]>();
  let ran: Cid | undefined;
  for (const cid of await view.byKind('start')) {
    const { arm, plan } = await viewAs('start', cid, view);
    byArm.set(arm, await leftBy(store, cid));
    ran = plan['/'];
  }
  const { orderSeed } = standing.study.value;
  const copyPlan = async (plan: Cid, arms: readonly string[]) => {
    for (const arm of seededOrder(orderSeed, plan, arms)) await copyRun(store, byArm.get(arm) ?? [], plan);
  };
  const left = inOrder(standing).filter(({ cid }) => cid !== ran);
  await Promise.all(left.map(({ cid, value }) => copyPlan(cid, Object.keys(value.arms))));
}

interface Cost {
  readonly cpu: number;
  readonly peakMb: number;
}

async function cost(work: () => Promise<unknown>): Promise<Cost> {
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  clearInterval(watch);
  return { cpu: (user + system) / 1000, peakMb: Math.max(peak, process.memoryUsage.rss()) / 1e6 };
}

const say = (name: string, { cpu, peakMb }: Cost, more = '') =>
  console.log(
    `${name.padEnd(34)} ${cpu.toFixed(0).padStart(7)} CPU ms, memory up to ${peakMb.toFixed(0)} MB${more}`,
  );

function hashAll(folder: string): { readonly files: number; readonly bytes: number } {
  let files = 0;
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const at = join(folder, name);
    if (!statSync(at).isFile()) continue;
    const content = readFileSync(at);
    sha256(content);
    files += 1;
    bytes += content.length;
  }
  return { files, bytes };
}

/** Neither keeps a state of its own: both read the plans of the family, and nothing else of the store. */
async function askWhatIsPending({ store }: Lab, family: Cid): Promise<void> {
  let records = 0;
  for await (const _ of store.since(undefined)) records += 1;
  const [plan] = inOrder(await standingOf(store, family));
  say('pending', await cost(() => pendingRuns(store, family)), `, ${records} records`);
  say('why, of one plan', await cost(() => why(store, plan?.cid as Cid)));
}

async function measure(runs: number): Promise<void> {
  const root = labFolder();
  const lab = await makeLab(root, { cases: [{ name: 'many', arms: ['none', 'memory'], epochs: runs / 2 }] });
  try {
    const { store, trigger, engine } = lab;
    const family = lab.study('many');
    await runPending(store, engine, trigger, { family, limit: 2 });
    await copyRuns(lab, family);
    console.log(`${runs} runs`);
    say('derive what follows from the runs', await cost(() => trigger.settle()));
    await askWhatIsPending(lab, family);
    await admitEligible(store, family, BY);
    const close = await closeFamily(store, family, { who: BY.who, why: BY.why });
    const folder = join(root, 'release');
    say('close, summary, report', await cost(() => trigger.settle()));
    const written = await cost(async () => writeRelease(store, await publish(store, trigger, close), folder));
    say('release, written', written);
    let hashed = { files: 0, bytes: 0 };
    const floor = await cost(async () => {
      hashed = hashAll(folder);
    });
    say('sha256 of every file', floor, `, ${hashed.files} files, ${(hashed.bytes / 1e6).toFixed(1)} MB`);
    let first = '';
    const verified = await cost(async () => {
      const { result, records, faults } = await verify(await openFolder(folder));
      first = `${result}, ${records} records${faults.length === 0 ? '' : `: ${faults[0]?.detail}`}`;
    });
    say('verify', verified, `, ${(verified.cpu / floor.cpu).toFixed(1)} x of the sha256, ${first}`);
  } finally {
    await lab.close();
    removeLab(root);
  }
}

await measure(RUNS / 4);
await measure(RUNS);
