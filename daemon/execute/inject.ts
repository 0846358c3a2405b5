/** Memory with the prompt: asks the provisioner once a turn and writes down what was handed over. */

import { type Memory, memoryBlock, memoryId } from '../../rules/memory/block.ts';
import { type Cid, digestOf, type Evidence, evidence, link } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import type { Injection as HandedOver } from '../agents/adapter.ts';
import { type Accounts, put, type State, type Task } from './task.ts';

/** How many memories a recall may give, unless the condition says otherwise (`parameters.limit`). */
const LIMIT = 5;

/**
 * What goes before the prompt of this turn. Memory comes with the first prompt only. The record is in the books before
 * the agent sees the text. Throws E_PROVISION.
 */
export async function injectWithPrompt(
  task: Task,
  state: State,
  turn: number,
  prompt: string,
): Promise<readonly HandedOver[]> {
  const { channel } = task.condition.value;
  if (channel !== 'prompt' || turn !== 1) return [];
  const { provisioner } = task.world;
  if (provisioner?.recall === undefined || state.project === undefined || state.start === undefined) {
    fail('E_PROVISION', { where: 'recall', wanted: 'a provisioner that recalls', found: 'none' });
  }
  const limit = Number(task.condition.value.parameters.limit ?? LIMIT);
  const { value, raw } = await provisioner.recall({ project: state.project, query: prompt, channel, limit });
  const memories = value.memories.map(({ id, text }) => ({ id: memoryId(text), text, origin: id }));
  const kept = evidence(digestOf(await task.store.put(raw)));
  const given = { start: state.start, turn, channel, memories, reply: kept };
  await injectionRecord(task, given, state.books);
  const block = { channel, text: memoryBlock(memories), memories: memories.map(({ id }) => id) };
  return memories.length === 0 ? [] : [block];
}

interface Given {
  readonly start: Cid;
  readonly turn: number;
  readonly channel: 'prompt' | 'tool';
  readonly memories: readonly (Memory & { readonly origin?: string })[];
  readonly reply: Evidence;
}

/** Stores the texts and puts the injection record, in the store and in the books. */
export async function injectionRecord(task: Task, given: Given, books?: Accounts): Promise<void> {
  const memories = [];
  for (const { id, text, origin } of given.memories) {
    const bytes = link(await task.store.put(Buffer.from(text, 'utf8')));
    memories.push({ id, text: bytes, lessons: [], ...(origin === undefined ? {} : { origin }) });
  }
  const record = await put(task, {
    kind: 'injection',
    v: 1,
    start: link(given.start),
    condition: link(task.condition.cid),
    fixture: link(task.fixture.cid),
    challenge: link(task.challenge.cid),
    agent: link(task.agent.cid),
    turn: given.turn,
    channel: given.channel,
    memories,
    bytes: given.memories.reduce((total, { text }) => total + Buffer.byteLength(text), 0),
    reply: given.reply,
  });
  // The same question in the same turn has the same answer: one record.
  if (books?.injections.includes(record) === false) books.injections.push(record);
}
