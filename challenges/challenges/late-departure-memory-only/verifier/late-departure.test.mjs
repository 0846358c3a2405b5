import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from './program.mjs';

const LABEL = 'Late departure';
const MEMBER = 'Mia Lund';

const SPRING = {
  late: { berth: 'S1', from: '2025-04-01', to: '2025-04-03', at: '2025-04-03T12:01' },
  nextDay: { berth: 'S1', from: '2025-04-04', to: '2025-04-06', at: '2025-04-07T08:00' },
  noon: { berth: 'S1', from: '2025-04-08', to: '2025-04-10', at: '2025-04-10T12:00' },
  early: { berth: 'S1', from: '2025-04-11', to: '2025-04-13', at: '2025-04-12T18:00' },
  lying: { berth: 'S1', from: '2025-04-14', to: '2025-04-16' },
};
const AMOUNTS = {
  odd: { berth: 'E1', from: '2025-04-01', to: '2025-04-03', at: '2025-04-03T15:30' },
  small: { berth: 'N1', from: '2025-04-01', to: '2025-04-03', at: '2025-04-03T15:30' },
  even: { berth: 'N1', from: '2025-07-01', to: '2025-07-03', at: '2025-07-03T15:30' },
  member: { berth: 'S1', from: '2025-04-01', to: '2025-04-03', at: '2025-04-03T15:30', owner: MEMBER },
};

/** The invoice of every stay of a table by its name, all asked for in one run of the program. */
function invoicesOf(stays) {
  const named = Object.entries(stays);
  const requests = named.flatMap(([, { berth, from, to, at, owner = 'Jon Hale' }], index) => [
    { cmd: 'book', boat: 'Tern', owner, berth, from, to, length: 7 },
    ...(at === undefined ? [] : [{ cmd: 'depart', booking: `B${index + 1}`, at }]),
    { cmd: 'invoice', booking: `B${index + 1}`, date: to },
  ]);
  const replies = ask({ cmd: 'join', owner: MEMBER, since: '2025-01-01' }, ...requests);
  const invoices = replies.map((reply) => reply.invoice).filter((invoice) => invoice !== undefined);
  assert.equal(invoices.length, named.length, 'every stay is billed');
  return Object.fromEntries(named.map(([name], index) => [name, invoices[index]]));
}

const spring = () => invoicesOf(SPRING);
const surcharge = (name) => invoicesOf(AMOUNTS)[name].lines.find((line) => line.label === LABEL)?.amount;

test('late-departure-is-a-line', () => {
  assert.deepEqual(spring().late.lines, [
    { label: 'Berth S1, 2 nights', amount: '80.00' },
    { label: LABEL, amount: '6.00' },
  ]);
});

test('later-day-is-late', () => {
  assert.deepEqual(spring().nextDay.lines, spring().late.lines);
});

test('noon-is-not-late', () => {
  const { noon, early, lying } = spring();
  for (const invoice of [noon, early, lying]) assert.equal(invoice.lines.length, 1);
});

test('vat-covers-the-line', () => {
  const { net, vat, total } = spring().late;
  assert.deepEqual([net, vat, total], ['86.00', '16.34', '102.34']);
});

test('odd-amount-goes-up', () => {
  assert.equal(surcharge('odd'), '5.00');
  assert.equal(surcharge('small'), '4.00');
});

test('even-amount-stays', () => {
  assert.equal(surcharge('even'), '4.50');
});

test('member-pays-it-in-full', () => {
  assert.equal(surcharge('member'), '6.00');
});

test('not-the-former-rounding', () => {
  let amount;
  try {
    amount = surcharge('odd');
  } catch {
    // No answer at all follows no rule.
  }
  assert.notEqual(amount, '4.00');
});

test('must-fail-other-amount', () => {
  assert.equal(spring().late.lines.at(-1).amount, '6.01');
});

test('must-fail-no-berth-line', () => {
  assert.equal(spring().late.lines[0].label, LABEL);
});
