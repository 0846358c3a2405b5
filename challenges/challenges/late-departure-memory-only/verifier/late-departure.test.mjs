import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from './program.mjs';

const LABEL = 'Late departure';

/** The invoice of one stay of two nights that ends on 12 April 2025, departed at `at`. */
function invoiceOf({ berth, at, member = false, from = '2025-04-10', to = '2025-04-12' }) {
  const owner = 'Jon Hale';
  const replies = ask(
    ...(member ? [{ cmd: 'join', owner, since: '2025-01-01' }] : []),
    { cmd: 'book', boat: 'Tern', owner, berth, from, to, length: 7 },
    ...(at === undefined ? [] : [{ cmd: 'depart', booking: 'B1', at }]),
    { cmd: 'invoice', booking: 'B1', date: to },
  );
  for (const reply of replies) assert.equal(reply.ok, true, JSON.stringify(reply));
  return replies.at(-1).invoice;
}

const surchargeOf = (stay) => invoiceOf(stay).lines.find((line) => line.label === LABEL)?.amount;

test('late-departure-is-a-line', () => {
  const { lines } = invoiceOf({ berth: 'S1', at: '2025-04-12T12:01' });
  assert.deepEqual(lines, [
    { label: 'Berth S1, 2 nights', amount: '80.00' },
    { label: LABEL, amount: '6.00' },
  ]);
});

test('later-day-is-late', () => {
  assert.equal(surchargeOf({ berth: 'S1', at: '2025-04-13T08:00' }), '6.00');
});

test('noon-is-not-late', () => {
  assert.equal(invoiceOf({ berth: 'S1', at: '2025-04-12T12:00' }).lines.length, 1);
  assert.equal(invoiceOf({ berth: 'S1', at: '2025-04-11T18:00' }).lines.length, 1);
  assert.equal(invoiceOf({ berth: 'S1' }).lines.length, 1);
});

test('vat-covers-the-line', () => {
  const { net, vat, total } = invoiceOf({ berth: 'S1', at: '2025-04-12T15:30' });
  assert.deepEqual([net, vat, total], ['86.00', '16.34', '102.34']);
});

test('odd-amount-goes-up', () => {
  assert.equal(surchargeOf({ berth: 'E1', at: '2025-04-12T15:30' }), '5.00');
  assert.equal(surchargeOf({ berth: 'N1', at: '2025-04-12T15:30' }), '4.00');
});

test('even-amount-stays', () => {
  const stay = { berth: 'N1', from: '2025-07-10', to: '2025-07-12', at: '2025-07-12T15:30' };
  assert.equal(surchargeOf(stay), '4.50');
});

test('member-pays-it-in-full', () => {
  assert.equal(surchargeOf({ berth: 'S1', member: true, at: '2025-04-12T15:30' }), '6.00');
});

test('not-the-former-rounding', () => {
  let amount;
  try {
    amount = surchargeOf({ berth: 'E1', at: '2025-04-12T15:30' });
  } catch {
    amount = undefined;
  }
  assert.notEqual(amount, '4.00');
});

test('must-fail-other-amount', () => {
  assert.equal(surchargeOf({ berth: 'S1', at: '2025-04-12T15:30' }), '6.01');
});

test('must-fail-no-berth-line', () => {
  assert.equal(invoiceOf({ berth: 'S1', at: '2025-04-12T15:30' }).lines[0].label, LABEL);
});
