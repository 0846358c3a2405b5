/**
 * The main job on embedded defaults, from a catalogue folder to a verified release folder: freeze, certify, validate,
 * register, run, admit, close, publish, verify. Each phase calls the functions that the verbs call.
 * Promises: nothing outside `store` and `target` is written, but for temporary folders that are removed.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { admitEligible } from '../../daemon/decide/admit.ts';
import { claimPage } from '../../daemon/decide/claims.ts';
import { closeFamily, reportClose } from '../../daemon/decide/close.ts';
import { keepC0 } from '../../daemon/decide/register.ts';
import { type Engine, openEngine } from '../../daemon/engine.ts';
import { readAuthored } from '../../daemon/freeze/authored.ts';
import { freezeChallenge } from '../../daemon/freeze/challenge.ts';
import { putPolicies } from '../../daemon/freeze/corpus.ts';
import { freezeFixture } from '../../daemon/freeze/fixture.ts';
import { type AuthoredStudy, authoredStudy, recordStudy } from '../../daemon/freeze/study.ts';
import type { Host } from '../../daemon/host.ts';
import { openFolder } from '../../daemon/release/folder.ts';
import { releaseTo } from '../../daemon/release/write.ts';
import { type Ran, runPending } from '../../daemon/run.ts';
import { openTrigger, type Trigger } from '../../daemon/trigger.ts';
import { validate } from '../../daemon/validate.ts';
import { viewOf } from '../../daemon/view.ts';
import { viewAs } from '../../rules/runs.ts';
import { type Verified, verify } from '../../rules/verify/verify.ts';
import type { Cid } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { printPath } from '../../store/format/tree.ts';
import { counted } from '../../store/format/words.ts';
import type { Store } from '../../store/store.ts';

export interface DemoOptions {
  readonly store: Store;
  /** Folder of the catalogue. */
  readonly catalogue: string;
  /** Folder for the release; must not exist. */
  readonly target: string;
  readonly host: Host;
  /** Progress: the phase, and what was just done. */
  readonly say: (phase: string, line: string) => void;
}

export interface DemoResult {
  readonly study: Cid;
  readonly close: Cid;
  readonly release: Cid;
  readonly ran: readonly Ran[];
  readonly verified: Verified;
  /** The report in words. */
  readonly report: string;
}

interface Demo extends DemoOptions {
  readonly trigger: Trigger;
  readonly study: AuthoredStudy;
  /** `challenge/<id>` and `fixture/<id>`. */
  readonly frozen: Map<string, Cid>;
}

/** Runs the demo study. Throws what its phases throw; a release that does not verify is in the result. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { store, catalogue, target, host, say } = options;
  const study = await readAuthored(join(catalogue, 'studies', 'demo.json'), authoredStudy);
  const demo: Demo = { ...options, study, trigger: openTrigger(store), frozen: new Map() };
  await freeze(demo);
  const engine = await openEngine(store, host);
  try {
    await validateAll(demo, engine);
    const registered = await register(demo);
    const ran = await run(demo, engine, registered);
    await admit(demo, registered);
    const close = await closeFamily(store, registered, { who: 'the demo', why: 'every plan is done' });
    await claim(demo, close);
    const { report } = await reportClose(store, demo.trigger, close);
    const release = await releaseTo(store, demo.trigger, close, target);
    say('release', `${release} in ${target}`);
    const verified = await verify(await openFolder(target));
    say(
      'verify',
      `${verified.result}, ${verified.trust}: ${counted(verified.records, 'derived record')} the same again`,
    );
    return { study: registered, close, release, ran, verified, report: await reportText(store, report) };
  } finally {
    await engine.close();
  }
}

async function freeze({ store, catalogue, study, trigger, frozen, say }: Demo): Promise<void> {
  await putPolicies(store);
  const repositories = join(catalogue, 'repositories');
  const corpus = (name: string) => fail('E_NOT_FOUND', { where: name, wanted: 'a corpus of the catalogue' });
  for (const { challenge, fixture } of study.pairs) {
    const cid = await freezeChallenge(store, join(catalogue, 'challenges', challenge));
    const folder = join(catalogue, 'fixtures', fixture);
    const world = await freezeFixture({ store, trigger, repositories, corpus }, folder);
    for (const [name, target] of [
      [`challenge/${challenge}`, cid],
      [`fixture/${fixture}`, world],
    ] as const) {
      frozen.set(name, target);
      await store.setName(name, target);
    }
    say('freeze', `${challenge} on ${fixture}: ${await removed(store, world)} redacted`);
  }
  await trigger.settle();
  const view = viewOf(store);
  for (const cid of await view.byKind('certificate')) {
    const certificate = await viewAs('certificate', cid, view);
    const count = 'findings' in certificate ? certificate.findings.length : 'refused';
    say('certify', `${cid}: ${count === 0 ? 'clean' : counted(Number(count), 'finding')}`);
  }
}

/** The paths that redaction took out of a fixture's corpus. */
async function removed(store: Store, fixture: Cid): Promise<string> {
  const view = viewOf(store);
  const corpus = await viewAs('corpus', (await viewAs('fixture', fixture, view)).corpus['/'], view);
  if (!('redaction' in corpus)) return 'nothing';
  const redaction = await viewAs('redaction', corpus.redaction['/'], view);
  return 'removed' in redaction ? redaction.removed.map(({ path }) => printPath(path)).join(', ') : 'nothing';
}

async function validateAll({ store, study, frozen, say }: Demo, engine: Engine): Promise<void> {
  const view = viewOf(store);
  for (const pair of study.pairs) {
    const challenge = frozen.get(`challenge/${pair.challenge}`) as Cid;
    const fixture = frozen.get(`fixture/${pair.fixture}`) as Cid;
    const matrix = {
      ...{ store, executor: engine.executor, images: engine.images, owner: engine.owner, repeats: 1 },
      challenge: { cid: challenge, value: await viewAs('challenge', challenge, view) },
      fixture: { cid: fixture, value: await viewAs('fixture', fixture, view) },
    };
    for await (const { solution, verdict, asExpected } of validate(matrix)) {
      const found = `reward ${verdict.reward} (${verdict.reason})`;
      say('validate', `${pair.challenge} ${solution}: ${found}${asExpected ? '' : ', NOT as registered'}`);
    }
  }
}

async function register({ store, study, catalogue, frozen, host, say }: Demo): Promise<Cid> {
  const named = async (name: string) => frozen.get(name) ?? fail('E_NOT_FOUND', { where: name });
  const cid = await recordStudy({ store, named, host }, study, join(catalogue, 'studies'));
  await keepC0(store, cid);
  await store.setName(`study/${study.id}`, cid);
  say('register', `study ${cid}`);
  return cid;
}

async function run({ store, trigger, say }: Demo, engine: Engine, family: Cid): Promise<readonly Ran[]> {
  return runPending(store, engine, trigger, {
    family,
    ran: ({ challenge, epoch, arm, attempt, status }) =>
      say('run', `${challenge}, epoch ${epoch}, ${arm}, attempt ${attempt}: ${status}`),
  });
}

async function admit({ store, say }: Demo, family: Cid): Promise<void> {
  const by = { who: 'the demo', why: 'mechanical eligibility', outcomesVisible: false };
  const decided = await admitEligible(store, family, by);
  const admitted = decided.filter(({ decision }) => decision === 'admitted').length;
  say('admit', `${admitted} admitted, ${decided.length - admitted} excluded`);
}

/** The results page: every number of it bound to the summary. */
async function claim({ store, catalogue, trigger, say }: Demo, close: Cid): Promise<void> {
  const { summary } = await reportClose(store, trigger, close);
  const text = await readFile(join(catalogue, 'studies', 'results.md'), 'utf8');
  const page = { name: 'results.md', text, who: 'the demo', why: 'numbers bound to the summary' };
  const { claims } = await claimPage(store, close, summary, page);
  say('claim', `${counted(claims.length, 'number')} of results.md, each bound to its field`);
}

async function reportText(store: Store, cid: Cid): Promise<string> {
  const report = await viewAs('report', cid, viewOf(store));
  const output = 'outputs' in report ? report.outputs.find(({ name }) => name === 'report.txt') : undefined;
  if (output === undefined) fail('E_INTERNAL', { where: cid, wanted: 'a text report' });
  return Buffer.from(await store.get(output.bytes['/'])).toString('utf8');
}
