import { berthNamed } from './berths.mjs';
import { nights } from './dates.mjs';
import { euros, share, sum } from './money.mjs';
import { text } from './refusal.mjs';

/** Cents a night by class of berth. */
const TARIFF = { A: 2400, B: 3250, C: 4000 };
const SUMMER = new Set(['06', '07', '08']);
const SUMMER_SHARE = 1250;

/** What one night costs by the tariff, in cents. */
export function tariffPrice(berth, night) {
  const plain = TARIFF[berth.class];
  return SUMMER.has(night.slice(5, 7)) ? share(plain, SUMMER_SHARE) : plain;
}

/** The price of every night of a stay, in cents. */
export function nightPrices({ berth, from, to }) {
  return nights(from, to).map((night) => tariffPrice(berthNamed(berth), night));
}

function quote(_, request) {
  const stay = { berth: text(request, 'berth'), from: text(request, 'from'), to: text(request, 'to') };
  const prices = nightPrices(stay);
  return { nights: prices.length, price: euros(sum(prices)) };
}

export const commands = { quote };
