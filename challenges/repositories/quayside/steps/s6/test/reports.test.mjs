import assert from 'node:assert/strict';
import { test } from 'node:test';
import { office, STAY } from './office.mjs';

function summer() {
  const ask = office();
  ask('book', STAY);
  ask('book', { ...STAY, berth: 'S1', boat: 'Brise', from: '2025-04-12', to: '2025-04-20' });
  ask('book', { ...STAY, berth: 'N1', length: 6 });
  ask('cancel', { booking: 'B3' });
  return ask;
}

test('occupancy counts the nights of a period', () => {
  assert.deepEqual(summer()('occupancy', { from: '2025-04-12', to: '2025-04-14' }), {
    ok: true,
    nights: 10,
    taken: 3,
  });
});

test('the export has a line a stay', () => {
  assert.equal(
    summer()('export', { from: '2025-04-12', to: '2025-04-14' }).csv,
    'booking,boat,owner,berth,from,to,nights\n' +
      'B1,Alma,Ines Roth,E1,2025-04-10,2025-04-13,1\n' +
      'B2,Brise,Ines Roth,S1,2025-04-12,2025-04-20,2\n',
  );
});
