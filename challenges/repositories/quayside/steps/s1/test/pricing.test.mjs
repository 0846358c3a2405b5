import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cents, euros, share } from '../src/money.mjs';
import { office } from './office.mjs';

test('money is whole cents inside', () => {
  assert.equal(cents('12.50'), 1250);
  assert.equal(euros(1205), '12.05');
  assert.equal(euros(-5), '-0.05');
  assert.equal(share(3250, 1250), 4063);
  assert.throws(() => cents('12,50'), { code: 'bad-amount' });
});

test('summer nights cost a quarter more', () => {
  const ask = office();
  assert.equal(ask('quote', { berth: 'E1', from: '2025-04-10', to: '2025-04-12' }).price, '65.00');
  assert.equal(ask('quote', { berth: 'E1', from: '2025-05-31', to: '2025-06-02' }).price, '73.13');
});
