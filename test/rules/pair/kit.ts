/** A study over one challenge and one fixture, with everything that the pair rule reads; a test says what differs. */
import type { Binding } from '../../../rules/rule.ts';
import { type Cid, digestOf, evidence, link } from '../../../store/format/cid.ts';
import { type Blocks, challengeOf, corpusOf, putTree, studyOf } from '../kit.ts';

type Over = Record<string, unknown>;

/** What differs from the world in which the gate is open. */
export interface Different {
  readonly challenge?: Over;
  readonly fixture?: Over;
  readonly study?: Over;
  readonly agent?: Over;
  readonly findings?: readonly object[];
  /** Of each acceptance, beside what fits the certificate. */
  readonly acceptances?: readonly Over[];
  /** Of each validation. */
  readonly validations?: readonly Over[];
  /** Of the condition `memory`. */
  readonly condition?: Over;
  /** Names of the conditions. */
  readonly arms?: readonly string[];
}

export interface World {
  readonly challenge: Cid;
  readonly fixture: Cid;
  readonly corpus: Cid;
  readonly certificate: Cid;
  readonly agent: Cid;
  readonly conditions: readonly Cid[];
  readonly acceptances: readonly Cid[];
  readonly validations: readonly Cid[];
  readonly study: Cid;
}

export const PASS = { func: 'pass', lesson: 'absent', diag: 'absent' } as const;
export const FAIL = { ...PASS, func: 'fail' } as const;
const tree = (blocks: Blocks) => link(putTree(blocks, { 'src/out.ts': 'done\n' }));
const decided = { who: 'a person', why: 'seen' };
/** Two solutions: one that must pass and one that must fail. */
export const MATRIX: readonly Over[] = [
  { solution: 'oracle', verdict: PASS, reward: 1 },
  { solution: 'nothing', verdict: FAIL, reward: 0 },
];

export const agentOf = (blocks: Blocks, over: Over = {}): Cid =>
  blocks.record({
    kind: 'agent',
    v: 1,
    ...{ adapter: 'builtin', version: '1', model: 'scripted', modelKind: 'scripted', parameters: {} },
    template: link(blocks.raw('You are at work.\n')),
    tools: ['read'],
    limits: { turns: 9, maxOutputTokens: 100, totalTokens: 1000, outputBytes: 1000 },
    ...over,
  });

export const conditionOf = (blocks: Blocks, name: string, over: Over = {}): Cid =>
  blocks.record({
    kind: 'condition',
    v: 1,
    name,
    source: { type: 'none' },
    parameters: {},
    tools: [],
    ...over,
  });

function frozen(blocks: Blocks, different: Different) {
  const solutions = [
    { name: 'oracle', tree: tree(blocks), deleted: [], expected: PASS, reward: 1 },
    { name: 'nothing', tree: tree(blocks), deleted: [], expected: FAIL, reward: 0 },
  ];
  const challenge = blocks.record(challengeOf(blocks, { solutions, ...different.challenge }));
  const corpus = corpusOf(blocks, putTree(blocks, { 'src/a.ts': 'code\n' }));
  const fixture = blocks.record({
    ...{ kind: 'fixture', v: 1, id: 'world', serves: ['unit'], graphs: {} },
    ...{ corpus: link(corpus), evidence: link(corpus), ...different.fixture },
  });
  return { challenge, corpus, fixture };
}

export function certificateOf(
  blocks: Blocks,
  { challenge, fixture }: Pick<World, 'challenge' | 'fixture'>,
  findings: readonly object[] = [],
): Cid {
  const name = link(blocks.raw('a policy'));
  return blocks.record({
    ...{ kind: 'certificate', v: 1, derivation: { rule: 'certify', v: 1, inputs: {} } },
    ...{ challenge: link(challenge), fixture: link(fixture), policy: name },
    ...{ surfaces: [{ name: 'prompt', cid: name }], findings },
  });
}

/** Puts it all, with a study that relies on it. */
export function worldOf(blocks: Blocks, different: Different = {}): World {
  const { challenge, corpus, fixture } = frozen(blocks, different);
  const certificate = certificateOf(blocks, { challenge, fixture }, different.findings);
  const agent = agentOf(blocks, different.agent);
  const conditions = (different.arms ?? ['memory', 'none']).map((name) =>
    conditionOf(blocks, name, name === 'memory' ? different.condition : {}),
  );
  const acceptances = (different.acceptances ?? []).map((over) =>
    blocks.record({
      ...{ kind: 'acceptance', v: 1, ...decided, certificate: link(certificate) },
      ...{ surface: 'prompt', path: '', digest: evidence(digestOf(challenge)), ...over },
    }),
  );
  const name = link(blocks.raw('an audit'));
  const validations = (different.validations ?? MATRIX).map((over) =>
    blocks.record({
      ...{ kind: 'validation', v: 1, challenge: link(challenge), fixture: link(fixture), audit: name },
      ...{ repeat: 1, parallelism: 1, executor: 'none', images: {}, ...over },
    }),
  );
  const pairs = [{ challenge: link(challenge), fixture: link(fixture), conditions: conditions.map(link) }];
  const study = blocks.record({
    ...studyOf(blocks, conditions),
    ...{ pairs, agents: [link(agent)], certificates: [link(certificate)] },
    ...{ acceptances: acceptances.map(link), validations: validations.map(link), ...different.study },
  });
  return { challenge, fixture, corpus, certificate, agent, conditions, acceptances, validations, study };
}

/** What the rule binds for the only pair and the first epoch. */
export const bindingOf = ({ study, ...rest }: World, epoch = 1): Binding => ({
  inputs: { study, ...rest },
  parameters: { epoch },
});
