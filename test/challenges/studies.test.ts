import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import {
  type Behaviour,
  CATALOGUE,
  type Challenge,
  challenges,
  type Fixture,
  fixtures,
  grade,
  json,
  run,
  runVerifier,
  runVisible,
  type Tag,
  type Variant,
  workspaceOf,
} from './kit.ts';

type Expected = Readonly<Record<Tag, string>> & { readonly reward: number; readonly delivered: boolean };

interface Study {
  readonly conditions: readonly {
    readonly name: string;
    readonly graph?: string;
    readonly parameters: { readonly limit?: string };
  }[];
  readonly pairs: readonly {
    readonly challenge: string;
    readonly fixture: string;
    readonly arms: Readonly<Record<string, string>>;
    readonly expected: Readonly<Record<string, Expected>>;
  }[];
  readonly agent: { readonly template: string; readonly tools: readonly string[] };
}

type Condition = Study['conditions'][number];

const study = json<Study>('studies', 'demo.json');
const PROGRAM = join(CATALOGUE, 'provisioner/reference.mjs');
const textOf = (challenge: Challenge, name: string) =>
  readFileSync(join(CATALOGUE, 'challenges', challenge.id, name), 'utf8');

t.jobs = 2;
t.setTimeout(280_000);

/** What the reference provisioner recalls for the first prompt under a condition. */
async function recalled(fixture: Fixture, challenge: Challenge, condition: Condition): Promise<string[]> {
  const state = condition.graph === undefined ? undefined : fixture.graphs[condition.graph]?.state;
  if (state === undefined) return [];
  const root = mkdtempSync(join(tmpdir(), 'study-'));
  cpSync(join(CATALOGUE, 'fixtures', fixture.id), root, { recursive: true });
  const ask = async (verb: string, input: unknown) => {
    const { stdout } = await run(
      [PROGRAM, verb],
      root,
      { ASHLAR_PROVISIONER_ROOT: root },
      JSON.stringify(input),
    );
    return JSON.parse(stdout);
  };
  const sha256 = createHash('sha256')
    .update(readFileSync(join(root, state)))
    .digest('hex');
  const artifacts = { evidence_corpus: null, graph: { path: state, sha256 } };
  const restore = { fixture: fixture.id, graph_arm: condition.graph, run_identity: 'run-1', artifacts };
  const { project } = await ask('restore', restore);
  const limit = Number(condition.parameters.limit);
  const query = textOf(challenge, challenge.prompt);
  const { memories } = await ask('recall', { project, query, channel: 'prompt', limit });
  rmSync(root, { recursive: true });
  return memories.map((memory: { text: string }) => memory.text);
}

function chosen(variants: readonly Variant[], request: string): Variant {
  const variant = variants.find(({ when }) => when.every((phrase) => request.includes(phrase)));
  if (variant === undefined) throw new Error('no variant for this request');
  return variant;
}

/** Carries out what the script writes, turn by turn; `keeps` says whether a follow-up still holds what came before. */
function act(challenge: Challenge, workspace: string, memories: string[], keeps = true): string[] {
  const { turns } = json<Behaviour>('challenges', challenge.id, 'behaviour.json');
  const prompts = [challenge.prompt, ...challenge.followUps].map((name) => textOf(challenge, name));
  return turns.map(({ variants }, turn) => {
    const history =
      keeps || turn === 0 ? [...memories, ...prompts.slice(0, turn + 1)] : [prompts[turn] ?? ''];
    const { name, steps } = chosen(variants, history.join('\n'));
    for (const { contentFile, input } of steps) {
      if (contentFile === undefined) continue;
      const target = join(workspace, input?.path ?? '');
      mkdirSync(dirname(target), { recursive: true });
      cpSync(join(CATALOGUE, 'challenges', challenge.id, contentFile), target);
    }
    return name;
  });
}

for (const pair of study.pairs) {
  const challenge = challenges().find((one) => one.id === pair.challenge);
  const fixture = fixtures().find((one) => one.id === pair.fixture);
  if (challenge === undefined || fixture === undefined) throw new Error(`${pair.challenge}, ${pair.fixture}`);

  t.test(
    `${challenge.id}: the script and the provisioner together give the table that is registered`,
    async (t) => {
      t.ok(fixture.serves.includes(challenge.id));
      t.strictSame(Object.keys(pair.expected), Object.keys(pair.arms));
      for (const [arm, name] of Object.entries(pair.arms)) {
        const condition = study.conditions.find((one) => one.name === name);
        if (condition === undefined) throw new Error(`no condition ${name}`);
        const memories = await recalled(fixture, challenge, condition);
        const markers = condition.graph === undefined ? [] : (fixture.graphs[condition.graph]?.markers ?? []);
        const workspace = workspaceOf(challenge, null);
        const variants = act(challenge, workspace, memories);
        t.equal((await runVisible(workspace)).status, 0, `${arm}: visible tests`);
        const { byTag, reward } = grade(challenge, (await runVerifier(challenge, workspace)).stdout);
        const delivered = markers.some((marker) => memories.some((text) => text.includes(marker)));
        t.strictSame({ reward, ...byTag, delivered }, pair.expected[arm], `${arm}: ${variants.join(', ')}`);
        rmSync(workspace, { recursive: true });
      }
    },
  );
}

t.test('a follow-up that does not resume the session is told by its diagnostic', async (t) => {
  for (const challenge of challenges().filter((one) => one.taskFamily === 'continuity')) {
    const workspace = workspaceOf(challenge, null);
    act(challenge, workspace, [], false);
    const { byTag, reward } = grade(challenge, (await runVerifier(challenge, workspace)).stdout);
    t.strictSame({ reward, ...byTag }, { reward: 0, func: 'fail', lesson: 'fail', diag: 'fail' });
    rmSync(workspace, { recursive: true });
  }
});

t.test('every step of a script uses a tool that the agent has', async (t) => {
  for (const challenge of challenges()) {
    const { turns } = json<Behaviour>('challenges', challenge.id, 'behaviour.json');
    const steps = turns.flatMap((turn) => turn.variants.flatMap((variant) => variant.steps));
    for (const { tool } of steps)
      t.ok(tool === undefined || study.agent.tools.includes(tool), tool ?? 'words');
  }
  t.ok(readFileSync(join(CATALOGUE, 'studies', study.agent.template), 'utf8').length > 0);
});
