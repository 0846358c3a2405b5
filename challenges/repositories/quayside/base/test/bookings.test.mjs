import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStore } from '../src/store.mjs';
import { office, STAY } from './office.mjs';

test('a berth is booked once for a night', () => {
  const ask = office();
  assert.equal(ask('book', STAY).booking.id, 'B1');
  assert.equal(ask('book', { ...STAY, from: '2025-04-12', to: '2025-04-14' }).code, 'taken');
  assert.equal(ask('book', { ...STAY, from: '2025-04-13', to: '2025-04-14' }).booking.id, 'B2');
});

test('a cancelled booking frees its berth', () => {
  const ask = office();
  ask('book', STAY);
  assert.equal(ask('cancel', { booking: 'B1' }).booking.status, 'cancelled');
  assert.equal(ask('cancel', { booking: 'B1' }).code, 'not-open');
  assert.equal(ask('book', STAY).booking.id, 'B2');
});

test('a boat must fit', () => {
  assert.equal(office()('book', { ...STAY, length: 13 }).code, 'too-long');
});

test('what happened is replayed', () => {
  const store = openStore();
  office(store)('book', STAY);
  assert.equal(office(openStoreOf(store))('bookings', { owner: 'Ines Roth' }).bookings.length, 1);
});

function openStoreOf({ events }) {
  return { events: [...events], append() {} };
}
