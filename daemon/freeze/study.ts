/**
 * An authored study file -> a `study` record: the preregistration, with everything it relies on found and named.
 * Promises: nothing is taken that is not in the store already; each pair's certificate must be there, and every
 * validation that fits the registered executor and images is listed. A study whose plans could not run is refused with
 * everything that is wrong, and nothing is recorded.
 */
import { dirname } from 'node:path';
import { z } from 'zod';
import { decimal, evidence, id, map, sentence } from '../../rules/contracts/kit.ts';
import { EXCLUSION_REASONS, registeredTest, STAGES, type Study, study } from '../../rules/contracts/study.ts';
import { parseAs } from '../../rules/contracts/table.ts';
import {
  acceptancesOf,
  certificateFor,
  sameImages,
  validationsOf as validationsFor,
} from '../../rules/pair/v1.ts';
import { admitDesign } from '../../rules/power/check.ts';
import type { Input } from '../../rules/rule.ts';
import { viewAs } from '../../rules/runs.ts';
import { ruleTableDigest } from '../../rules/table.ts';
import { type Cid, type Evidence, link } from '../../store/format/cid.ts';
import { encodeBlock, type Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import type { Host } from '../host.ts';
import { imageDigests, namedImages } from '../images.ts';
import { viewOf } from '../view.ts';
import { readAuthored } from './authored.ts';
import { designTasks } from './design.ts';
import { gatherFaults } from './faults.ts';
import { gatherProblems, type ReadyPair } from './ready.ts';
import {
  type AgentDraft,
  authoredAgent,
  authoredCondition,
  conditionRecord,
  draftAgent,
  recordAgent,
} from './small.ts';

const verdicts = z.record(z.string(), z.unknown());
const eachOnce = (names: readonly string[]): boolean => new Set(names).size === names.length;

export const authoredStudy = z.strictObject({
  v: z.literal(1),
  id: id(),
  stage: z.enum(STAGES),
  who: sentence().default('the author'),
  why: sentence().default('registered before any run'),
  hypotheses: z.array(sentence()).default([]),
  conditions: z
    .array(authoredCondition)
    .min(1)
    .refine((all) => eachOnce(all.map(({ name }) => name)), 'a condition stands twice'),
  /** Each pair by names, once: a plan is of a challenge and a fixture. `arms` maps an arm to a condition of its name. */
  pairs: z
    .array(
      z.strictObject({ challenge: id(), fixture: id(), arms: map(id()), expected: map(verdicts).optional() }),
    )
    .min(1)
    .refine((all) => eachOnce(all.map((pair) => `${pair.challenge} ${pair.fixture}`)), 'a pair stands twice'),
  agent: authoredAgent,
  epochs: study.shape.epochs,
  orderSeed: sentence(),
  isolation: study.shape.isolation,
  network: z.literal('none').default('none'),
  attempts: study.shape.attempts.default(1),
  tests: z.array(registeredTest).default([]),
  holmSize: study.shape.holmSize,
  alpha: decimal(),
  powerOverride: z.boolean().default(false),
  stop: study.shape.stop.default({ rule: 'fixed' }),
  images: map(evidence()).default({}),
  caps: study.shape.caps.default({ runMicros: 0, stageMicros: 0, totalMicros: 0 }),
  builds: study.shape.builds.default({}),
  prices: study.shape.prices.default({ currency: 'USD', inputMicros: 0, outputMicros: 0 }),
  exclusionReasons: z.array(z.enum(EXCLUSION_REASONS)).default([...EXCLUSION_REASONS]),
  defectRule: z.string().default('A fault of the apparatus, found without looking at outcomes.'),
  withheld: study.shape.withheld.default([]),
  scopeLimits: z.array(sentence()).default([]),
});
export type AuthoredStudy = z.infer<typeof authoredStudy>;

export interface StudyInputs {
  readonly store: Store;
  /** Resolves `challenge/<id>` or `fixture/<id>`. Throws E_NOT_FOUND. */
  readonly named: (name: string) => Promise<Cid>;
  /** Role -> image digest; where isolation is `docker`, the store's named images fill what is not said. */
  readonly images?: Readonly<Record<string, string>>;
  /** The machine that will run it, where it is known: what it cannot run is refused too. */
  readonly host?: Host;
}

/**
 * Registers a study file. Throws E_JSON, E_CONTRACT, E_DESIGN, E_NOT_FOUND, E_CONFIG or E_GATE with everything that is
 * wrong, before anything is recorded.
 */
export async function freezeStudy(inputs: StudyInputs, file: string): Promise<Cid> {
  return recordStudy(inputs, await readAuthored(file, authoredStudy), dirname(file));
}

/** The same for a file that was read; `folder` is where it lay. */
export async function recordStudy(inputs: StudyInputs, read: AuthoredStudy, folder: string): Promise<Cid> {
  return recordDraft(inputs.store, await draftStudy(inputs, read, folder));
}

export interface StudyDraft {
  readonly study: Study;
  readonly conditions: readonly Value[];
  readonly agent: AgentDraft;
}

/** A study and what it links, with nothing written yet. `previous`: the version in force that it follows. */
export async function draftStudy(
  inputs: StudyInputs,
  read: AuthoredStudy,
  folder: string,
  previous?: Input<Study>,
): Promise<StudyDraft> {
  const images = await imagesOf(inputs, read, previous);
  const { ready, agent } = await readyStudy({ ...inputs, images, previous }, read, folder);
  const { v, conditions: written, pairs: _pairs, agent: _agent, images: _images, ...rest } = read;
  const conditions = written.map(conditionRecord);
  const byName = new Map(written.map(({ name }, i) => [name, encodeBlock(conditions[i] as Value).cid]));
  const record = {
    kind: 'study',
    v,
    ...rest,
    ...lineageOf(previous),
    pairs: ready.map(({ challenge, fixture, arms }) => ({
      challenge: link(challenge),
      fixture: link(fixture),
      conditions: arms.map((name) => link(byName.get(name) as Cid)),
    })),
    agents: [link(encodeBlock(agent.record).cid)],
    certificates: ready.map(({ certificate }) => link(certificate)),
    acceptances: ready.flatMap(({ acceptances }) => acceptances.map(link)),
    validations: [...new Set(ready.flatMap(({ validations }) => validations))].map(link),
    images,
    rules: ruleTableDigest(),
  };
  return { study: parseAs('study', record as unknown as Value), conditions, agent };
}

/** Dying in between leaves conditions and an agent that nothing uses; the same draft again adds what is missing. */
export async function recordDraft(store: Store, { study, conditions, agent }: StudyDraft): Promise<Cid> {
  for (const each of conditions) await store.record(each);
  await recordAgent(store, agent);
  return (await store.record(study as unknown as Value)).cid;
}

function lineageOf(previous: Input<Study> | undefined) {
  if (previous === undefined) return { version: 1 };
  const { cid, value } = previous;
  return { version: value.version + 1, family: value.family ?? link(cid), previous: link(cid) };
}

/** A later version runs under the images of the first: its plans are bound to them. */
async function imagesOf(
  { store, images }: StudyInputs,
  read: AuthoredStudy,
  previous: Input<Study> | undefined,
): Promise<Record<string, Evidence>> {
  if (previous !== undefined) return { ...previous.value.images, ...read.images };
  const named = read.isolation === 'docker' ? imageDigests(await namedImages(store)) : {};
  return { ...named, ...read.images, ...images } as Record<string, Evidence>;
}

interface Wanted extends Omit<StudyInputs, 'images'> {
  readonly images: Record<string, Evidence>;
  readonly previous: Input<Study> | undefined;
}

/** Every pair with all that it relies on; or one fault with all that is wrong. Writes nothing. */
async function readyStudy(
  wanted: Wanted,
  read: AuthoredStudy,
  folder: string,
): Promise<{ readonly ready: readonly ReadyPair[]; readonly agent: AgentDraft }> {
  const { store, images, host } = wanted;
  const faults = gatherFaults();
  const ready: ReadyPair[] = [];
  for (const pair of read.pairs) {
    const found = await faults.of(() => readyPair(wanted, read, pair));
    if (found !== undefined) ready.push(found);
  }
  const agent = await faults.of(() => draftAgent(read.agent, folder));
  // What cannot reach its own alpha is not registered at all. Tests are judged by all the pairs, or not.
  const whole = ready.length === read.pairs.length;
  const design = whole ? read : { ...read, tests: [] };
  await faults.of(async () => admitDesign(design, whole ? await designTasks(ready, viewOf(store)) : []));
  const asked = { ...read, images, ...(host === undefined ? {} : { host }) };
  await gatherProblems(store, asked, ready, faults);
  faults.refuse(`study ${read.id}`, 'a study whose plans can run');
  return { ready, agent: agent as AgentDraft };
}

type Pair = AuthoredStudy['pairs'][number];

async function readyPair(wanted: Wanted, read: AuthoredStudy, pair: Pair): Promise<ReadyPair> {
  const { store, named, images, previous } = wanted;
  const challenge = await named(`challenge/${pair.challenge}`);
  const fixture = await named(`fixture/${pair.fixture}`);
  for (const [arm, name] of Object.entries(pair.arms)) {
    if (arm === name && read.conditions.some((each) => each.name === name)) continue;
    const where = `pairs ${pair.challenge} ${arm}`;
    fail('E_CONTRACT', { where, wanted: 'an arm named as its condition', found: name });
  }
  const arms = Object.keys(pair.arms);
  // A pair that stays keeps what it relied on: whatever came since would make other plans of it.
  const kept =
    previous === undefined ? undefined : await reliedOn(store, previous.value, { challenge, fixture });
  if (kept !== undefined) return { challenge, fixture, arms, ...kept };
  const certificate = await newestCertificate(store, challenge, fixture);
  const view = viewOf(store);
  const acceptances = await view.linkers(certificate, 'acceptance');
  const registered = { executor: read.isolation, images };
  const validations = await validationsOf(store, { challenge, fixture }, registered);
  return { challenge, fixture, arms, certificate, acceptances, validations };
}

type Named = Pick<ReadyPair, 'challenge' | 'fixture'>;

async function reliedOn(store: Store, before: Study, { challenge, fixture }: Named) {
  const view = viewOf(store);
  const pair = before.pairs.find(
    (each) => each.challenge['/'] === challenge && each.fixture['/'] === fixture,
  );
  const certificate = pair === undefined ? undefined : await certificateFor(before, pair, view);
  if (pair === undefined || certificate === undefined) return undefined;
  const acceptances = await acceptancesOf(before, certificate, view);
  return { certificate, acceptances, validations: await validationsFor(before, pair, view) };
}

async function newestCertificate(store: Store, challenge: Cid, fixture: Cid): Promise<Cid> {
  const view = viewOf(store);
  const found: Cid[] = [];
  for (const cid of await view.linkers(challenge, 'certificate')) {
    const certificate = await viewAs('certificate', cid, view);
    if ('fixture' in certificate && certificate.fixture['/'] === fixture) found.push(cid);
  }
  const last = found.at(-1);
  return last ?? fail('E_GATE', { where: challenge, wanted: `a certificate with ${fixture}`, found: 'none' });
}

/** The validations that the pair rule will ask for: same executor, same images. */
async function validationsOf(
  store: Store,
  { challenge, fixture }: Named,
  registered: { readonly executor: string; readonly images: Record<string, Evidence> },
): Promise<Cid[]> {
  const view = viewOf(store);
  const found: Cid[] = [];
  for (const cid of await view.linkers(challenge, 'validation')) {
    const each = await viewAs('validation', cid, view);
    const same = each.executor === registered.executor && sameImages(each.images, registered.images);
    if (each.fixture['/'] === fixture && same) found.push(cid);
  }
  return found;
}
