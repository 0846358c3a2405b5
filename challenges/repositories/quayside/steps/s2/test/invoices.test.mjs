import assert from 'node:assert/strict';
import { test } from 'node:test';
import { office, STAY } from './office.mjs';

test('an invoice has its lines, VAT of the sum, and a total', () => {
  const ask = office();
  ask('book', STAY);
  const { invoice } = ask('invoice', { booking: 'B1', date: '2025-04-13' });
  assert.deepEqual(invoice.lines, [{ label: 'Berth E1, 3 nights', amount: '97.50' }]);
  assert.deepEqual([invoice.net, invoice.vat, invoice.total], ['97.50', '18.53', '116.03']);
});

test('numbers run within a year, and a booking has one invoice', () => {
  const ask = office();
  ask('book', STAY);
  ask('book', { ...STAY, from: '2026-01-02', to: '2026-01-03' });
  assert.equal(ask('invoice', { booking: 'B1', date: '2025-04-13' }).invoice.number, '2025-0001');
  assert.equal(ask('invoice', { booking: 'B1', date: '2025-04-20' }).invoice.number, '2025-0001');
  assert.equal(ask('invoice', { booking: 'B2', date: '2026-01-03' }).invoice.number, '2026-0001');
});

test('a cancelled booking has none', () => {
  const ask = office();
  ask('book', STAY);
  ask('cancel', { booking: 'B1' });
  assert.equal(ask('invoice', { booking: 'B1', date: '2025-04-13' }).code, 'not-open');
});
