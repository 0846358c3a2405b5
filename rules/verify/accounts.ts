/** Spend: what a receipt says beside what its exchanges give under the registered price. */

import type { Exchange } from '../contracts/exchange.ts';
import type { Receipt } from '../contracts/receipt.ts';
import type { Study } from '../contracts/study.ts';
import { costOf } from '../cost.ts';
import type { Faults } from './fault.ts';
import type { Library } from './library.ts';

/**
 * An exchange without usage was booked at its worst case, and a lost run at what its ledger holds: then the receipt may
 * say more money, never less.
 */
export function checkAccounts(library: Library, faults: Faults): void {
  for (const [cid, receipt] of library.records) {
    if (receipt.kind !== 'receipt') continue;
    const start = library.records.get(receipt.start['/']);
    const study = start?.kind === 'start' ? library.records.get(start.study['/']) : undefined;
    if (study?.kind !== 'study') continue;
    const exchanges = receipt.exchanges.flatMap((each) => {
      const exchange = library.records.get(each['/']);
      return exchange?.kind === 'exchange' ? [exchange] : [];
    });
    for (const detail of differences(receipt, exchanges, study)) faults.add('accounts', cid, detail);
  }
}

function differences({ spend, status }: Receipt, exchanges: readonly Exchange[], study: Study): string[] {
  const sum = { micros: 0, inputTokens: 0, outputTokens: 0 };
  for (const { usage } of exchanges) {
    if (usage === undefined) continue;
    sum.micros += costOf(usage, study.prices);
    sum.inputTokens += usage.input + usage.cacheRead + usage.cacheWrite;
    sum.outputTokens += usage.output;
  }
  const exact = status !== 'lost' && exchanges.every(({ usage }) => usage !== undefined);
  const requests = status === 'lost' ? Math.max(spend.requests, exchanges.length) : exchanges.length;
  const found = { ...sum, micros: exact ? sum.micros : Math.max(sum.micros, spend.micros), requests };
  return (['micros', 'requests', 'inputTokens', 'outputTokens'] as const)
    .filter((name) => spend[name] !== found[name])
    .map((name) => `says ${spend[name]} ${name}, its exchanges give ${found[name]}`);
}
