/**
 * `deliver`: the first of three layers. Two facts are kept apart: the transcript's own non-agent record of an injected
 * memory, and a request seen by the meter that holds the memory's id outside the model's own messages.
 */
import { link } from '../../store/format/cid.ts';
import { type Json, parseJson } from '../../store/format/json.ts';
import type { Reader } from '../../store/format/reader.ts';
import type { Injection } from '../contracts/injection.ts';
import type { Full } from '../contracts/kit.ts';
import type { Scrub } from '../contracts/scrub.ts';
import { defineRule, full, many, one } from '../rule.ts';
import { derivedBy, runOfScrub } from '../runs.ts';
import { fromAtif } from '../trajectory/atif.ts';
import { asList, asMap } from '../trajectory/lines.ts';
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
  async apply({ receipt, scrub, trajectory, injections }, { reader }) {
    const steps = fromAtif(parseJson(await reader.get(full(trajectory).atif['/']), { maxBytes: 1 << 30 }));
    const requests = await requestStrings(full(scrub), reader);
    const memories = memoriesOf(injections.map(({ value }) => value)).map(({ id, channel }) => {
      const recordedAt = findDelivered(steps, id)[0]?.step;
      const sentIn = requests.find(({ strings }) => strings.some((text) => text.includes(id)))?.sequence;
      return {
        id,
        channel,
        ...(recordedAt === undefined ? {} : { recordedAt }),
        ...(sentIn === undefined ? {} : { sentIn }),
      };
    });
    const both = memories.every((each) => 'recordedAt' in each && 'sentIn' in each);
    return {
      receipt: link(receipt.cid),
      scrub: link(scrub.cid),
      trajectory: link(trajectory.cid),
      memories,
      delivered: memories.length > 0 && both,
    };
  },
});

/** The binding that both reading layers share. */
export async function bindOnTrajectory(...[subject, view]: Parameters<typeof trajectoryV1.bind>) {
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

/** Per recorded request, in order: every string that the model was given and did not write. */
async function requestStrings(scrub: Full<Scrub>, reader: Reader) {
  const requests: { sequence: number; strings: string[] }[] = [];
  for (const { name, scrubbed } of scrub.files) {
    const sequence = /^exchange-(\d+)-request$/.exec(name)?.[1];
    if (sequence === undefined) continue;
    const body = parseJson(await reader.get(scrubbed['/']), { maxBytes: 256 << 20 });
    requests.push({ sequence: Number(sequence), strings: givenStrings(body) });
  }
  return requests.sort((a, b) => a.sequence - b.sequence);
}

function givenStrings(body: Json): string[] {
  const { system, messages } = asMap(body);
  const given = asList(messages).filter((message) => asMap(message).role !== 'assistant');
  return [...stringsOf(system ?? null), ...stringsOf(given)];
}
