import { berthNamed } from './berths.mjs';
import { bookingOf } from './bookings.mjs';
import { dayNumber, nights } from './dates.mjs';
import { moment } from './departures.mjs';
import { euros, share, sum } from './money.mjs';
import { nightPrices, tariffPrice } from './pricing.mjs';
import { Refusal, text } from './refusal.mjs';

const VAT = 190;
const NOON = 12 * 60;
const LATE_SHARE = 150;
const HALF_EURO = 50;

/** The invoice of that number. */
export function invoiceNumbered(state, number) {
  const invoice = state.invoices.get(number);
  if (invoice === undefined) throw new Refusal('no-invoice', `no such invoice: ${number}`);
  return invoice;
}

/** Numbers run within a calendar year and have no gap: an invoice is never removed. */
function nextNumber(state, year) {
  const used = [...state.invoices.keys()].filter((number) => number.startsWith(`${year}-`)).length;
  return `${year}-${String(used + 1).padStart(4, '0')}`;
}

function leftLate({ departed, to }) {
  if (departed === undefined) return false;
  const { day, minutes } = moment(departed);
  return day > to || (day === to && minutes > NOON);
}

/** Of the tariff, whoever the owner is, and up to the next half euro. */
function lateDeparture({ berth, from, to }) {
  const lastNight = tariffPrice(berthNamed(berth), nights(from, to).at(-1));
  return Math.ceil((lastNight * LATE_SHARE) / 1000 / HALF_EURO) * HALF_EURO;
}

function linesFor(state, booking) {
  const prices = nightPrices(state, booking);
  const lines = [{ label: `Berth ${booking.berth}, ${prices.length} nights`, amount: sum(prices) }];
  if (leftLate(booking)) lines.push({ label: 'Late departure', amount: lateDeparture(booking) });
  return lines;
}

function issue({ state, record }, request) {
  const booking = bookingOf(state, text(request, 'booking'));
  if (booking.status === 'cancelled') throw new Refusal('not-open', `${booking.id} is cancelled`);
  const date = text(request, 'date');
  dayNumber(date);
  const earlier = [...state.invoices.values()].find((one) => one.booking === booking.id);
  if (earlier !== undefined) return { invoice: shown(earlier) };
  const lines = linesFor(state, booking);
  const net = sum(lines.map((line) => line.amount));
  const number = nextNumber(state, date.slice(0, 4));
  record({ type: 'invoiced', number, booking: booking.id, date, lines, net, vat: share(net, VAT) });
  return { invoice: shown(invoiceNumbered(state, number)) };
}

/** As the outside sees it: money in euros. VAT is taken once, of the sum. */
function shown({ number, booking, date, lines, net, vat }) {
  return {
    number,
    booking,
    date,
    lines: lines.map(({ label, amount }) => ({ label, amount: euros(amount) })),
    net: euros(net),
    vat: euros(vat),
    total: euros(net + vat),
  };
}

export const commands = { invoice: issue };

export const events = {
  invoiced: (state, { type, ...invoice }) => {
    const { number, booking, date, net, vat } = invoice;
    state.invoices.set(number, invoice);
    state.ledger.push({ kind: 'invoice', number, booking, date, amount: net + vat });
  },
};
