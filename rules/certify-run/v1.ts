/**
 * certify-run v1: findings over what an agent could see at run time: its surface and its first request.
 * Promises: read from what scrub published, so that anyone can repeat it; the kinds of `certify`, and identifiers; a
 * surface that is not there is a finding.
 * Does not promise: a verdict; eligibility takes any finding as a reason.
 */
import { type Cid, link } from '../../store/format/cid.ts';
import type { Reader } from '../../store/format/reader.ts';
import { type Detector, detectors, hitsInText, PATCH_DETECTORS } from '../certify/detect.ts';
import { needlesOf } from '../certify/needles.ts';
import {
  type CertificationPolicy,
  type NameRules,
  nameRules,
  parseCertificationPolicy,
} from '../certify/policy.ts';
import { CERTIFICATION_POLICY } from '../certify/policy-v1.ts';
import { examineIdentity, missingFinding } from '../certify/surfaces.ts';
import type { Finding } from '../contracts/certificate.ts';
import type { Full } from '../contracts/kit.ts';
import type { Plan } from '../contracts/plan.ts';
import { OUTCOME_STATUSES, type Receipt } from '../contracts/receipt.ts';
import type { RunCertificate } from '../contracts/run_certificate.ts';
import type { Scrub } from '../contracts/scrub.ts';
import type { Study } from '../contracts/study.ts';
import { type Binding, defineRule, full, type Input, one, raw, readAs } from '../rule.ts';
import { scrubbedCid } from '../scrub/published.ts';
import { type Identifiers, identifiersOf, namedBy } from './identifiers.ts';
import { type Place, type RuntimeSurface, readSurface, requestPlaces } from './surface.ts';

type Body = Omit<Full<RunCertificate>, 'kind' | 'v' | 'derivation'>;

export const certifyRunV1 = defineRule({
  name: 'certify-run',
  v: 1,
  scope: 'subject',
  gives: 'run_certificate',
  needs: {
    receipt: one('receipt'),
    scrub: one('scrub'),
    plan: one('plan'),
    study: one('study'),
    policy: raw,
  },
  on: ['scrub'],
  async bind(subject, view): Promise<readonly Binding[]> {
    if (subject.value.kind !== 'scrub' || !('receipt' in subject.value)) return [];
    const receipt = subject.value.receipt['/'];
    const record = await view.record(receipt);
    const start = record.kind === 'receipt' ? await view.record(record.start['/']) : undefined;
    if (start?.kind !== 'start') return [];
    const inputs = { receipt, scrub: subject.cid, plan: start.plan['/'], study: start.study['/'] };
    return [{ inputs: { ...inputs, policy: CERTIFICATION_POLICY.cid } }];
  },
  async apply(inputs, { reader }) {
    const { body } = await certifyRun(inputs, reader, undefined);
    return body;
  },
  /** What is withheld of the scrubbed files keeps the findings that were recorded for it. */
  recheck: (recorded, inputs, { reader }) => certifyRun(inputs, reader, recorded),
});

interface Given {
  readonly receipt: Input<Receipt>;
  readonly scrub: Input<Scrub>;
  readonly plan: Input<Plan>;
  readonly study: Input<Study>;
  readonly policy: Input<Uint8Array>;
}

interface Part {
  readonly surfaces: readonly string[];
  readonly findings: readonly Finding[];
}

async function certifyRun(
  given: Given,
  reader: Reader,
  recorded: Body | undefined,
): Promise<{ body: Body; withheld: number }> {
  const examiner = await examinerOf(given, reader);
  const scrub = full(given.scrub);
  const blob = (name: string) => scrubbedCid(scrub, name);
  const surface = await present(blob('surface'), reader);
  const request = await present(blob('exchange-1-request'), reader);
  const parts: Part[] = [];
  let withheld = 0;
  if (surface === undefined && recorded !== undefined && blob('surface') !== undefined) {
    parts.push(taken(recorded, (name) => name !== REQUEST));
    withheld++;
  } else parts.push(await surfacePart(surface, examiner));
  if (request === undefined && recorded !== undefined && blob('exchange-1-request') !== undefined) {
    parts.push(taken(recorded, (name) => name === REQUEST));
    withheld++;
  } else parts.push(await requestPart(request, given.receipt.value, examiner));
  return { body: { ...heads(given), ...joined(parts) }, withheld };
}

function heads({ receipt, scrub, plan, study, policy }: Given) {
  return {
    receipt: link(receipt.cid),
    scrub: link(scrub.cid),
    plan: link(plan.cid),
    study: link(study.cid),
    policy: link(policy.cid),
  };
}

function joined(parts: readonly Part[]): { surfaces: string[]; findings: Finding[] } {
  return {
    surfaces: parts.flatMap(({ surfaces }) => surfaces),
    findings: parts.flatMap(({ findings }) => findings),
  };
}

/** The recorded part of these surfaces. */
function taken(recorded: Body, belongs: (surface: string) => boolean): Part {
  return {
    surfaces: recorded.surfaces.filter(belongs),
    findings: recorded.findings.filter(({ surface }) => belongs(surface)),
  };
}

interface Examiner {
  readonly policy: CertificationPolicy;
  readonly names: NameRules;
  readonly content: readonly Detector[];
  readonly identifiers: Identifiers;
  /** Patches count in a request only where none was accepted: an accepted one may come back with a memory. */
  readonly patchesInRequest: boolean;
}

async function examinerOf({ receipt, plan, study, policy }: Given, reader: Reader): Promise<Examiner> {
  const rules = parseCertificationPolicy(policy.value);
  const planned = full(plan);
  const { challenge, corpus, acceptances } = planned.shared;
  const start = {
    cid: receipt.value.start['/'],
    value: await readAs('start', receipt.value.start['/'], reader),
  };
  const tree = full({ cid: corpus['/'], value: await readAs('corpus', corpus['/'], reader) }).tree['/'];
  const needles = await needlesOf(await readAs('challenge', challenge['/'], reader), tree, reader);
  const identifiers = await identifiersOf(start, { cid: plan.cid, value: planned }, study, reader);
  return {
    policy: rules,
    names: nameRules(rules),
    content: [...detectors(rules, needles), ...markDetectors(rules), ...identifiers.anywhere],
    identifiers,
    patchesInRequest: acceptances.length === 0,
  };
}

/** Scrub has taken secrets out of what is read here; its marks show that the agent could see one. */
function markDetectors(policy: CertificationPolicy): Detector[] {
  return policy.metadata.secrets.map((name): Detector => {
    const mark = `[redacted:${name}]`;
    return {
      kind: 'suspicious-metadata',
      pattern: `secret:${name}`,
      find(text, from, own) {
        const at = text.indexOf(mark, from);
        return at < 0 || at >= own ? undefined : at;
      },
    };
  });
}

const REQUEST = 'first-request';
const SURFACE = 'run-time-surface';

async function surfacePart(bytes: Uint8Array | undefined, examiner: Examiner): Promise<Part> {
  const surface = bytes === undefined ? undefined : readSurface(bytes);
  if (surface === undefined)
    return {
      surfaces: [],
      findings: [missingFinding(SURFACE, '', bytes === undefined ? 'not-there' : 'unreadable')],
    };
  const findings = surface.missing.map(({ name, pattern }) => missingFinding(name, '', pattern));
  findings.push(...pathFindings(surface, examiner));
  for (const place of surface.places) {
    findings.push(...(await examinePlace(place.surface, place, [...examiner.content, ...PATCH_DETECTORS])));
    if (!place.isBody) findings.push(...nameFindings(place.surface, place, examiner));
  }
  if (surface.project !== null) findings.push(...(await projectFindings(surface.project, examiner)));
  return { surfaces: surface.names, findings };
}

async function requestPart(
  bytes: Uint8Array | undefined,
  receipt: Receipt,
  examiner: Examiner,
): Promise<Part> {
  if (bytes === undefined) {
    // Where no agent ran there is no request to be had.
    const ran = (OUTCOME_STATUSES as readonly string[]).includes(receipt.status);
    const expected = ran || receipt.exchanges.length > 0;
    return { surfaces: [], findings: expected ? [missingFinding(REQUEST, '')] : [] };
  }
  const content = examiner.patchesInRequest ? [...examiner.content, ...PATCH_DETECTORS] : examiner.content;
  const findings: Finding[] = [];
  for (const place of requestPlaces(bytes)) findings.push(...(await examinePlace(REQUEST, place, content)));
  return { surfaces: [REQUEST], findings };
}

async function examinePlace(surface: string, place: Place, content: readonly Detector[]): Promise<Finding[]> {
  const hits = await hitsInText(place.text, content);
  return hits.map((hit) => ({ ...hit, surface, path: place.pointer, by: 'content' }));
}

function nameFindings(surface: string, place: Place, { identifiers }: Examiner): Finding[] {
  return namedBy(place.text, identifiers.names).map((pattern) => ({
    kind: 'identifier',
    surface,
    path: place.pointer,
    pattern,
    by: 'content',
  }));
}

/**
 * Names in the agent's home and above the workspace. The agent's own configuration folders are its own; a memory file
 * in its home is a finding, except where the condition's channel is the agent's native memory.
 */
function pathFindings(surface: RuntimeSurface, { names, identifiers }: Examiner): Finding[] {
  const native = identifiers.condition?.channel === 'native';
  const findings: Finding[] = [];
  const add = (on: string, pointer: string, each: Pick<Finding, 'kind' | 'pattern'>) =>
    findings.push({ ...each, surface: on, path: pointer, by: 'name' });
  for (const { pointer, path } of surface.homePaths) {
    const segments = path.split('/').filter((name) => name !== '');
    const memory = native ? undefined : names.autoLoaded.basename(segments[segments.length - 1] ?? '');
    if (memory !== undefined) add('home', pointer, { kind: 'auto-loaded-context', pattern: memory });
    for (const each of everyName(segments, names))
      if (each.kind !== 'auto-loaded-context') add('home', pointer, each);
  }
  for (const { pointer, path } of surface.parents) {
    const segments = path.split('/').filter((name) => name !== '');
    for (const each of everyName(segments, names)) add('parents', pointer, each);
  }
  return findings;
}

/** What the names of a path give away, its directories' included. */
function everyName(segments: readonly string[], names: NameRules) {
  return segments.flatMap((_, i) => names.ofEntry(segments.slice(0, i + 1), i < segments.length - 1));
}

/** The project's name is the benchmark's own: the strict words count in it. */
async function projectFindings(project: string, examiner: Examiner): Promise<Finding[]> {
  return examineIdentity('project', { project }, { content: [], policy: examiner.policy });
}

async function present(cid: Cid | undefined, reader: Reader): Promise<Uint8Array | undefined> {
  return cid !== undefined && (await reader.has(cid)) ? reader.get(cid) : undefined;
}
