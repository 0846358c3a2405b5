import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { CATALOGUE, challenges, type Fixture, fixtures, json, type Ran, run } from './kit.ts';

const PROGRAM = join(CATALOGUE, 'provisioner/reference.mjs');

t.setTimeout(280_000);

interface Reply {
  readonly project: string;
  readonly queue_before_count: number;
  readonly queue_after_count: number;
  readonly restore_seconds: number;
  readonly snapshot_seconds: number;
  readonly state: { readonly nodes: number; readonly edges: number };
  readonly probes: Readonly<Record<string, readonly string[]>>;
  readonly memories: readonly { readonly id: string; readonly text: string }[];
  readonly ok: boolean;
}

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const ask = (root: string, verb: string, input: string): Promise<Ran> =>
  run([PROGRAM, verb], tmpdir(), { ASHLAR_PROVISIONER_ROOT: root }, input);

async function answered(root: string, verb: string, input: unknown): Promise<Reply> {
  const { status, stdout, stderr } = await ask(root, verb, JSON.stringify(input));
  if (status !== 0) throw new Error(stderr);
  const reply = JSON.parse(stdout);
  if (stdout !== `${JSON.stringify(reply)}\n`) throw new Error(`not one compact object: ${stdout}`);
  return reply;
}

/** A copy of a fixture's folder, gone when the test ends. */
function rootOf(t: { teardown(done: () => void): void }, fixture: Fixture): string {
  const root = mkdtempSync(join(tmpdir(), 'provisioner-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  cpSync(join(CATALOGUE, 'fixtures', fixture.id), root, { recursive: true });
  return root;
}

const artifactOf = (root: string, path: string) => ({ path, sha256: sha256(readFileSync(join(root, path))) });
const request = (fixture: string, identity: string, graph: unknown) => ({
  fixture,
  graph_arm: null,
  run_identity: identity,
  artifacts: { evidence_corpus: null, graph },
});

for (const fixture of fixtures()) {
  t.test(`${fixture.id}: a restored graph answers its probes as the fixture declares`, async (t) => {
    const root = rootOf(t, fixture);
    for (const [name, { state, expect }] of Object.entries(fixture.graphs)) {
      const input = { ...request(fixture.id, `run-${name}`, artifactOf(root, state)), graph_arm: name };
      const restored = await answered(root, 'restore', input);
      t.strictSame(Object.keys(restored), ['project', 'queue_before_count', 'restore_seconds']);
      t.equal(restored.queue_before_count, 0);
      t.notMatch(restored.project, new RegExp(`${name}|${fixture.id}|run-`), 'the name tells nothing');
      const snapshot = await answered(root, 'snapshot', { project: restored.project });
      t.strictSame(snapshot.state, expect.state);
      t.strictSame(snapshot.probes, expect.probes);
      t.equal(snapshot.queue_after_count, 0);
      t.ok(restored.restore_seconds >= 0 && snapshot.snapshot_seconds >= 0);
      t.strictSame(await answered(root, 'destroy', { project: restored.project }), { ok: true });
      t.equal((await ask(root, 'snapshot', JSON.stringify({ project: restored.project }))).status, 3);
    }
  });

  t.test(`${fixture.id}: the first prompt recalls what it is about`, async (t) => {
    const root = rootOf(t, fixture);
    const challenge = challenges().find((one) => fixture.serves.includes(one.id));
    t.ok(challenge);
    const query = readFileSync(
      join(CATALOGUE, 'challenges', challenge?.id ?? '', challenge?.prompt ?? ''),
      'utf8',
    );
    for (const { state, markers } of Object.values(fixture.graphs)) {
      const { project } = await answered(
        root,
        'restore',
        request(fixture.id, state, artifactOf(root, state)),
      );
      const { memories } = await answered(root, 'recall', { project, query, channel: 'prompt', limit: 3 });
      t.ok(memories.length <= 3);
      const told = memories.map((memory) => memory.text).join('\n');
      for (const marker of markers) t.ok(told.includes(marker), marker);
    }
  });
}

const [fixture] = fixtures();
if (fixture === undefined) throw new Error('no fixture');
const arm = fixture.graphs.current?.state ?? '';

t.test('no graph is an empty project whose probes find nothing', async (t) => {
  const root = rootOf(t, fixture);
  const { project } = await answered(root, 'restore', request(fixture.id, 'run-1', null));
  const snapshot = await answered(root, 'snapshot', { project });
  t.strictSame(snapshot.state, { nodes: 0, edges: 0 });
  t.strictSame(snapshot.probes, { fulltext: [], semantic: [], graph: [] });
  const recall = { project, query: 'table of stays', channel: 'tool', limit: 9 };
  t.strictSame((await answered(root, 'recall', recall)).memories, []);
});

t.test('restoring again starts from the artifact, and destroying twice is no fault', async (t) => {
  const root = rootOf(t, fixture);
  const filled = await answered(root, 'restore', request(fixture.id, 'run-1', artifactOf(root, arm)));
  const emptied = await answered(root, 'restore', request(fixture.id, 'run-1', null));
  t.equal(filled.project, emptied.project);
  t.equal((await answered(root, 'snapshot', { project: filled.project })).state.nodes, 0);
  t.ok((await answered(root, 'destroy', { project: filled.project })).ok);
  t.ok((await answered(root, 'destroy', { project: filled.project })).ok);
});

t.test('many projects at once do not disturb each other', async (t) => {
  const root = rootOf(t, fixture);
  const runs = Array.from({ length: 6 }, (_, index) => index);
  const whole = json<{ nodes: unknown[] }>('fixtures', fixture.id, arm).nodes.length;
  const ends = await Promise.all(
    runs.map(async (index) => {
      const graph = index % 2 === 0 ? artifactOf(root, arm) : null;
      const { project } = await answered(root, 'restore', request(fixture.id, `run-${index}`, graph));
      const { state } = await answered(root, 'snapshot', { project });
      await answered(root, 'destroy', { project });
      return { project, nodes: state.nodes };
    }),
  );
  t.equal(new Set(ends.map((end) => end.project)).size, runs.length);
  t.strictSame(
    ends.map((end) => end.nodes),
    runs.map((index) => (index % 2 === 0 ? whole : 0)),
  );
  t.strictSame(readdirSync(join(root, '.projects')), []);
});

/** Raw inputs that no verb may take; each with the verb and the exit status. */
function refusals(root: string): [string, string, string, number][] {
  const good = request(fixture?.id ?? '', 'run-1', artifactOf(root, arm));
  const text = JSON.stringify(good);
  const withGraph = (graph: unknown) => JSON.stringify(request('f', 'run-1', graph));
  const { sha256: digest } = artifactOf(root, arm);
  return [
    ['nothing', 'restore', '', 2],
    ['a list', 'restore', '[]', 2],
    ['null', 'restore', 'null', 2],
    ['two objects', 'restore', text + text, 2],
    ['a log line first', 'restore', `ready\n${text}`, 2],
    ['a byte order mark', 'restore', `\ufeff${text}`, 2],
    ['a name twice', 'restore', text.replace('{', '{"fixture":"other",'), 2],
    ['a name twice, once escaped', 'restore', text.replace('{', '{"fi\\u0078ture":"other",'), 2],
    ['a name twice below', 'restore', text.replace('"graph":{', '"graph":{"path":"x",'), 2],
    ['__proto__', 'restore', text.replace('{', '{"__proto__":{},'), 2],
    ['an unknown field', 'restore', text.replace('{', '{"note":"hi",'), 2],
    ['a missing field', 'restore', JSON.stringify({ ...good, artifacts: undefined }), 2],
    ['a lone surrogate', 'restore', text.replace('run-1', '\\ud800'), 2],
    ['a number for a string', 'restore', text.replace('"run-1"', '1'), 2],
    ['way too much', 'restore', text.replace('run-1', 'x'.repeat(2 << 20)), 2],
    ['another digest', 'restore', withGraph({ path: arm, sha256: '0'.repeat(64) }), 4],
    ['a digest in capitals', 'restore', withGraph({ path: arm, sha256: digest.toUpperCase() }), 2],
    ['no such file', 'restore', withGraph({ path: 'graphs/none.json', sha256: digest }), 3],
    ['a folder', 'restore', withGraph({ path: 'graphs', sha256: digest }), 2],
    ['upwards', 'restore', withGraph({ path: `graphs/../${arm}`, sha256: digest }), 2],
    ['an absolute path', 'restore', withGraph({ path: join(root, arm), sha256: digest }), 2],
    ['a backslash', 'restore', withGraph({ path: 'graphs\\current.json', sha256: digest }), 2],
    ['a link that leads out', 'restore', withGraph({ path: 'out.json', sha256: sha256('{}') }), 2],
    [
      'a file through a folder that leads out',
      'restore',
      withGraph({ path: 'beside/g.json', sha256: sha256('{}') }),
      2,
    ],
    ['a state that is no graph', 'restore', withGraph(artifactOf(root, 'empty.json')), 2],
    ['a state with a loose edge', 'restore', withGraph(artifactOf(root, 'loose.json')), 4],
    ['a project that is not there', 'snapshot', '{"project":"project-0"}', 3],
    ['a project that climbs', 'snapshot', '{"project":"../fixture"}', 2],
    ['a project that climbs, to be removed', 'destroy', '{"project":"../fixture"}', 2],
    ['a channel we do not serve', 'recall', '{"project":"p","query":"q","channel":"x","limit":1}', 2],
    ['half a memory', 'recall', '{"project":"p","query":"q","channel":"tool","limit":0.5}', 2],
    ['endless memories', 'recall', '{"project":"p","query":"q","channel":"tool","limit":1e400}', 2],
    ['less than none', 'recall', '{"project":"p","query":"q","channel":"tool","limit":-1}', 2],
    ['no such verb', 'constructor', '{}', 2],
  ];
}

t.test('bad input is refused with one sentence, nothing on stdout, and nothing left behind', async (t) => {
  const root = rootOf(t, fixture);
  const beside = `${root}-beside`;
  t.teardown(() => rmSync(beside, { recursive: true }));
  mkdirSync(beside);
  writeFileSync(join(beside, 'g.json'), '{}');
  symlinkSync(join(beside, 'g.json'), join(root, 'out.json'));
  symlinkSync(beside, join(root, 'beside'));
  writeFileSync(join(root, 'empty.json'), '{}');
  const state = json<{ edges: unknown[] }>('fixtures', fixture.id, arm);
  const edges = [{ from: 'n-export', to: 'nowhere', kind: 'k' }];
  writeFileSync(join(root, 'loose.json'), JSON.stringify({ ...state, edges }));
  const before = readdirSync(root).sort();
  for (const [name, verb, input, exit] of refusals(root)) {
    const { status, stdout, stderr } = await ask(root, verb, input);
    t.equal(status, exit, `${name}: ${stderr.trim()}`);
    t.equal(stdout, '', name);
    t.match(stderr, /^[^\n]+\n$/, name);
  }
  t.strictSame(readdirSync(root).sort(), before);
  t.equal((await run([PROGRAM, 'snapshot'], tmpdir(), {}, '{}')).status, 2, 'no root');
});
