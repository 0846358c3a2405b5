/**
 * certify v1: findings over everything that exists before a study: source corpus, evidence, every graph arm, prompts.
 * Promises: static, fail-closed, no opt-out; a surface that is not there is a finding, and so is a name or content of
 * every kind in DESIGN section 4. No secret stands in a finding.
 * Does not promise: a verdict. `acceptable` says which findings still stand in the way.
 */
import { type Cid, link } from '../../store/format/cid.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Acceptance } from '../contracts/acceptance.ts';
import type { Certificate, Finding } from '../contracts/certificate.ts';
import type { Challenge } from '../contracts/challenge.ts';
import type { Corpus } from '../contracts/corpus.ts';
import type { Fixture } from '../contracts/fixture.ts';
import type { Full } from '../contracts/kit.ts';
import { type Binding, defineRule, full, type Input, one, raw, type View } from '../rule.ts';
import { detectors } from './detect.ts';
import { needlesOf } from './needles.ts';
import { nameRules, parseCertificationPolicy } from './policy.ts';
import { CERTIFICATION_POLICY } from './policy-v1.ts';
import {
  type Examiner,
  examineBlob,
  examineGraph,
  examineIdentity,
  examineTree,
  missingFinding,
} from './surfaces.ts';

type Body = Omit<Full<Certificate>, 'kind' | 'v' | 'derivation'>;

export const certifyV1 = defineRule({
  name: 'certify',
  v: 1,
  scope: 'subject',
  gives: 'certificate',
  needs: {
    challenge: one('challenge'),
    fixture: one('fixture'),
    corpus: one('corpus'),
    evidence: one('corpus'),
    policy: raw,
  },
  // A corpus always stands before the fixture that links it.
  on: ['challenge', 'fixture'],
  async bind(subject, view): Promise<readonly Binding[]> {
    const bindings: Binding[] = [];
    for (const [challenge, fixture] of await pairsOf(subject.cid, view)) {
      const record = await view.record(fixture);
      if (record.kind !== 'fixture') continue;
      const inputs = { challenge, fixture, corpus: record.corpus['/'], evidence: record.evidence['/'] };
      bindings.push({ inputs: { ...inputs, policy: CERTIFICATION_POLICY.cid } });
    }
    return bindings;
  },
  apply: (inputs, { reader }) => certify(inputs, reader, (surface, path) => [missingFinding(surface, path)]),
  /** Files that hygiene withholds are not there; their findings are taken from the record. */
  async recheck(recorded, inputs, { reader }) {
    let withheld = 0;
    const body = await certify(inputs, reader, (surface, path) => {
      withheld++;
      return recorded.findings.filter(
        (each) => each.surface === surface && each.path === path && each.by === 'content',
      );
    });
    return { body, withheld };
  },
});

/** Every (challenge, fixture) that serve each other and that `subject` is one of. */
async function pairsOf(subject: Cid, view: View): Promise<[Cid, Cid][]> {
  const record = await view.record(subject);
  const pairs: [Cid, Cid][] = [];
  if (record.kind === 'fixture') {
    for (const cid of await view.byKind('challenge')) {
      const challenge = await view.record(cid);
      if (challenge.kind === 'challenge' && record.serves.includes(challenge.id)) pairs.push([cid, subject]);
    }
  }
  if (record.kind === 'challenge') {
    for (const cid of await view.byKind('fixture')) {
      const fixture = await view.record(cid);
      if (fixture.kind === 'fixture' && fixture.serves.includes(record.id)) pairs.push([subject, cid]);
    }
  }
  return pairs;
}

interface Given {
  readonly challenge: Input<Challenge>;
  readonly fixture: Input<Fixture>;
  readonly corpus: Input<Corpus>;
  readonly evidence: Input<Corpus>;
  readonly policy: Input<Uint8Array>;
}

async function certify(given: Given, reader: Reader, missing: Examiner['missing']): Promise<Body> {
  const { challenge, fixture } = given;
  const policy = parseCertificationPolicy(given.policy.value);
  const [corpus, evidence] = [full(given.corpus).tree['/'], full(given.evidence).tree['/']];
  const needles = await needlesOf(challenge.value, corpus, reader);
  const content = detectors(policy, needles);
  const examiner: Examiner = { reader, policy, names: nameRules(policy), content, missing, seen: new Map() };
  const surfaces = [
    { name: 'corpus', cid: corpus, examine: examineTree },
    { name: 'evidence', cid: evidence, examine: examineTree },
    ...graphSurfaces(fixture),
    { name: 'prompt', cid: challenge.value.prompt['/'], examine: examineBlob },
    ...challenge.value.followUps.map((each, i) => ({
      name: `follow-up-${i + 1}`,
      cid: each['/'],
      examine: examineBlob,
    })),
  ];
  const findings: Finding[] = [];
  for (const { name, cid, examine } of surfaces) findings.push(...(await examine(name, cid, examiner)));
  return {
    challenge: link(challenge.cid),
    fixture: link(fixture.cid),
    policy: link(given.policy.cid),
    surfaces: surfaces.map(({ name, cid }) => ({ name, cid: link(cid) })),
    findings,
  };
}

/** Each arm's texts, and apart from them the fields that name it. */
function graphSurfaces(fixture: Input<Fixture>) {
  return Object.entries(fixture.value.graphs).flatMap(([arm, { surface, project, workspace, branch }]) => [
    { name: `graph:${arm}`, cid: surface['/'], examine: examineGraph },
    {
      name: `graph:${arm}:identity`,
      cid: fixture.cid,
      examine: (name: string, _: Cid, examiner: Examiner) =>
        examineIdentity(name, { project, workspace, branch }, examiner),
    },
  ]);
}

/**
 * The findings that still stand in the way. An acceptance resolves a `patch-or-diff` finding by content with the same
 * surface, path and digest; nothing else resolves anything.
 */
export function acceptable(
  certificate: Pick<Body, 'findings'>,
  acceptances: readonly Pick<Acceptance, 'surface' | 'path' | 'digest'>[],
): readonly Finding[] {
  return certificate.findings.filter(
    (finding) =>
      finding.kind !== 'patch-or-diff' ||
      finding.by !== 'content' ||
      !acceptances.some(
        ({ surface, path, digest }) =>
          finding.digest === digest && finding.surface === surface && finding.path === path,
      ),
  );
}
