import assert from 'node:assert/strict';
import { test } from 'node:test';
import { office, STAY } from './office.mjs';

test('members pay nine tenths of each night, from the day they joined', () => {
  const ask = office();
  ask('join', { owner: 'Ines Roth', since: '2025-04-11' });
  const stay = { berth: 'S1', from: '2025-04-10', to: '2025-04-12' };
  assert.equal(ask('quote', { ...stay, owner: 'Ines Roth' }).price, '76.00');
  assert.equal(ask('quote', stay).price, '80.00');
  ask('book', { ...STAY, ...stay });
  assert.equal(ask('invoice', { booking: 'B1', date: '2025-04-12' }).invoice.net, '76.00');
});
