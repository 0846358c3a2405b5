/**
 * `use`: the second of three layers: whether the agent's own words or tool inputs, after a memory was recorded, cite
 * its id or hold a marker phrase of the fixture that the memory's text holds too.
 * Does not promise: that the agent acted because of it; the word "caused" stands nowhere.
 */
import { type Cid, link } from '../../store/format/cid.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Fixture } from '../contracts/fixture.ts';
import type { Injection } from '../contracts/injection.ts';
import type { Full } from '../contracts/kit.ts';
import type { Trajectory } from '../contracts/trajectory.ts';
import type { Use } from '../contracts/use.ts';
import { findDelivered, fold, stringsOf } from '../deliver/find.ts';
import { bindOnTrajectory, memoriesOf } from '../deliver/v1.ts';
import { defineRule, full, type Input, many, one } from '../rule.ts';
import { runOf } from '../runs.ts';
import type { AtifStep } from '../trajectory/atif.ts';
import { isUnseen, stepsOf } from '../trajectory/read.ts';

type Sign = Full<Use>['signs'][number];

export const useV1 = defineRule({
  name: 'use',
  v: 1,
  scope: 'subject',
  gives: 'use',
  needs: {
    receipt: one('receipt'),
    scrub: one('scrub'),
    trajectory: one('trajectory'),
    injections: many('injection'),
    fixture: one('fixture'),
  },
  on: ['trajectory'],
  async bind(subject, view) {
    const [layer] = await bindOnTrajectory(subject, view);
    const run = layer === undefined ? undefined : await runOf(layer.inputs.receipt, view);
    if (layer === undefined || run === undefined) return [];
    return [{ inputs: { ...layer.inputs, fixture: run.plan.shared.fixture['/'] } }];
  },
  apply: (inputs, { reader }) => use(inputs, reader),
  /** Where the document is held back, signs of memories that were injected are taken from the record. */
  async recheck(recorded, inputs, io) {
    if (!(await isUnseen(full(inputs.trajectory), io.reader)))
      return { body: await use(inputs, io.reader), withheld: 0 };
    const ids = new Set(memoriesOf(inputs.injections.map(({ value }) => value)).map(({ id }) => id));
    const signs = recorded.signs.filter(({ id }) => ids.has(id));
    return { body: { ...headOf(inputs), signs, used: signs.length > 0 }, withheld: 1 };
  },
});

interface Given {
  readonly receipt: { readonly cid: Cid };
  readonly scrub: { readonly cid: Cid };
  readonly trajectory: Input<Trajectory>;
  readonly injections: readonly Input<Injection>[];
  readonly fixture: Input<Fixture>;
}

async function use(given: Given, reader: Reader) {
  const steps = await stepsOf(full(given.trajectory), reader);
  const markers = Object.values(given.fixture.value.graphs).flatMap((graph) => graph.markers);
  const signs: Sign[] = [];
  for (const { id, text } of memoriesOf(given.injections.map(({ value }) => value))) {
    const memory = fold(Buffer.from(await reader.get(text['/'])).toString('utf8'));
    const own = [...new Set(markers)].filter((marker) => memory.includes(fold(marker)));
    signs.push(...signsOf(id, own, steps));
  }
  return { ...headOf(given), signs, used: signs.length > 0 };
}

const headOf = ({ receipt, scrub, trajectory }: Given) => ({
  receipt: link(receipt.cid),
  scrub: link(scrub.cid),
  trajectory: link(trajectory.cid),
});

/** The first citation and the first marker, where there are any, after the memory was recorded. */
function signsOf(id: string, markers: readonly string[], steps: readonly AtifStep[]): Sign[] {
  const from = findDelivered(steps, id)[0]?.step;
  if (from === undefined) return [];
  const later = steps.filter((step) => step.kind === 'agent' && step.id > from);
  const holds = (phrase: string) => (step: AtifStep) =>
    agentTexts(step).some((text) => text.includes(fold(phrase)));
  const cited = later.find(holds(id));
  const marked = later.find((step) => markers.some((marker) => holds(marker)(step)));
  return [
    ...(cited === undefined ? [] : [{ id, sign: 'citation' as const, step: cited.id }]),
    ...(marked === undefined ? [] : [{ id, sign: 'marker' as const, step: marked.id }]),
  ];
}

const agentTexts = (step: AtifStep): string[] =>
  [step.text, ...step.calls.flatMap((call) => stringsOf(call.arguments ?? null))].map(fold);
