/** Opens the one proxy of this arm, and puts a ledger reservation before and an exchange after every request. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Memory, memoryId } from '../../rules/memory/block.ts';
import { type Cid, digestOf, evidence, link } from '../../store/format/cid.ts';
import { fail } from '../../store/format/errors.ts';
import { type Booking, openMeter, type Reservation } from '../meter/meter.ts';
import { injectionRecord } from './inject.ts';
import { type Accounts, put, type Step, type Task } from './task.ts';

export const meter: Step = {
  name: 'meter',
  when: 'ok',
  voids: 'aborted',
  async run(task, { start, project }) {
    if (start === undefined) fail('E_INTERNAL', { where: 'meter', wanted: 'a start' });
    const { study, world } = task;
    const books = openBooks();
    const folder = join(world.scratch, 'gate');
    await mkdir(folder, { recursive: true, mode: 0o755 });
    const socket = join(folder, 'api.sock');
    const opened = await openMeter({
      listen: { socket, mode: 0o666 },
      upstream: world.upstream,
      prices: { [task.agent.value.model]: study.value.prices },
      budget: world.purse(study.value.caps.runMicros),
      emit: (bytes) => task.store.put(bytes),
      reserve: (reservation) => reserve(task, start, reservation),
      book: (booking) => book(task, start, booking, books),
      ...(declaresSearch(task) ? { recall: (asked) => recall(task, { start, project, books }, asked) } : {}),
    });
    return { meter: opened, socket, books };
  },
  close: async (_task, { meter: open }) => open?.close(),
};

const openBooks = (): Accounts => ({
  exchanges: [],
  injections: [],
  turn: 0,
  micros: 0,
  inputTokens: 0,
  outputTokens: 0,
});

const declaresSearch = (task: Task): boolean => task.condition.value.tools.includes('search_memory');

async function reserve(
  task: Task,
  start: Cid,
  { sequence, request, worstCaseMicros }: Reservation,
): Promise<string> {
  return put(task, {
    kind: 'ledger',
    v: 1,
    entry: 'reservation',
    start: link(start),
    sequence,
    request: evidence(digestOf(request)),
    micros: worstCaseMicros,
  });
}

async function book(task: Task, start: Cid, booking: Booking, books: Accounts): Promise<void> {
  const reservation = link(booking.reservation as Cid);
  const { micros, basis, usage } = booking;
  await put(task, { kind: 'ledger', v: 1, entry: 'booking', reservation, micros, basis });
  // If we die here the booking stands without its exchange: the money is counted, the run is `lost`.
  const exchange = await put(task, {
    kind: 'exchange',
    v: 1,
    start: link(start),
    reservation,
    sequence: booking.sequence,
    request: evidence(digestOf(booking.request)),
    response: evidence(digestOf(booking.response)),
    status: booking.status,
    ...(usage === undefined ? {} : { usage }),
  });
  books.exchanges.push(exchange);
  books.last = { status: booking.status, complete: booking.complete, response: booking.response };
  books.micros += micros;
  books.inputTokens += usage === undefined ? 0 : usage.input + usage.cacheRead + usage.cacheWrite;
  books.outputTokens += usage?.output ?? 0;
}

interface Asking {
  readonly start: Cid;
  readonly project: string | undefined;
  readonly books: Accounts;
}

/** The pull channel: the memory tool asks, the provisioner answers, and what came back is an injection. */
async function recall(
  task: Task,
  { start, project, books }: Asking,
  asked: { query: string; limit: number },
): Promise<readonly Memory[]> {
  const { provisioner } = task.world;
  if (provisioner?.recall === undefined || project === undefined) {
    fail('E_PROVISION', { where: 'recall', wanted: 'a provisioner that recalls', found: 'none' });
  }
  const { value, raw } = await provisioner.recall({ project, channel: 'tool', ...asked });
  const memories = value.memories.map(({ id, text }) => ({ id: memoryId(text), text, origin: id }));
  const reply = evidence(digestOf(await task.store.put(raw)));
  const given = { start, turn: books.turn, channel: 'tool', memories, reply } as const;
  // Recorded before the agent has it: what it got is what the receipt says.
  await injectionRecord(task, given, books);
  return memories.map(({ id, text }) => ({ id, text }));
}
