import t from 'tap';
import { visible } from '../../../rules/report/document.ts';
import { on, wrapped } from '../../../rules/report/figures/svg.ts';
import { escapedMarkdown } from '../../../rules/report/markdown.ts';
import { reportV1 } from '../../../rules/report/v1.ts';
import type { Cid } from '../../../store/format/cid.ts';
import { link } from '../../../store/format/cid.ts';
import type { Blocks } from '../kit.ts';
import { derive } from '../kit.ts';
import { pairs, type Run, summarize, TEST, type World, type WorldSpec } from '../summary/kit.ts';

interface Told {
  readonly world: World;
  readonly summary: Cid;
  readonly binding: { readonly inputs: Record<string, Cid | readonly Cid[]> };
  readonly outputs: Readonly<Record<string, string>>;
}

const boundTo = (world: World, summary: Cid, claims: readonly Cid[] = []) => ({
  inputs: { close: world.close, summary, study: world.study, redactions: [], starts: world.starts, claims },
});

async function told(spec: WorldSpec): Promise<Told> {
  const { world, cid: summary } = await summarize(spec);
  const binding = boundTo(world, summary);
  const { value } = await derive(world.blocks, reportV1, binding);
  if ('refused' in value) throw new Error(JSON.stringify(value.refused));
  const outputs: Record<string, string> = {};
  for (const { name, bytes } of value.outputs)
    outputs[name] = Buffer.from(await world.blocks.reader.get(bytes['/'])).toString('utf8');
  return { world, summary, binding, outputs };
}

const at = (reward: 0 | 1, build = '1'): Run => ({
  reward,
  build,
  delivered: true,
  micros: 1500,
  tokens: 900,
});
const SPEC: WorldSpec = {
  tasks: [
    {
      id: 'one',
      arms: { memory: [at(1), at(1, '2')], none: [0, 0], other: [0, { reward: 1, override: 'excluded' }] },
    },
    { id: 'two', family: 'control', arms: { memory: [at(1), null], none: [1, { status: 'lost' }] } },
  ],
  tests: [
    { ...TEST, families: ['family'] },
    {
      ...TEST,
      id: 'control-no-worse',
      families: ['control'],
      statistic: 'nonInferiority',
      margin: '0.2',
      sides: 'greater',
    },
    { ...TEST, id: 'tokens', statistic: 'wilcoxonSignedRank', measure: 'tokens', primary: false },
  ],
  study: {
    holmSize: 4,
    scopeLimits: ['Only <b>two</b> tasks | and "no" others & nothing else.'],
    hypotheses: ['Memory helps.\u001b[31m'],
    builds: { product: { version: '1' } },
    stage: 'main',
  },
  decisions: (blocks, study) => [
    {
      kind: 'addendum',
      cid: blocks.record({
        kind: 'addendum',
        v: 1,
        who: 'ann',
        why: 'clear',
        study: link(study),
        text: 'A word more.',
      }),
    },
  ],
};

t.test('a report says first what a reader must know, and last what it cannot say', async (t) => {
  const { outputs } = await told(SPEC);
  const text = outputs['report.txt'] ?? '';
  const order = [
    'SCRIPTED',
    'Git history is in no arm',
    'findings accepted',
    'powerOverride',
    'A word more.',
  ];
  const after = ['completed', 'sign flip over tasks', 'Holm x4', 'Limits', 'not that nobody ran outside it'];
  const places = [...order, ...after].map((words) => text.indexOf(words));
  t.notOk(places.includes(-1), JSON.stringify(places));
  t.same(
    places,
    [...places].sort((a, b) => a - b),
  );
  for (const wanted of [
    'stage         main',
    'not registered: exploratory',
    'registered, primary, 1 of 4',
    'inconclusive',
    'exact McNemar',
    'odds ratio',
    'is not rejected by the exact test at one-sided 1/80 (0.013): lower end of the exact 97.5% interval',
    '(tasks like these)',
    'over pairs taken as independent: these tasks only',
    'over pairs, one a task: tasks like these',
    'had they gone each way',
    'below 5 paired attempts no p is computed',
    'of a void attempt'.slice(0, 2),
    'void-attempt 1',
    'excluded:override 1',
    'With and without overrides',
    'Only <b>two</b> tasks | and "no" others & nothing else.',
    'A test without p stays in the family.',
  ])
    t.ok(text.replace(/\n +/g, ' ').includes(wanted), wanted);
});

t.test('no form says that memory caused anything, prints a bare p, or a p of 0.000', async (t) => {
  const { outputs } = await told(SPEC);
  for (const [name, text] of Object.entries(outputs)) {
    t.notMatch(text, /\bcaus(?:e|ed|es)\b/i, name);
    t.notMatch(text, /0\.000\b|p ?< ?0?\.05|no difference/, name);
    t.notMatch(text, /undefined|NaN|\[object/, name);
  }
});

t.test('text keeps to a terminal: 100 columns, no control character', async (t) => {
  const { outputs } = await told(SPEC);
  const text = outputs['report.txt'] ?? '';
  t.same(
    text.split('\n').filter((line) => Array.from(line).length > 100),
    [],
  );
  const control = (code: number) => (code < 0x20 && code !== 0x0a) || (code >= 0x7f && code < 0xa0);
  t.notOk(Array.from(text).some((character) => control(character.codePointAt(0) ?? 0)));
  t.ok(text.includes('Memory helps.\\u{1b}[31m'));
  t.equal(visible('a\nb\u202ec'), 'a b\\u{202e}c');
});

t.test('the page needs nothing else: no script, no request, words of others are text', async (t) => {
  const { outputs } = await told(SPEC);
  const html = outputs['report.html'] ?? '';
  t.notMatch(html, /<script|<link|<img|\bon[a-z]+=|src=|url\(|@import/i);
  t.same(
    [...html.matchAll(/https?:[^"<\s]*/g)]
      .map(([url]) => url)
      .filter((url) => !url.startsWith('http://www.w3.org/2000/svg')),
    [],
  );
  t.ok(html.includes('Only &lt;b&gt;two&lt;/b&gt; tasks | and &quot;no&quot; others &amp; nothing else.'));
  t.ok(html.includes("default-src 'none'") && html.includes('prefers-color-scheme:dark'));
  t.ok(html.includes('width=device-width'));
  const opened = [...html.matchAll(/<(section|table|dl|figure|svg|ul|div)\b/g)].length;
  t.equal([...html.matchAll(/<\/(section|table|dl|figure|svg|ul|div)>/g)].length, opened);
  for (const name of ['forest', 'matrix', 'trend']) t.ok(html.includes(`id="${name}-title"`), name);
});

t.test('Markdown shows words of others as they are', async (t) => {
  const { outputs } = await told(SPEC);
  const text = outputs['report.md'] ?? '';
  t.ok(text.includes('Only \\<b\\>two\\</b\\> tasks \\| and "no" others &amp; nothing else.'));
  t.ok(text.includes('![Outcomes by task, arm and epoch](matrix.svg)'));
  for (const line of text.split('\n').filter((each) => each.startsWith('|')))
    t.equal(line.replace(/\\\|/g, '').startsWith('| ') || line.startsWith('| ---'), true, line);
  t.equal(escapedMarkdown('1. one'), '1\\. one');
  t.equal(escapedMarkdown('0.05'), '0.05');
  t.equal(escapedMarkdown('- item'), '\\- item');
});

t.test('figures: joined only under equal keys, each value at its place', async (t) => {
  const joined = await told(SPEC);
  t.ok(Object.keys(joined.outputs).includes('trend.svg'));
  t.match(joined.outputs['trend.svg'], /not joined, other challenge/, 'the second build saw one task only');
  t.notMatch(joined.outputs['trend.svg'], /class="join"/);
  const same = { id: 'one', arms: pairs([at(1), at(1, '2')], [0, 0]) };
  t.match((await told({ tasks: [same] })).outputs['trend.svg'], /class="join"/);
  const solved = [...(joined.outputs['matrix.svg'] ?? '').matchAll(/class="solved"/g)].length;
  t.equal(solved, 5, 'three of memory, one of none, one in the legend');
  const scale = { from: 0, to: 100, least: { num: -1n, den: 1n }, most: { num: 1n, den: 1n } };
  t.same(
    ['-1', '0', '1/3', '1', '7'].map((value) => on(scale, value)),
    [0, 50, 66.66, 100, 100],
  );
  t.same(wrapped('aa bb cccccc', 5), ['aa bb', 'ccccc', 'c']);
});

t.test('the same summary gives the same bytes', async (t) => {
  const [a, b] = [await told(SPEC), await told(SPEC)];
  t.equal(a.summary, b.summary);
  t.same(a.outputs, b.outputs);
});

const PAGE = 'We started <!-- claim: summary /counts/started -->9<!-- /claim --> runs.\n';

function claimAbout(blocks: Blocks, close: Cid, summary: Cid, over: Record<string, unknown> = {}): Cid {
  return blocks.record({
    ...{ kind: 'claim', v: 1, who: 'ann', why: 'results', close: link(close), record: link(summary) },
    ...{ field: '/counts/started', form: 'plain', printed: '9', name: 'results.md', place: 'binding 1' },
    page: link(blocks.raw(PAGE)),
    ...over,
  });
}

t.test('a report is given only where every claim stands in its page as bound', async (t) => {
  const { world, summary } = await told(SPEC);
  const { blocks, close } = world;
  const report = async (over: Record<string, unknown>) => {
    const claims = [claimAbout(blocks, close, summary, over)];
    return (await derive(blocks, reportV1, boundTo(world, summary, claims))).value;
  };
  const good = await report({});
  t.match(good, { claims: [{}], outputs: [{ name: 'report.txt' }] });
  for (const over of [
    { printed: '10' },
    { field: '/counts/planned' },
    { place: 'binding 2' },
    { page: link(blocks.raw(`${PAGE}And 4 more.\n`)) },
    { page: link(blocks.raw(PAGE.replace('>9<', '>10<'))), printed: '10' },
  ])
    t.match(await report(over), { refused: { code: 'E_CLAIM' } }, JSON.stringify(over));
});
