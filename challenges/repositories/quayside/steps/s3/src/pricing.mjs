import { berthNamed } from './berths.mjs';
import { nights } from './dates.mjs';
import { isMember } from './members.mjs';
import { euros, share, sum } from './money.mjs';
import { text } from './refusal.mjs';

/** Cents a night by class of berth. */
const TARIFF = { A: 2400, B: 3250, C: 4000 };
const SUMMER = new Set(['06', '07', '08']);
const SUMMER_SHARE = 1250;
const MEMBER_SHARE = 900;

/** What one night costs by the tariff, in cents. */
export function tariffPrice(berth, night) {
  const plain = TARIFF[berth.class];
  return SUMMER.has(night.slice(5, 7)) ? share(plain, SUMMER_SHARE) : plain;
}

/** The price of every night of a stay for its owner, in cents: members pay nine tenths of each night. */
export function nightPrices(state, { berth, owner, from, to }) {
  return nights(from, to).map((night) => {
    const price = tariffPrice(berthNamed(berth), night);
    return isMember(state, owner, night) ? share(price, MEMBER_SHARE) : price;
  });
}

function quote({ state }, request) {
  const stay = { berth: text(request, 'berth'), from: text(request, 'from'), to: text(request, 'to') };
  const prices = nightPrices(state, { ...stay, owner: request.owner });
  return { nights: prices.length, price: euros(sum(prices)) };
}

export const commands = { quote };
