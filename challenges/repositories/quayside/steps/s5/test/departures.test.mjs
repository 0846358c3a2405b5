import assert from 'node:assert/strict';
import { test } from 'node:test';
import { office, STAY } from './office.mjs';

test('a boat departs once, after it came', () => {
  const ask = office();
  ask('book', STAY);
  assert.equal(ask('depart', { booking: 'B1', at: '2025-04-09T10:00' }).code, 'bad-time');
  assert.equal(ask('depart', { booking: 'B1', at: '2025-04-13 10:00' }).code, 'bad-time');
  assert.equal(ask('depart', { booking: 'B1', at: '2025-04-13T10:00' }).booking.status, 'departed');
  assert.equal(ask('depart', { booking: 'B1', at: '2025-04-13T11:00' }).code, 'not-open');
});

test('a boat that has left can still be billed', () => {
  const ask = office();
  ask('book', STAY);
  ask('depart', { booking: 'B1', at: '2025-04-13T10:00' });
  assert.equal(ask('invoice', { booking: 'B1', date: '2025-04-13' }).invoice.total, '116.03');
});
