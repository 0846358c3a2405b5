/**
 * `deliver`: the first of three layers. Two facts are kept apart: the transcript's own non-agent record of an injected
 * memory, and a request seen by the meter that holds the memory's id outside the model's own messages.
 */
import { link } from '../../store/format/cid.ts';
import { type Json, parseJson } from '../../store/format/json.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Delivery } from '../contracts/delivery.ts';
import type { Injection } from '../contracts/injection.ts';
import type { Full } from '../contracts/kit.ts';
import type { Scrub } from '../contracts/scrub.ts';
import type { AnyRecord } from '../contracts/table.ts';
import type { Trajectory } from '../contracts/trajectory.ts';
import { defineRule, full, type Input, many, one, type View } from '../rule.ts';
import { derivedBy, runOfScrub } from '../runs.ts';
import { blockOf, isHeld } from '../scrub/published.ts';
import { asList, asMap } from '../trajectory/lines.ts';
import { isUnseen, stepsOf } from '../trajectory/read.ts';
import { trajectoryV1 } from '../trajectory/v1.ts';
import { findDelivered, stringsOf } from './find.ts';

export const deliverV1 = defineRule({
  name: 'deliver',
  v: 1,
  scope: 'subject',
  gives: 'delivery',
  needs: {
    receipt: one('receipt'),
    scrub: one('scrub'),
    trajectory: one('trajectory'),
    injections: many('injection'),
  },
  on: ['trajectory'],
  async bind(subject, view) {
    return bindOnTrajectory(subject, view);
  },
  async apply(inputs, { reader }) {
    return (await delivery(inputs, reader, undefined)).body;
  },
  /** A memory's place in a document or request that is held back is taken from the record. */
  recheck: (recorded, inputs, { reader }) => delivery(inputs, reader, recorded),
});

type Body = Omit<Full<Delivery>, 'kind' | 'v' | 'derivation'>;
type Memory = Body['memories'][number];

interface Given {
  readonly receipt: Input<unknown>;
  readonly scrub: Input<Scrub>;
  readonly trajectory: Input<Trajectory>;
  readonly injections: readonly Input<Injection>[];
}

async function delivery(
  { receipt, scrub, trajectory, injections }: Given,
  reader: Reader,
  recorded: Body | undefined,
): Promise<{ body: Body; withheld: number }> {
  const document = full(trajectory);
  const unseen = recorded !== undefined && (await isUnseen(document, reader));
  const steps = unseen ? undefined : await stepsOf(document, reader);
  const requests = await requestStrings(full(scrub), reader, recorded !== undefined);
  const memories = memoriesOf(injections.map(({ value }) => value)).map(({ id, channel }): Memory => {
    const before = recorded?.memories.find((each) => each.id === id);
    const recordedAt = steps === undefined ? before?.recordedAt : findDelivered(steps, id)[0]?.step;
    const sentIn = sentWith(id, requests, before?.sentIn);
    return {
      id,
      channel,
      ...(recordedAt === undefined ? {} : { recordedAt }),
      ...(sentIn === undefined ? {} : { sentIn }),
    };
  });
  const body = {
    receipt: link(receipt.cid),
    scrub: link(scrub.cid),
    trajectory: link(trajectory.cid),
    memories,
    delivered: memories.length > 0 && memories.every((each) => 'recordedAt' in each && 'sentIn' in each),
  };
  const held = requests.filter(({ strings }) => strings === undefined).length;
  return { body, withheld: held + (unseen ? 1 : 0) };
}

/** The first request that holds the id; of those that are held back, the one that the record names. */
function sentWith(
  id: string,
  requests: readonly RequestStrings[],
  before: number | undefined,
): number | undefined {
  return requests.find(({ sequence, strings }) =>
    strings === undefined ? sequence === before : strings.some((text) => text.includes(id)),
  )?.sequence;
}

/** The binding that both reading layers share. */
export async function bindOnTrajectory(subject: Input<AnyRecord>, view: View) {
  const scrub = subject.value.kind === 'trajectory' ? subject.value.derivation.inputs.scrub : undefined;
  if (scrub === undefined || Array.isArray(scrub)) return [];
  const value = await view.record(scrub['/']);
  const run = await runOfScrub({ cid: scrub['/'], value }, view);
  const trajectory = await derivedBy(trajectoryV1, scrub['/'], view);
  if (run === undefined || trajectory === undefined) return [];
  const injections = run.receipt.injections.map((each) => each['/']);
  return [{ inputs: { receipt: run.receiptCid, scrub: scrub['/'], trajectory: trajectory.cid, injections } }];
}

/** Each injected memory once, in the order of turns. */
export function memoriesOf(injections: readonly Injection[]) {
  const seen = new Map<
    string,
    { id: string; channel: Injection['channel']; text: Injection['memories'][number]['text'] }
  >();
  for (const injection of [...injections].sort((a, b) => a.turn - b.turn)) {
    for (const { id, text } of injection.memories) {
      if (!seen.has(id)) seen.set(id, { id, channel: injection.channel, text });
    }
  }
  return [...seen.values()];
}

interface RequestStrings {
  readonly sequence: number;
  /** Every string that the model was given and did not write; undefined where the request is held back. */
  readonly strings: readonly string[] | undefined;
}

/** Per recorded request, in order. With `lenient`, one that is held back and not here is no fault. */
async function requestStrings(scrub: Full<Scrub>, reader: Reader, lenient: boolean) {
  const requests: RequestStrings[] = [];
  for (const file of scrub.files) {
    const sequence = /^exchange-(\d+)-request$/.exec(file.name)?.[1];
    if (sequence === undefined) continue;
    const cid = blockOf(file.scrubbed);
    const unseen = lenient && isHeld(file) && !(await reader.has(cid));
    const strings = unseen
      ? undefined
      : givenStrings(parseJson(await reader.get(cid), { maxBytes: 256 << 20 }));
    requests.push({ sequence: Number(sequence), strings });
  }
  return requests.sort((a, b) => a.sequence - b.sequence);
}

function givenStrings(body: Json): string[] {
  const { system, messages } = asMap(body);
  const given = asList(messages).filter((message) => asMap(message).role !== 'assistant');
  return [...stringsOf(system ?? null), ...stringsOf(given)];
}
