import { bookingOf } from './bookings.mjs';
import { dayNumber } from './dates.mjs';
import { euros, share, sum } from './money.mjs';
import { nightPrices } from './pricing.mjs';
import { Refusal, text } from './refusal.mjs';

const VAT = 190;

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

function linesFor(booking) {
  const prices = nightPrices(booking);
  return [{ label: `Berth ${booking.berth}, ${prices.length} nights`, amount: sum(prices) }];
}

function issue({ state, record }, request) {
  const booking = bookingOf(state, text(request, 'booking'));
  if (booking.status === 'cancelled') throw new Refusal('not-open', `${booking.id} is cancelled`);
  const date = text(request, 'date');
  dayNumber(date);
  const earlier = [...state.invoices.values()].find((one) => one.booking === booking.id);
  if (earlier !== undefined) return { invoice: shown(earlier) };
  const lines = linesFor(booking);
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
  invoiced: (state, { type, ...invoice }) => state.invoices.set(invoice.number, invoice),
};
