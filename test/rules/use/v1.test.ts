/** Signs of use: the agent's own words and tool inputs after it was given a memory, and nothing that others said. */
import t from 'tap';
import { memoryId } from '../../../rules/memory/block.ts';
import { toAtif } from '../../../rules/trajectory/atif.ts';
import type { Step } from '../../../rules/trajectory/step.ts';
import { useV1 } from '../../../rules/use/v1.ts';
import { link } from '../../../store/format/cid.ts';
import { canonicalJson } from '../../../store/format/json.ts';
import { derive, graphOf, openBlocks, receiptOf } from '../kit.ts';
import { worldOf } from '../pair/kit.ts';
import { injectionOf } from '../parity/kit.ts';

const MEMORY = 'All half fares go down to the next five cents, said Ann.';
const ID = memoryId(MEMORY);
const OTHER = 'Tickets are valid for a day.';
const MARKERS = ['down to the next  five cents', 'valid for a day', 'nobody remembers this'];

const step = (source: Step['source'], text: string, more: Partial<Step> = {}): Step =>
  ({ source, text, native: 'n', ...more }) as Step;
const given = step('injection', `[memory ${ID}]\n${MEMORY}\n[end ${ID}]`, { channel: 'prompt' });
const calls = (input: unknown, text = '') =>
  step('agent', text, { calls: [{ id: 'c1', name: 'write', input }] as never });
const answer = (text: string) => step('tool', text, { answers: { call: 'c1', tool: 'read' } } as never);

async function signs(steps: readonly Step[], texts: readonly (readonly string[])[] = [[MEMORY]]) {
  const blocks = openBlocks();
  const graphs = { current: graphOf(blocks, [MEMORY], { markers: MARKERS }) };
  const { fixture, study } = worldOf(blocks, { fixture: { graphs } });
  const start = blocks.raw('a start');
  const receipt = blocks.record(receiptOf(start));
  const of = { receipt: link(receipt) };
  const derivation = { rule: 'scrub', v: 1, inputs: of };
  const scrub = blocks.record({ kind: 'scrub', v: 1, derivation, ...of, study: link(study), files: [] });
  const document = canonicalJson(toAtif({ name: 'a', version: '1', model_name: 'm' }, steps));
  const trajectory = blocks.record({
    ...{ kind: 'trajectory', v: 1, derivation: { rule: 'trajectory', v: 1, inputs: of }, ...of },
    ...{ scrub: link(scrub), atif: link(blocks.raw(document)), steps: steps.length, injections: 1 },
  });
  const injections = texts.map((each, i) => injectionOf(blocks, start, each, i + 1));
  const inputs = { receipt, scrub, trajectory, injections, fixture };
  const { value } = await derive(blocks, useV1, { inputs });
  t.equal(value.used, value.signs.length > 0);
  return value.signs.map((sign) => `${sign.sign} ${sign.step}`);
}

const SIGNS: Record<string, [Step[], string[]]> = {
  'the id in the agent’s words': [[given, step('agent', `As ${ID} says.`)], ['citation 2']],
  'the id in a tool’s input': [[given, calls({ content: `// see ${ID}` })], ['citation 2']],
  'the id deep in a tool’s input': [[given, calls({ edits: [{ new: `x ${ID}` }] })], ['citation 2']],
  'a marker in the agent’s words': [
    [given, step('agent', 'I round down to the next five cents.')],
    ['marker 2'],
  ],
  'a marker in a tool’s input, wrapped': [
    [given, calls({ content: '// down to the\n  next five cents' })],
    ['marker 2'],
  ],
  'both, each at its first step': [
    [
      given,
      step('agent', `${ID}`),
      step('agent', 'x'),
      calls({ a: 'down to the next five cents' }),
      step('agent', `${ID}`),
    ],
    ['citation 2', 'marker 4'],
  ],
  'given late: only what comes after': [
    [step('agent', `${ID} down to the next five cents`), given, step('agent', `${ID}`)],
    ['citation 3'],
  ],
};

/** Nothing of this shows use. */
const SILENT: Record<string, Step[]> = {
  'nobody was given it': [step('agent', `${ID} down to the next five cents`)],
  'no word of it': [given, step('agent', 'Done.')],
  'the injection itself': [given],
  'the injection twice': [given, given],
  'a tool’s answer that holds it': [given, answer(`${ID} down to the next five cents`)],
  'the user’s next prompt': [given, step('user', `${ID} down to the next five cents`)],
  'a recap': [given, step('recap', `${ID} down to the next five cents`)],
  'a notice for the user': [given, step('notice', `${ID} down to the next five cents`)],
  'a marker that the memory does not hold': [given, step('agent', 'A ticket is valid for a day.')],
  'a marker that no memory holds': [given, step('agent', 'nobody remembers this')],
  'the id of another memory': [given, step('agent', memoryId(OTHER))],
  'a part of the id': [given, step('agent', ID.slice(0, -1))],
  'the name of a tool': [given, calls({}, '')],
};

for (const [what, [steps, found]] of Object.entries(SIGNS))
  t.test(`a sign: ${what}`, async (t) => t.same(await signs(steps), found));
for (const [what, steps] of Object.entries(SILENT))
  t.test(`no sign: ${what}`, async (t) => t.same(await signs(steps), []));

t.test('each memory has signs of its own, once, whenever it was given', async (t) => {
  const other = memoryId(OTHER);
  const later = step('injection', `[memory ${other}]\n${OTHER}\n[end ${other}]`, { channel: 'prompt' });
  const steps = [
    given,
    step('agent', 'valid for a day'),
    later,
    step('agent', `${other} ${ID} valid for a day`),
  ];
  t.same(await signs(steps, [[MEMORY], [OTHER, MEMORY]]), ['citation 4', 'citation 4', 'marker 4']);
  t.same(await signs(steps, []), [], 'nothing was injected, whatever the words');
});
