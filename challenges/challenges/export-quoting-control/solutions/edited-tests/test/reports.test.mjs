import { test } from 'node:test';

test('occupancy counts the nights of a period', () => {});
test('the export has a line a stay', () => {});
