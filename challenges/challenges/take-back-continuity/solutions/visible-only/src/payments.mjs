import { bookingOf } from './bookings.mjs';
import { dayNumber } from './dates.mjs';
import { invoiceNumbered } from './invoices.mjs';
import { cents, euros, sum } from './money.mjs';
import { Refusal, text } from './refusal.mjs';

/** What of an invoice is still to be paid, in cents; negative where more was credited than was due. */
export function dueOf(state, invoice) {
  const paid = state.payments.filter((payment) => payment.invoice === invoice.number);
  const standing = paid.filter(
    (payment) => !state.takebacks.some(({ against }) => against === payment.number),
  );
  const credited = state.takebacks.filter((document) => document.against === invoice.number);
  return invoice.net + invoice.vat - sum([...standing, ...credited].map((document) => document.amount));
}

function pay({ state, record }, request) {
  const invoice = invoiceNumbered(state, text(request, 'invoice'));
  const amount = cents(request.amount);
  const date = text(request, 'date');
  dayNumber(date);
  if (amount === 0) throw new Refusal('bad-amount', 'nothing was paid');
  if (amount > dueOf(state, invoice)) throw new Refusal('too-much', `${invoice.number}: more than is due`);
  const number = `P${state.payments.length + 1}`;
  record({ type: 'paid', number, invoice: invoice.number, date, amount });
  return { payment: number, due: euros(dueOf(state, invoice)) };
}

/** Everything between us and one owner, in the order it was recorded. What the owner owes counts up. */
function statement({ state }, request) {
  const owner = text(request, 'owner');
  const entries = [];
  for (const { kind, number, booking, date, amount } of state.ledger) {
    if (bookingOf(state, booking).owner === owner) entries.push({ kind, number, date, amount });
  }
  return {
    owner,
    entries: entries.map((entry) => ({ ...entry, amount: euros(entry.amount) })),
    balance: euros(sum(entries.map((entry) => entry.amount))),
  };
}

export const commands = { pay, statement };

export const events = {
  paid: (state, { type, ...payment }) => {
    const { booking } = state.invoices.get(payment.invoice);
    state.payments.push(payment);
    state.ledger.push({ ...payment, kind: 'payment', booking, amount: -payment.amount });
  },
};
