/**
 * `explore`: a fixture that asks for it, a challenge that it serves and a certificate without findings yield an
 * exploratory study of their own, whether or not a registered one exists. Nobody decides it, so nobody can be said to
 * have registered it.
 * Promises: a first version of a family apart, stage `exploratory` for ever; a scripted model and caps of zero, so that
 * nothing is spent; every field follows from the inputs.
 * Does not promise: hypotheses, tests or a validation matrix; its numbers are for looking.
 */
import { link } from '../../store/format/cid.ts';
import { encode, type Value } from '../../store/format/codec.ts';
import { sha256Hex } from '../../store/format/crypto.ts';
import type { Agent } from '../contracts/agent.ts';
import type { Certificate } from '../contracts/certificate.ts';
import type { Challenge } from '../contracts/challenge.ts';
import type { Fixture } from '../contracts/fixture.ts';
import { isRefused } from '../contracts/kit.ts';
import { type Binding, defineRule, many, one, type View } from '../rule.ts';
import { links, viewAs } from '../runs.ts';

const NAME = 'explore';
const V = 1;

export const exploreV1 = defineRule({
  name: NAME,
  v: V,
  scope: 'study',
  gives: 'study',
  needs: {
    challenge: one('challenge'),
    fixture: one('fixture'),
    certificate: one('certificate'),
    agent: one('agent'),
    conditions: many('condition'),
  },
  on: ['certificate'],
  async bind(subject, view): Promise<readonly Binding[]> {
    const certificate = subject.value;
    if (certificate.kind !== 'certificate' || (await whyNot(certificate, view)) !== undefined) return [];
    if (isRefused(certificate)) return [];
    const [challenge, fixture] = [certificate.challenge['/'], certificate.fixture['/']];
    const { explore } = await viewAs('fixture', fixture, view);
    if (explore === undefined) return [];
    const conditions = explore.conditions.map((each) => each['/']);
    const inputs = { challenge, fixture, certificate: subject.cid, agent: explore.agent['/'], conditions };
    return [{ inputs, parameters: { epochs: explore.epochs } }];
  },
  async apply({ challenge, fixture, certificate, agent, conditions }, { parameters }) {
    const cids = { challenge: link(challenge.cid), fixture: link(fixture.cid) };
    return {
      ...fieldsOf(challenge.value, fixture.value),
      pairs: [{ ...cids, conditions: links(conditions.map(({ cid }) => cid)) }],
      agents: [link(agent.cid)],
      epochs: Number(parameters.epochs),
      certificates: [link(certificate.cid)],
    };
  },
});

/** What a fixture and a certificate lack for an exploration: the answer of `why`. */
export interface Lack {
  readonly reason: 'no-match' | 'not-certified' | 'budget-gate';
  readonly detail: string;
}

/** Undefined where the rule applies. */
export async function whyNot(certificate: Certificate, view: View): Promise<Lack | undefined> {
  if (isRefused(certificate)) return { reason: 'not-certified', detail: certificate.refused.detail };
  const { explore } = await viewAs('fixture', certificate.fixture['/'], view);
  if (explore === undefined) return { reason: 'no-match', detail: 'the fixture asks for no exploration' };
  const count = certificate.findings.length;
  if (count > 0) return { reason: 'not-certified', detail: `its certificate has ${count} findings` };
  const agent: Agent = await viewAs('agent', explore.agent['/'], view);
  if (agent.modelKind === 'scripted') return undefined;
  return { reason: 'budget-gate', detail: 'an exploration spends nothing: its model must be a scripted one' };
}

/** All that does not hang on who runs what. */
function fieldsOf(challenge: Challenge, fixture: Fixture) {
  return {
    who: 'the rule explore',
    why: `the fixture ${fixture.id} asks for it`,
    id: `explore-${challenge.id}`.slice(0, 64),
    version: 1,
    stage: 'exploratory' as const,
    hypotheses: [],
    orderSeed: `explore ${fixture.id} ${challenge.id}`,
    acceptances: [],
    validations: [],
    tests: [],
    holmSize: 0,
    alpha: '0.05',
    powerOverride: false,
    stop: { rule: 'fixed' as const },
    attempts: 1,
    images: {},
    isolation: 'none' as const,
    network: 'none' as const,
    caps: { runMicros: 0, stageMicros: 0, totalMicros: 0 },
    builds: {},
    prices: { currency: 'USD', inputMicros: 0, outputMicros: 0 },
    rules: RULES_DIGEST,
    exclusionReasons: [],
    defectRule: '',
    withheld: [],
    scopeLimits: ['Exploratory: nothing was registered before these runs.'],
  };
}

/** Of this rule alone: a rule that is added later must not make another study of the same inputs. */
const RULES_DIGEST = `sha256:${sha256Hex(encode([{ name: NAME, v: V }] as unknown as Value))}`;
