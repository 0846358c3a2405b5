/** Spend: what a receipt says beside what its exchanges give under the registered price. */
import { costOf } from '../cost.ts';
import type { Faults } from './fault.ts';
import type { Library } from './library.ts';

/** An exchange without usage was booked at its worst case: then the receipt may say more, never less. */
export function checkAccounts(library: Library, faults: Faults): void {
  for (const [cid, receipt] of library.records) {
    if (receipt.kind !== 'receipt') continue;
    const start = library.records.get(receipt.start['/']);
    const study = start?.kind === 'start' ? library.records.get(start.study['/']) : undefined;
    if (study?.kind !== 'study') continue;
    const exchanges = receipt.exchanges.map((each) => library.records.get(each['/']));
    let micros = 0;
    let open = 0;
    for (const exchange of exchanges) {
      if (exchange?.kind !== 'exchange' || exchange.usage === undefined) open += 1;
      else micros += costOf(exchange.usage, study.prices);
    }
    const said = receipt.spend.micros;
    const wrong = open === 0 && receipt.status !== 'lost' ? said !== micros : said < micros;
    if (wrong) faults.add('accounts', cid, `says ${said} micros, its exchanges give ${micros}`);
  }
}
