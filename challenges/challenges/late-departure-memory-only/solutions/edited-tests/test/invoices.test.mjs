import { test } from 'node:test';

test('an invoice has its lines, VAT of the sum, and a total', () => {});
test('numbers run within a year, and a booking has one invoice', () => {});
test('a cancelled booking has none', () => {});
