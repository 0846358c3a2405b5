/**
 * Golden vectors of the rules that gate and clean: inputs with every block below them, the record, its cid. A released
 * rule version gives these cids for ever.
 */
import { auditV1 } from '../../rules/audit/v1.ts';
import { CERTIFICATION_POLICY } from '../../rules/certify/policy-v1.ts';
import { certifyV1 } from '../../rules/certify/v1.ts';
import { certifyRunV1 } from '../../rules/certify-run/v1.ts';
import type { Kind } from '../../rules/contracts/table.ts';
import { corpusV1 } from '../../rules/corpus/v1.ts';
import { exploreV1 } from '../../rules/explore/v1.ts';
import { REDACTION_POLICY } from '../../rules/redact/patterns-v1.ts';
import { redactV1 } from '../../rules/redact/v1.ts';
import { scrubV1 } from '../../rules/scrub/v1.ts';
import { type Cid, link } from '../../store/format/cid.ts';
import { gitTreeOid } from '../../store/format/git-tree.ts';
import type { Json } from '../../store/format/json.ts';
import type { Vectors } from '../tools/vectors.ts';
import {
  type Blocks,
  challengeOf,
  corpusOf,
  derive,
  evidenceOf,
  fifo,
  file,
  graphOf,
  openBlocks,
  putSnapshot,
  putTree,
  receiptOf,
  sourceOf,
  studyOf,
  submodule,
  symlink,
} from './kit.ts';
import { agentOf, conditionOf, worldOf } from './pair/kit.ts';

export async function vectors(): Promise<Vectors> {
  const written = [
    ...(await sources()),
    await audits(),
    await certificates(),
    await explorations(),
    ...(await runs()),
  ];
  return Object.fromEntries(written.map((each) => [`rules/${each.rule}-v${each.v}.json`, each]));
}

interface Golden {
  readonly [key: string]: Json;
  readonly rule: string;
  readonly v: number;
}

type AnyRule = { readonly name: string; readonly v: number; readonly gives: Kind };

/** One application: its blocks as text, or as base64 where they are not UTF-8. */
async function golden(
  blocks: Blocks,
  rule: AnyRule,
  inputs: Record<string, Cid | readonly Cid[]>,
  parameters?: Record<string, number>,
): Promise<Golden & { cid: Cid }> {
  const given = Object.fromEntries([...blocks.map].sort().map(([digest, bytes]) => [digest, written(bytes)]));
  const { cid, value } = await derive(
    blocks,
    rule,
    parameters === undefined ? { inputs } : { inputs, parameters },
  );
  const bound = { inputs: inputs as unknown as Json, ...(parameters === undefined ? {} : { parameters }) };
  return { rule: rule.name, v: rule.v, ...bound, cid, record: value as unknown as Json, blocks: given };
}

function written(bytes: Uint8Array): Json {
  const text = Buffer.from(bytes).toString('utf8');
  const same = Buffer.compare(Buffer.from(text, 'utf8'), bytes) === 0;
  return same ? { utf8: text } : { base64: Buffer.from(bytes).toString('base64') };
}

async function sources(): Promise<Golden[]> {
  const blocks = openBlocks();
  const policy = blocks.raw(REDACTION_POLICY.bytes);
  const tree = putTree(blocks, {
    'AGENTS.md': 'See @docs/style.md\n',
    'pkg/Claude.MD': symlink('../AGENTS.md'),
    '.cursor/rules/a.mdc': 'rule\n',
    '.github/prompts/p.md': 'prompt\n',
    '.github/workflows/ci.yml': 'on: push\n',
    '.agents': submodule('1'.repeat(40)),
    'old/GEMINI.md': file('x', 0o755),
    'docs/guide.md': symlink('../AGENTS.md'),
    'docs/replit.md': 'kept\n',
    'src/a.ts': 'code\n',
    'src/A.ts': 'code too\n',
  });
  const source = sourceOf(blocks, tree, await gitTreeOid(blocks.reader, tree, [], 'sha1'));
  const redaction = await golden(blocks, redactV1, { source, policy });
  const corpus = await golden(blocks, corpusV1, { source, redaction: redaction.cid });
  return [redaction, corpus];
}

async function audits(): Promise<Golden> {
  const blocks = openBlocks();
  const rest = { 'src/keep.ts': 'k\n' };
  const before = putSnapshot(blocks, {
    ...rest,
    a: 'x',
    b: 'x',
    c: { f: 'x' },
    'd.sh': file('s', 0o644),
    l: symlink('a'),
  });
  const after = putSnapshot(
    blocks,
    {
      ...rest,
      a: symlink('b'),
      b: { f: 'x' },
      'd.sh': file('t', 0o755),
      l: symlink('b'),
      p: fifo,
      'src/out.ts': 'o\n',
    },
    0o750,
  );
  return golden(blocks, auditV1, { before, after, challenge: blocks.record(challengeOf(blocks)) });
}

const HUNK = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n';

async function certificates(): Promise<Golden> {
  const blocks = openBlocks();
  const policy = blocks.raw(CERTIFICATION_POLICY.bytes);
  const corpus = corpusOf(
    blocks,
    putTree(blocks, { 'docs/m.md': HUNK, 'fix.patch': HUNK, '.env': 'x', up: symlink('../x') }),
  );
  const evidence = corpusOf(
    blocks,
    putTree(blocks, { 'chat.jsonl': '{"t":"the rate\\n starts at day seven"}', 'CLAUDE.md': '' }),
  );
  const challenge = blocks.record(challengeOf(blocks, { answerPhrases: ['rate starts at day seven'] }));
  const fixture = blocks.record({
    kind: 'fixture',
    v: 1,
    id: 'world',
    serves: ['unit'],
    corpus: link(corpus),
    evidence: link(evidence),
    graphs: { full: graphOf(blocks, ['prose on a control arm', HUNK], { branch: 'control' }) },
  });
  return golden(blocks, certifyV1, { challenge, fixture, corpus, evidence, policy });
}

async function explorations(): Promise<Golden> {
  const blocks = openBlocks();
  const conditions = ['memory', 'none'].map((name) => conditionOf(blocks, name));
  const agent = agentOf(blocks);
  const explore = { agent: link(agent), conditions: conditions.map(link), epochs: 3 };
  const { challenge, fixture, certificate } = worldOf(blocks, { fixture: { explore } });
  const inputs = { challenge, fixture, certificate, agent, conditions };
  return golden(blocks, exploreV1, inputs, { epochs: 3 });
}

async function runs(): Promise<Golden[]> {
  const blocks = openBlocks();
  const policy = blocks.raw(CERTIFICATION_POLICY.bytes);
  const name = link(blocks.raw('a name'));
  const base = { kind: 'condition', v: 1, parameters: {}, tools: [] };
  const none = blocks.record({ ...base, name: 'none', source: { type: 'none' } });
  const study = blocks.record(studyOf(blocks, [none]));
  const shared = {
    ...{ family: link(study), fixture: name, agent: name, certificate: name, network: 'none', epoch: 1 },
    ...{ acceptances: [], validations: [], graders: ['audit'], images: {} },
    challenge: link(blocks.record(challengeOf(blocks))),
    corpus: link(corpusOf(blocks, putTree(blocks, { 'a.ts': 'code\n' }))),
  };
  const derivation = { rule: 'pair', v: 1, inputs: {} };
  const plan = blocks.record({ kind: 'plan', v: 1, derivation, shared, arms: { control: link(none) } });
  const start = blocks.record({
    ...{ kind: 'start', v: 1, plan: link(plan), arm: 'control', attempt: 1, study: link(study) },
    ...{
      token: 'fedcba98765432100123456789abcdef',
      executor: 'none',
      isolation: { network: 'none', limits: [] },
    },
  });
  const receipt = blocks.record(
    receiptOf(start, {
      natives: [
        {
          name: 'session.jsonl',
          bytes: evidenceOf(blocks, 'in "\\/tmp\\/run-1\\/ws" and %2Ftmp%2Frun-1%2Fws\n'),
        },
      ],
      surface: evidenceOf(blocks, '{"env":{"ARM":"control"},"hostname":"h","workspacePath":"/tmp/run-1/ws"}'),
      hostFacts: evidenceOf(blocks, '{"replacements":[{"path":"/tmp/run-1/ws","with":"/workspace"}]}'),
    }),
  );
  const scrub = await golden(blocks, scrubV1, { receipt, study });
  return [scrub, await golden(blocks, certifyRunV1, { receipt, scrub: scrub.cid, plan, study, policy })];
}
