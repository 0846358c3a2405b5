import { dayNumber } from './dates.mjs';
import { invoiceNumbered } from './invoices.mjs';
import { cents, euros, sum } from './money.mjs';
import { Refusal, text } from './refusal.mjs';

const PREFIX = { credit: 'CN' };

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

export const commands = { credit };

export const events = {
  credited: (state, { type, ...document }) => state.takebacks.push(document),
};
