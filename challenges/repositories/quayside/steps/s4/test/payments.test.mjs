import assert from 'node:assert/strict';
import { test } from 'node:test';
import { office, STAY } from './office.mjs';

function billed() {
  const ask = office();
  ask('book', STAY);
  ask('invoice', { booking: 'B1', date: '2025-04-13' });
  return ask;
}

test('an invoice is paid in parts, never beyond what is due', () => {
  const ask = billed();
  const fields = { invoice: '2025-0001', date: '2025-04-14' };
  assert.deepEqual(ask('pay', { ...fields, amount: '100.00' }), { ok: true, payment: 'P1', due: '16.03' });
  assert.equal(ask('pay', { ...fields, amount: '16.04' }).code, 'too-much');
  assert.equal(ask('pay', { ...fields, amount: '16.03' }).due, '0.00');
});

test('a statement lists what passed between us and an owner', () => {
  const ask = billed();
  ask('pay', { invoice: '2025-0001', date: '2025-04-14', amount: '100.00' });
  const { entries, balance } = ask('statement', { owner: 'Ines Roth' });
  assert.deepEqual(
    entries.map(({ number, amount }) => [number, amount]),
    [
      ['2025-0001', '116.03'],
      ['P1', '-100.00'],
    ],
  );
  assert.equal(balance, '16.03');
  assert.deepEqual(ask('statement', { owner: 'Nobody' }).entries, []);
});
