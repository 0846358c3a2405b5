/**
 * An authored study file -> a `study` record: the preregistration, with everything it relies on found and named.
 * Promises: nothing is taken that is not in the store already; each pair's certificate must be there, and every
 * validation that fits the registered executor and images is listed.
 */
import { dirname } from 'node:path';
import { z } from 'zod';
import { decimal, evidence, id, map, sentence } from '../../rules/contracts/kit.ts';
import { EXCLUSION_REASONS, registeredTest, STAGES, study } from '../../rules/contracts/study.ts';
import { admitDesign } from '../../rules/power/check.ts';
import { viewAs } from '../../rules/runs.ts';
import { ruleTableDigest } from '../../rules/table.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import type { Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import type { Store } from '../../store/store.ts';
import { imageDigests, namedImages } from '../images.ts';
import { viewOf } from '../view.ts';
import { readAuthored } from './authored.ts';
import { designTasks } from './design.ts';
import { authoredAgent, authoredCondition, recordAgent, recordCondition } from './small.ts';

const verdicts = z.record(z.string(), z.unknown());
export const authoredStudy = z.strictObject({
  v: z.literal(1),
  id: id(),
  stage: z.enum(STAGES),
  who: sentence().default('the author'),
  why: sentence().default('registered before any run'),
  hypotheses: z.array(sentence()).default([]),
  conditions: z.array(authoredCondition).min(1),
  /** Each pair by names; `arms` maps an arm to a condition of the same name. */
  pairs: z
    .array(
      z.strictObject({ challenge: id(), fixture: id(), arms: map(id()), expected: map(verdicts).optional() }),
    )
    .min(1),
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
}

/** Registers a study file. Throws E_CONTRACT, E_NOT_FOUND, E_GATE (no certificate for a pair), E_DESIGN. */
export async function freezeStudy(inputs: StudyInputs, file: string): Promise<Cid> {
  return recordStudy(inputs, await readAuthored(file, authoredStudy), dirname(file));
}

export async function recordStudy(inputs: StudyInputs, read: AuthoredStudy, folder: string): Promise<Cid> {
  const { store } = inputs;
  const { v, conditions, pairs, agent, images, ...rest } = read;
  const byName = new Map<string, Cid>();
  for (const each of conditions) byName.set(each.name, await recordCondition(store, each));
  const resolved = [];
  for (const pair of pairs) resolved.push(await resolvePair(inputs, pair, byName));
  // The gate stands before the record: what cannot reach its own alpha is not registered at all.
  admitDesign(
    rest,
    await designTasks(
      resolved.map(({ pair }) => pair),
      viewOf(store),
    ),
  );
  const named = rest.isolation === 'docker' ? imageDigests(await namedImages(store)) : {};
  const bound = { ...named, ...images, ...inputs.images };
  const record = {
    kind: 'study',
    v,
    ...rest,
    version: 1,
    pairs: resolved.map(({ pair }) => pair),
    agents: [link(await recordAgent(store, agent, folder))],
    certificates: resolved.map(({ certificate }) => link(certificate)),
    acceptances: (await acceptances(store, resolved)).map(link),
    validations: (await validations(store, resolved, { executor: rest.isolation, images: bound })).map(link),
    images: bound,
    rules: ruleTableDigest(),
  };
  return (await store.record(record as unknown as Value)).cid;
}

type Pair = AuthoredStudy['pairs'][number];
interface Resolved {
  readonly pair: {
    challenge: ReturnType<typeof link>;
    fixture: ReturnType<typeof link>;
    conditions: ReturnType<typeof link>[];
  };
  readonly challenge: Cid;
  readonly fixture: Cid;
  readonly certificate: Cid;
}

async function resolvePair(
  { store, named }: StudyInputs,
  pair: Pair,
  conditions: Map<string, Cid>,
): Promise<Resolved> {
  const challenge = await named(`challenge/${pair.challenge}`);
  const fixture = await named(`fixture/${pair.fixture}`);
  const arms = Object.entries(pair.arms).map(([arm, name]) => {
    const found = conditions.get(name);
    if (found === undefined || arm !== name) {
      fail('E_CONTRACT', {
        where: `pairs ${pair.challenge} ${arm}`,
        wanted: 'an arm named as its condition',
        found: name,
      });
    }
    return link(found);
  });
  const certificate = await newestCertificate(store, challenge, fixture);
  return {
    pair: { challenge: link(challenge), fixture: link(fixture), conditions: arms },
    challenge,
    fixture,
    certificate,
  };
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

async function acceptances(store: Store, pairs: readonly Resolved[]): Promise<Cid[]> {
  const view = viewOf(store);
  const found = await Promise.all(pairs.map(({ certificate }) => view.linkers(certificate, 'acceptance')));
  return found.flat();
}

/** The validations that the pair rule will ask for: same executor, same images. */
async function validations(
  store: Store,
  pairs: readonly Resolved[],
  registered: { readonly executor: string; readonly images: Readonly<Record<string, string>> },
): Promise<Cid[]> {
  const view = viewOf(store);
  const found = new Set<Cid>();
  for (const { challenge, fixture } of pairs) {
    for (const cid of await view.linkers(challenge, 'validation')) {
      const each = await viewAs('validation', cid, view);
      const images = JSON.stringify(each.images) === JSON.stringify(registered.images);
      if (each.fixture['/'] === fixture && each.executor === registered.executor && images) found.add(cid);
    }
  }
  return [...found];
}
