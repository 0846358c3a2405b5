/** Registering a study: what could not run is refused with everything that is wrong, and nothing is recorded. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { collect } from '../../../cli/objects.ts';
import { freezeStudy } from '../../../daemon/freeze/study.ts';
import { isFault } from '../../../store/format/errors.ts';
import { type Case, inputsOf, labFolder, makeLab, removeLab, studyOf } from '../kit.ts';

const CASES: readonly Case[] = [
  { name: 'first', arms: ['none', 'memory'] },
  { name: 'leaking', unregistered: true, answerPhrases: ['it says Well met'] },
];
const root = labFolder();
t.teardown(() => removeLab(root));
const lab = await makeLab(root, { cases: CASES });
t.teardown(lab.close);
const { store } = lab;
const [FIRST] = CASES as [Case, Case];

/** How many records there are: a refused study adds none. */
const records = async () => (await collect(store.since())).length;

function file(study: Record<string, unknown>): string {
  const path = join(root, 'asked.json');
  writeFileSync(path, JSON.stringify(study));
  return path;
}

/** What registering it says, one problem a line. */
async function refusal(study: Record<string, unknown>, host = lab.host): Promise<string[]> {
  const before = await records();
  try {
    await freezeStudy({ ...inputsOf(lab), host }, file(study));
    return ['registered'];
  } catch (error) {
    if (!isFault(error)) throw error;
    t.equal(await records(), before, 'nothing is recorded');
    return error.message.split('\n');
  }
}

const asked = studyOf(FIRST);
const [none, memory] = asked.conditions as Record<string, unknown>[];
const pairs = [
  { challenge: 'first', fixture: 'greeter', arms: { none: 'none', memory: 'memory' } },
  { challenge: 'leaking', fixture: 'greeter', arms: { none: 'none' } },
];

t.test('each thing that a plan would stop at is refused before the study', async (t) => {
  const agent = asked.agent as Record<string, unknown>;
  const table: Record<string, readonly [change: object, wanted: RegExp]> = {
    'a solution that was not validated': [
      { stage: 'pilot' },
      /2 problems\n.*validation of first oracle; wanted a validation run, isolation none, same images; found no such run\n.*first nothing/,
    ],
    'a finding that nobody accepted': [
      { pairs: [pairs[1]] },
      /certificate of leaking; wanted no open finding; found \d+ open findings, first solution-leak/,
    ],
    'a challenge that is not there': [
      { pairs: [{ ...pairs[0], challenge: 'nobody' }] },
      /E_NOT_FOUND.*challenge\/nobody/,
    ],
    'an arm without a condition': [
      { conditions: [none] },
      /E_CONTRACT.*pairs first memory; wanted an arm named as its condition/,
    ],
    'an image role that no image is bound to': [
      { isolation: 'docker' },
      /image of first; wanted an image for the role node; found no image/,
    ],
    'an image that is not in the store': [
      { isolation: 'docker', images: { node: `sha256:${'0'.repeat(64)}` } },
      /E_NOT_FOUND.*0{64}/,
    ],
    'a host that isolates less': [{ isolation: 'bwrap' }, /isolation; wanted bwrap or stronger; found none/],
    'a real model where the host has a scripted one': [
      { agent: { ...agent, modelKind: 'real' } },
      /2 problems\n.*wanted bwrap or docker for a real model; found none\n.*model; wanted real; found scripted/,
    ],
    'an agent that this build does not have': [
      { agent: { ...agent, adapter: 'nobody' } },
      /adapter; wanted builtin; found nobody/,
    ],
    'another version of it': [
      { agent: { ...agent, version: '9' } },
      /agent builtin; wanted version 9; found 1/,
    ],
    'a tool that it has not': [
      { agent: { ...agent, tools: ['read', 'browse'] } },
      /tools; wanted .*read.*; found browse/,
    ],
    'a template that is not there': [{ agent: { ...agent, template: 'none.md' } }, /E_NOT_FOUND.*none\.md/],
    'a graph that the fixture has not': [
      { conditions: [none, { ...memory, graph: 'future' }] },
      /condition memory; wanted a graph of the fixture: current; found future/,
    ],
    'a channel that nothing delivers': [
      { conditions: [none, { ...memory, channel: 'hook' }] },
      /condition memory; wanted the channel prompt or tool; found hook/,
    ],
    'a provisioner that this host has not': [
      { conditions: [none, { ...memory, source: { type: 'provisioner', provisioner: 'nobody' } }] },
      /condition memory; wanted the verb recall of nobody/,
    ],
    'a pair that stands twice': [
      { pairs: [pairs[0], pairs[0]] },
      /E_CONTRACT.*\/pairs; found a pair stands twice/,
    ],
    'a condition that stands twice': [
      { conditions: [none, memory, none] },
      /E_CONTRACT.*\/conditions; found a condition stands twice/,
    ],
    'a test that contradicts itself': [{ alpha: '2' }, /E_DESIGN.*alpha 2 is not in/],
  };
  for (const [name, [change, wanted]] of Object.entries(table))
    t.match((await refusal({ ...asked, id: 'refused', ...change })).join('\n'), wanted, name);
});

t.test('everything that is wrong is said in one pass', async (t) => {
  const said = await refusal({
    ...{ ...asked, id: 'refused', stage: 'pilot', isolation: 'bwrap', alpha: '2' },
    pairs: [...pairs, { challenge: 'nobody', fixture: 'greeter', arms: { none: 'none' } }],
    conditions: [none, { ...memory, graph: 'future' }],
  });
  t.match(said[0], /^E_GATE.*study refused; wanted a study whose plans can run; found 9 problems$/);
  t.equal(said.length, 10);
});

t.test('what can run is registered, with the host known or not', async (t) => {
  const { host: _, ...inputs } = { ...inputsOf(lab), host: lab.host };
  const cid = await freezeStudy(inputs, file({ ...asked, id: 'good' }));
  t.equal(await freezeStudy({ ...inputs, host: lab.host }, file({ ...asked, id: 'good' })), cid);
  t.match(await store.logs.ofFamily(cid), { size: 1 });
});
