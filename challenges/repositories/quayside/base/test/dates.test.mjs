import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayName, dayNumber, nights } from '../src/dates.mjs';

test('a stay is its nights, the day of leaving is none', () => {
  assert.deepEqual(nights('2025-02-27', '2025-03-02'), ['2025-02-27', '2025-02-28', '2025-03-01']);
  assert.throws(() => nights('2025-03-02', '2025-03-02'), { code: 'bad-stay' });
});

test('days are numbered without local time', () => {
  assert.equal(dayName(dayNumber('2024-02-29')), '2024-02-29');
  assert.throws(() => dayNumber('2025-02-29'), { code: 'bad-date' });
  assert.throws(() => dayNumber('1.3.2025'), { code: 'bad-date' });
});
