/**
 * Start-up: nothing is adopted.
 * Promises: every sandbox that carries this store's label is stopped and removed; every reservation without a booking
 * is booked at its worst case; every start without a receipt gets a `lost` one. Run twice, it adds nothing.
 */

import type { View } from '../rules/rule.ts';
import { viewAs } from '../rules/runs.ts';
import { type Cid, link } from '../store/format/cid.ts';
import type { Value } from '../store/format/codec.ts';
import { fail } from '../store/format/errors.ts';
import type { Store } from '../store/store.ts';
import type { Executor, ExecutorName } from './executors/executor.ts';
import { openExecutor } from './executors/open.ts';
import { placeOf } from './places.ts';
import { viewOf } from './view.ts';

export interface Reaped {
  readonly sandboxes: readonly string[];
  readonly booked: number;
  readonly lost: readonly Cid[];
}

/**
 * Only for the owner of the store, and only before it starts anything. Throws E_EXECUTOR where an engine cannot say
 * what runs: then no start may be written off; E_STORE_BUSY where another process owns the store: its runs are alive.
 */
export async function reap(store: Store, executors: readonly Executor[], owner: string): Promise<Reaped> {
  if (store.remote === true) {
    const hint = 'The owner writes off what was lost when it starts';
    fail('E_STORE_BUSY', { where: store.path, wanted: 'the owner of the store', found: 'a client', hint });
  }
  const view = viewOf(store);
  const open = await startsWithoutReceipt(view);
  const sandboxes = await removeSandboxes(executors, await executorsOf(open, view), owner);
  // If we die after the bookings, the next start-up finds none left and goes on with the receipts.
  const booked = await bookWorstCases(store, view);
  const lost: Cid[] = [];
  for (const start of open) lost.push(await writeLost(store, view, start));
  return { sandboxes, booked, lost };
}

async function startsWithoutReceipt(view: View): Promise<Cid[]> {
  const open: Cid[] = [];
  for (const start of await view.byKind('start')) {
    if ((await view.linkers(start, 'receipt')).length === 0) open.push(start);
  }
  return open;
}

async function executorsOf(starts: readonly Cid[], view: View): Promise<Set<ExecutorName>> {
  const names = new Set<ExecutorName>();
  for (const start of starts) names.add((await viewAs('start', start, view)).executor);
  return names;
}

/** Those given, and those that a lost start ran under although this host is now configured for another. */
async function removeSandboxes(
  given: readonly Executor[],
  needed: ReadonlySet<ExecutorName>,
  owner: string,
): Promise<string[]> {
  const removed: string[] = [];
  for (const executor of given) removed.push(...(await executor.reap(owner)));
  for (const name of needed) {
    if (given.some((executor) => executor.name === name)) continue;
    const executor = await openExecutor(name, { folder: placeOf(owner) });
    removed.push(...(await executor.reap(owner)));
    await executor.close();
  }
  return removed;
}

async function bookWorstCases(store: Store, view: View): Promise<number> {
  let booked = 0;
  for (const cid of await view.byKind('ledger')) {
    const entry = await viewAs('ledger', cid, view);
    if (entry.entry !== 'reservation' || (await view.linkers(cid, 'ledger')).length > 0) continue;
    const booking = { kind: 'ledger', v: 1, entry: 'booking', reservation: link(cid), micros: entry.micros };
    await store.record({ ...booking, basis: 'worst-case' } as Value);
    booked += 1;
  }
  return booked;
}

async function writeLost(store: Store, view: View, start: Cid): Promise<Cid> {
  const exchanges = await view.linkers(start, 'exchange');
  const injections = await view.linkers(start, 'injection');
  const { study } = await viewAs('start', start, view);
  const { builds } = await viewAs('study', study['/'], view);
  const receipt = {
    kind: 'receipt',
    v: 1,
    start: link(start),
    status: 'lost',
    fault: { step: 'daemon', code: 'E_INTERNAL', detail: 'the daemon ended before this start had a receipt' },
    injections: injections.map(link),
    exchanges: exchanges.map(link),
    natives: [],
    replies: [],
    spend: await spendOf(view, start),
    timings: {},
    builds,
  };
  return (await store.record(receipt as unknown as Value)).cid;
}

/** What the ledger says was spent for a start. */
export async function spendOf(view: View, start: Cid) {
  const spend = { micros: 0, requests: 0, inputTokens: 0, outputTokens: 0 };
  for (const cid of await view.linkers(start, 'ledger')) {
    for (const booking of await view.linkers(cid, 'ledger')) {
      const entry = await viewAs('ledger', booking, view);
      spend.micros += entry.micros;
      spend.requests += 1;
    }
  }
  for (const cid of await view.linkers(start, 'exchange')) {
    const { usage } = await viewAs('exchange', cid, view);
    spend.inputTokens += usage === undefined ? 0 : usage.input + usage.cacheRead + usage.cacheWrite;
    spend.outputTokens += usage?.output ?? 0;
  }
  return spend;
}
