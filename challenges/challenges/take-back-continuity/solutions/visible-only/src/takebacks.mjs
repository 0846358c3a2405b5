import { dayNumber } from './dates.mjs';
import { invoiceNumbered } from './invoices.mjs';
import { cents, euros, sum } from './money.mjs';
import { Refusal, text } from './refusal.mjs';

const PREFIX = { credit: 'CN', return: 'RP' };

/** Every kind is numbered alike: prefix, year, and a counter within both. */
function nextNumber(state, kind, date) {
  const start = `${PREFIX[kind]}-${date.slice(2, 4)}/`;
  const used = state.takebacks.filter((document) => document.number.startsWith(start)).length;
  return `${start}${String(used + 1).padStart(3, '0')}`;
}

function dated(request) {
  const date = text(request, 'date');
  dayNumber(date);
  return { date, reason: text(request, 'reason') };
}

const shown = ({ number, against, amount, reason, date }) => ({
  number,
  against,
  amount: euros(amount),
  reason,
  date,
});

function credit({ state, record }, request) {
  const invoice = invoiceNumbered(state, text(request, 'invoice'));
  const { date, reason } = dated(request);
  const amount = cents(request.amount);
  if (amount === 0) throw new Refusal('bad-amount', 'nothing is credited');
  const earlier = state.takebacks.filter((document) => document.against === invoice.number);
  const left = invoice.net + invoice.vat - sum(earlier.map((document) => document.amount));
  if (amount > left) throw new Refusal('too-much', `${invoice.number}: more than is left to credit`);
  const number = nextNumber(state, 'credit', date);
  record({ type: 'credited', number, against: invoice.number, amount, reason, date });
  return { credit: shown(state.takebacks.at(-1)) };
}

function giveBack({ state, record }, request) {
  const wanted = text(request, 'payment');
  const payment = state.payments.find((one) => one.number === wanted);
  if (payment === undefined) throw new Refusal('no-payment', `no such payment: ${wanted}`);
  const { date, reason } = dated(request);
  if (state.takebacks.some((document) => document.against === payment.number)) {
    throw new Refusal('not-open', `${payment.number} was returned`);
  }
  const number = nextNumber(state, 'return', date);
  record({ type: 'returned', number, against: payment.number, amount: payment.amount, reason, date });
  return { returned: shown(state.takebacks.at(-1)) };
}

export const commands = { credit, return: giveBack };

function keep(state, kind, booking, document, amount) {
  const { number, against, date } = document;
  state.takebacks.push(document);
  state.ledger.push({ kind, number, against, booking, date, amount });
}

export const events = {
  credited: (state, { type, ...document }) => {
    const { booking } = state.invoices.get(document.against);
    keep(state, 'credit', booking, document, -document.amount);
  },
  returned: (state, { type, ...document }) => {
    const payment = state.payments.find((one) => one.number === document.against);
    keep(state, 'return', state.invoices.get(payment.invoice).booking, document, document.amount);
  },
};
