import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  type Behaviour,
  CATALOGUE,
  type Challenge,
  challenges,
  type Fixture,
  fixtures,
  folders,
  json,
  type Lesson,
  repository,
  textsBelow,
  workspaceAt,
} from './kit.ts';

t.setTimeout(280_000);

interface Graph {
  readonly project: string;
  readonly workspace: string;
  readonly branch: string;
  readonly nodes: readonly { readonly id: string; readonly text: string; readonly source: string }[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

const folderOf = (fixture: Fixture) => join(CATALOGUE, 'fixtures', fixture.id);
const graphOf = (fixture: Fixture, state: string) => json<Graph>('fixtures', fixture.id, state);
const lessonsOf = (fixture: Fixture) =>
  json<{ lessons: Lesson[] }>('fixtures', fixture.id, fixture.lessons).lessons;
const evidenceOf = (fixture: Fixture) => textsBelow(join(folderOf(fixture), fixture.evidence));
const servedBy = (fixture: Fixture) =>
  challenges().filter((challenge) => fixture.serves.includes(challenge.id));
const flat = (text: string) => text.toLowerCase().replace(/\s+/g, ' ');

/** Everything that an agent, or a memory product on its way to one, can read: by a name for the message. */
function readable(): Map<string, string> {
  const all = new Map<string, string>();
  const add = (prefix: string, texts: Map<string, string>) => {
    for (const [path, text] of texts) all.set(`${prefix}/${path}`, text);
  };
  for (const fixture of fixtures()) {
    add(`${fixture.id}/evidence`, evidenceOf(fixture));
    add(`${fixture.id}/graphs`, textsBelow(join(folderOf(fixture), 'graphs')));
  }
  for (const challenge of challenges()) {
    for (const name of [challenge.prompt, ...challenge.followUps]) {
      all.set(
        `${challenge.id}/${name}`,
        readFileSync(join(CATALOGUE, 'challenges', challenge.id, name), 'utf8'),
      );
    }
  }
  for (const name of folders('repositories')) add(name, textsBelow(join(CATALOGUE, 'repositories', name)));
  all.set('studies/system.md', readFileSync(join(CATALOGUE, 'studies/system.md'), 'utf8'));
  return all;
}

t.test(
  'no text that is read holds an answer, a patch, a secret place, or a word about how it is used',
  async (t) => {
    const phrases = challenges().flatMap((challenge) => challenge.answerPhrases);
    t.ok(phrases.length > 0);
    const texts = readable();
    t.ok(texts.size > 30);
    for (const [name, text] of texts) {
      for (const phrase of phrases) t.notOk(text.includes(phrase), `${name}: ${phrase}`);
      t.notMatch(text, /^@@ -\d+(?:,\d+)? \+\d+/m, name);
      t.notMatch(text, /\b(?:ashlar|benchmark|harness)\b/i, name);
      t.notMatch(text, /-----BEGIN |\bsk-[A-Za-z0-9]{8}|\.env\b/, name);
    }
  },
);

t.test('no answer stands in a file that is no answer', async (t) => {
  for (const challenge of challenges()) {
    const inside = textsBelow(join(CATALOGUE, 'challenges', challenge.id));
    for (const phrase of challenge.answerPhrases) {
      const holding = [...inside].filter(([, text]) => text.includes(phrase)).map(([path]) => path);
      t.ok(
        holding.some((path) => /^(?:verifier|solutions)\//.test(path)),
        `${phrase}: is in use`,
      );
      t.strictSame(
        holding.filter((path) => !/^(?:verifier\/|solutions\/|challenge\.json$)/.test(path)),
        [],
        phrase,
      );
    }
  }
});

for (const fixture of fixtures()) {
  t.test(
    `${fixture.id}: the lessons stand in the evidence and in the graph, and nowhere in the code`,
    async (t) => {
      const evidence = evidenceOf(fixture);
      const { repository: name, step } = fixture.source;
      t.ok(repository(name).steps.some((one) => one.id === step));
      const workspace = workspaceAt(name, step);
      const code = [...textsBelow(workspace).values()].map(flat);
      for (const lesson of lessonsOf(fixture)) {
        for (const source of lesson.sources) t.ok(evidence.has(source), source);
        t.ok(graphOf(fixture, 'graphs/current.json').nodes.some((node) => node.id === lesson.node));
        for (const text of code) t.notOk(text.includes(flat(lesson.sentence)), lesson.id);
        for (const pattern of lesson.evidencePatterns) {
          t.notOk(
            code.some((text) => new RegExp(pattern, 'i').test(text)),
            `${lesson.id}: ${pattern}`,
          );
        }
      }
      rmSync(workspace, { recursive: true });
    },
  );

  t.test(`${fixture.id}: a graph is what the fixture says it is`, async (t) => {
    for (const [name, arm] of Object.entries(fixture.graphs)) {
      const graph = graphOf(fixture, arm.state);
      t.strictSame(
        arm.surface,
        graph.nodes.map(({ id, text }) => ({ id, text })),
        name,
      );
      t.strictSame([arm.project, arm.workspace, arm.branch], [graph.project, graph.workspace, graph.branch]);
      t.strictSame(arm.expect.state, { nodes: graph.nodes.length, edges: graph.edges.length });
      const strict = /fixture|control|benchmark|\barm\b|stale|negative|memory|treatment|trial/i;
      t.notMatch([graph.project, graph.workspace, graph.branch].join(' '), strict);
      for (const node of graph.nodes)
        t.ok(evidenceOf(fixture).has(node.source), `${node.id}: ${node.source}`);
      for (const marker of arm.markers)
        t.ok(
          graph.nodes.some((node) => node.text.includes(marker)),
          marker,
        );
      for (const probe of Object.values(arm.expect.probes)) t.ok(probe.length > 0);
    }
  });

  t.test(`${fixture.id}: a scripted choice that waits for memory waits for words of one graph`, async (t) => {
    for (const challenge of servedBy(fixture)) checkWhen(t, fixture, challenge);
  });
}

t.test('no prompt tells the lesson', async (t) => {
  for (const challenge of challenges()) {
    const serving = fixtures().filter((fixture) => fixture.serves.includes(challenge.id));
    const told = serving.flatMap(lessonsOf).map((lesson) => lesson.sentence);
    const markers = serving.flatMap((fixture) => Object.values(fixture.graphs).flatMap((arm) => arm.markers));
    for (const name of [challenge.prompt, ...challenge.followUps]) {
      const prompt = flat(readFileSync(join(CATALOGUE, 'challenges', challenge.id, name), 'utf8'));
      for (const text of [...told, ...markers])
        t.notOk(prompt.includes(flat(text)), `${challenge.id}/${name}: ${text}`);
    }
  }
});

t.test('every challenge has one fixture, at its own step', async (t) => {
  for (const challenge of challenges()) {
    const serving = fixtures().filter((fixture) => fixture.serves.includes(challenge.id));
    t.equal(serving.length, 1, challenge.id);
    t.strictSame(serving[0]?.source, {
      repository: challenge.repository.name,
      step: challenge.repository.step,
    });
    const known = serving.flatMap(lessonsOf).map((lesson) => lesson.id);
    for (const id of challenge.lessons) t.ok(known.includes(id), id);
  }
});

function checkWhen(t: Test, fixture: Fixture, challenge: Challenge) {
  const { turns } = json<Behaviour>('challenges', challenge.id, 'behaviour.json');
  const prompts = [challenge.prompt, ...challenge.followUps]
    .map((name) => readFileSync(join(CATALOGUE, 'challenges', challenge.id, name), 'utf8'))
    .join('\n');
  const holders = (phrase: string) =>
    Object.keys(fixture.graphs).filter((name) =>
      fixture.graphs[name]?.surface.some((node) => node.text.includes(phrase)),
    );
  for (const { name, when } of turns.flatMap((turn) => turn.variants)) {
    const awaited = when.filter((phrase) => !prompts.includes(phrase));
    const wanted = name === 'memory' ? ['current'] : name === 'stale' ? ['stale'] : [];
    t.strictSame([...new Set(awaited.flatMap(holders))], wanted, `${challenge.id}, ${name}`);
    for (const phrase of when) t.match(phrase, /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/, 'stands in JSON as it is');
  }
}
