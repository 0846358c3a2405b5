/**
 * `pair`: a registered study yields one plan per (challenge, fixture, agent, epoch); its arms differ in their
 * condition and nothing else.
 * Promises: the inputs are the family's first study and never a later version, so an amendment adds or withdraws plans
 * and never re-identifies one that stays. A plan is refused (E_GATE) while a finding of its certificate is not
 * accepted, while a condition names a graph that its fixture lacks, or while the validation matrix is not full under the study's executor and images.
 */
import { type Cid, link } from '../../store/format/cid.ts';
import { encode, type Value } from '../../store/format/codec.ts';
import { fail } from '../../store/format/errors.ts';
import { acceptable } from '../certify/v1.ts';
import type { Challenge } from '../contracts/challenge.ts';
import type { Condition } from '../contracts/condition.ts';
import type { Fixture } from '../contracts/fixture.ts';
import type { Study } from '../contracts/study.ts';
import type { Validation } from '../contracts/validation.ts';
import { sameVerdict } from '../outcome/verdict.ts';
import { type Binding, defineRule, full, type Input, many, one, type View } from '../rule.ts';
import { links, viewAs } from '../runs.ts';

export const pairV1 = defineRule({
  name: 'pair',
  v: 1,
  scope: 'study',
  gives: 'plan',
  needs: {
    study: one('study'),
    challenge: one('challenge'),
    fixture: one('fixture'),
    corpus: one('corpus'),
    agent: one('agent'),
    certificate: one('certificate'),
    conditions: many('condition'),
    acceptances: many('acceptance'),
    validations: many('validation'),
  },
  on: ['study'],
  async bind(subject, view) {
    if (subject.value.kind !== 'study') return [];
    const study = subject.value;
    const bindings: Binding[] = [];
    for (const pair of study.pairs)
      for (const binding of await bindPair(subject.cid, study, pair, view)) bindings.push(binding);
    return bindings;
  },
  async apply(
    { study, challenge, fixture, corpus, agent, certificate, conditions, acceptances, validations },
    io,
  ) {
    full(corpus);
    const accepted = acceptances.map(({ value }) => value);
    const validated = validations.map(({ value }) => value);
    refuse(certificateGaps(full(certificate), accepted));
    refuse(conditions.flatMap(({ value }) => graphGaps(value, fixture.value)));
    if (study.value.stage !== 'exploratory') refuse(matrixGaps(study.value, challenge.value, validated));
    const epoch = io.parameters.epoch;
    if (typeof epoch !== 'number') fail('E_RULE_INPUT', { where: 'pair', wanted: 'an epoch' });
    return {
      shared: {
        family: link(study.cid),
        challenge: link(challenge.cid),
        fixture: link(fixture.cid),
        agent: link(agent.cid),
        corpus: link(corpus.cid),
        certificate: link(certificate.cid),
        acceptances: links(acceptances.map(({ cid }) => cid)),
        validations: links(validations.map(({ cid }) => cid)),
        graders: challenge.value.graders,
        images: study.value.images,
        network: study.value.network,
        epoch,
      },
      arms: armsOf(conditions),
    };
  },
});

type Pair = Study['pairs'][number];

async function bindPair(cid: Cid, study: Study, pair: Pair, view: View): Promise<Binding[]> {
  const certificate = await certificateFor(study, pair, view);
  if (certificate === undefined) return [];
  const fixture = await viewAs('fixture', pair.fixture['/'], view);
  const common = {
    study: study.family?.['/'] ?? cid,
    challenge: pair.challenge['/'],
    fixture: pair.fixture['/'],
    corpus: fixture.corpus['/'],
    certificate,
    conditions: pair.conditions.map((each) => each['/']),
    acceptances: await acceptancesOf(study, certificate, view),
    validations: await validationsOf(study, pair, view),
  };
  const epochs = Array.from({ length: study.epochs }, (_, i) => i + 1);
  return study.agents.flatMap((agent) =>
    epochs.map((epoch) => ({ inputs: { ...common, agent: agent['/'] }, parameters: { epoch } })),
  );
}

/** The certificate, among those a study relies on, that covers a pair. */
export async function certificateFor(study: Study, pair: Pair, view: View): Promise<Cid | undefined> {
  for (const each of study.certificates) {
    const certificate = await viewAs('certificate', each['/'], view);
    if (!('challenge' in certificate)) continue;
    const covers =
      certificate.challenge['/'] === pair.challenge['/'] && certificate.fixture['/'] === pair.fixture['/'];
    if (covers) return each['/'];
  }
  return undefined;
}

/** Those of a study that accept findings of this certificate. */
export async function acceptancesOf(study: Study, certificate: Cid, view: View): Promise<Cid[]> {
  const found: Cid[] = [];
  for (const each of study.acceptances) {
    const acceptance = await viewAs('acceptance', each['/'], view);
    if (acceptance.certificate['/'] === certificate) found.push(each['/']);
  }
  return found;
}

/** Those of a study for this pair. */
export async function validationsOf(study: Study, pair: Pair, view: View): Promise<Cid[]> {
  const found: Cid[] = [];
  for (const each of study.validations) {
    const { challenge, fixture } = await viewAs('validation', each['/'], view);
    if (challenge['/'] === pair.challenge['/'] && fixture['/'] === pair.fixture['/']) found.push(each['/']);
  }
  return found;
}

/** What a plan is refused for: the data of an E_GATE. */
export interface Gap {
  readonly where: string;
  readonly wanted: string;
  readonly found: string;
}

function refuse([gap]: readonly Gap[]): void {
  if (gap !== undefined) fail('E_GATE', gap);
}

/** Findings of the certificate that nobody accepted: one gap, or none. */
export function certificateGaps(...[certificate, acceptances]: Parameters<typeof acceptable>): Gap[] {
  const [open, ...more] = acceptable(certificate, acceptances);
  if (open === undefined) return [];
  const found = `${more.length + 1} open findings, first ${open.kind} at ${open.surface} ${open.path}`;
  return [{ where: 'certificate', wanted: 'no open finding', found }];
}

/** A graph that the fixture has not. */
export function graphGaps({ name, graph }: Pick<Condition, 'name' | 'graph'>, { graphs }: Fixture): Gap[] {
  if (graph === undefined || Object.hasOwn(graphs, graph)) return [];
  const known = Object.keys(graphs).sort().join(', ') || 'none';
  return [{ where: `condition ${name}`, wanted: `a graph of the fixture: ${known}`, found: graph }];
}

/** Solutions without a validation under the study's executor and images, or with one that came out otherwise. */
export function matrixGaps(
  study: Pick<Study, 'isolation' | 'images'>,
  challenge: Challenge,
  validations: readonly Validation[],
): Gap[] {
  return challenge.solutions.flatMap(({ name, expected, reward }) => {
    const fit = validations.filter(
      (each) =>
        each.solution === name && each.executor === study.isolation && sameImages(each.images, study.images),
    );
    const where = `validation of ${challenge.id} ${name}`;
    if (fit.length === 0)
      return [
        {
          where,
          wanted: `a validation run, isolation ${study.isolation}, same images`,
          found: 'no such run',
        },
      ];
    const wrong = fit.find((each) => each.reward !== reward || !sameVerdict(each.verdict, expected));
    if (wrong === undefined) return [];
    return [{ where, wanted: JSON.stringify(expected), found: JSON.stringify(wrong.verdict) }];
  });
}

export const sameImages = (a: Study['images'], b: Study['images']): boolean =>
  Buffer.compare(encode(a as unknown as Value), encode(b as unknown as Value)) === 0;

function armsOf(conditions: readonly Input<Condition>[]) {
  const arms: Record<string, ReturnType<typeof link>> = {};
  for (const { cid, value } of conditions) {
    if (Object.hasOwn(arms, value.name))
      fail('E_RULE_INPUT', { where: value.name, wanted: 'one condition of each name' });
    arms[value.name] = link(cid);
  }
  return arms;
}
