/**
 * Each run closes over its plan: what a receipt holds is of its own start, what was injected is of its own arm's
 * condition, and its verdict is the one that its published report gives.
 */
import type { Cid } from '../../store/format/cid.ts';
import { encode, type Value } from '../../store/format/codec.ts';
import type { Exchange } from '../contracts/exchange.ts';
import { isRefused } from '../contracts/kit.ts';
import { OUTCOME_STATUSES, type Receipt } from '../contracts/receipt.ts';
import type { Start } from '../contracts/start.ts';
import type { Faults } from './fault.ts';
import type { Library } from './library.ts';

const HAS_OUTCOME: ReadonlySet<string> = new Set(OUTCOME_STATUSES);

export function checkRuns(library: Library, faults: Faults): void {
  for (const [cid, record] of library.records) {
    if (record.kind === 'outcome' && !isRefused(record) && !record.agrees)
      faults.add('run', record.receipt['/'], 'its verdict is not the one that its published report gives');
    if (record.kind !== 'receipt') continue;
    const start = library.records.get(record.start['/']);
    if (start?.kind !== 'start') continue;
    const say = (detail: string) => faults.add('run', cid, detail);
    checkExchanges(record, library, say);
    checkInjections(record, start, library, say);
    checkBuilds(record, start, library, say);
  }
}

type Say = (detail: string) => void;

function checkExchanges(receipt: Receipt, { records }: Library, say: Say): void {
  const seen = new Set<number>();
  for (const each of receipt.exchanges) {
    const exchange = records.get(each['/']);
    if (exchange?.kind !== 'exchange') continue;
    if (exchange.start['/'] !== receipt.start['/']) say(`exchange ${exchange.sequence} is of another start`);
    if (seen.has(exchange.sequence)) say(`two exchanges ${exchange.sequence}`);
    seen.add(exchange.sequence);
    if (!reserved(exchange, records)) say(`exchange ${exchange.sequence} has no reservation of its own`);
  }
}

/** The ledger entry before it: of the same start and place, for the same bytes. */
function reserved(exchange: Exchange, records: Library['records']): boolean {
  const entry = records.get(exchange.reservation['/']);
  if (entry?.kind !== 'ledger' || entry.entry !== 'reservation') return false;
  const same = entry.start['/'] === exchange.start['/'] && entry.sequence === exchange.sequence;
  return same && entry.request === exchange.request;
}

function checkInjections(receipt: Receipt, start: Start, { records }: Library, say: Say): void {
  const plan = records.get(start.plan['/']);
  if (plan?.kind !== 'plan' || isRefused(plan)) return;
  const { fixture, challenge, agent } = plan.shared;
  const condition = records.get(plan.arms[start.arm]?.['/'] as Cid);
  const given = condition?.kind === 'condition' ? condition : undefined;
  if (given?.channel === 'prompt' && HAS_OUTCOME.has(receipt.status) && receipt.injections.length === 0)
    say(`no injection, though the condition of its arm ${start.arm} has one with the prompt`);
  for (const each of receipt.injections) {
    const injection = records.get(each['/']);
    if (injection?.kind !== 'injection') continue;
    if (injection.start['/'] !== receipt.start['/']) say('an injection of another start');
    if (injection.condition['/'] !== plan.arms[start.arm]?.['/'])
      say(`an injection of another condition than that of its arm ${start.arm}`);
    if (given !== undefined && injection.channel !== given.channel && given.tools.length === 0)
      say(`an injection through ${injection.channel}, which its arm ${start.arm} has not`);
    const shared = { fixture, challenge, agent };
    for (const name of ['fixture', 'challenge', 'agent'] as const)
      if (injection[name]['/'] !== shared[name]['/']) say(`an injection of another ${name}`);
  }
}

function checkBuilds(receipt: Receipt, start: Start, { records }: Library, say: Say): void {
  const study = records.get(start.study['/']);
  if (study?.kind !== 'study') return;
  const bytes = (value: unknown) => encode(value as Value);
  if (Buffer.compare(bytes(receipt.builds), bytes(study.builds)) !== 0)
    say('other builds than the study registers');
}
