import { test } from 'node:test';

test('an invoice is paid in parts, never beyond what is due', () => {});
test('a statement lists what passed between us and an owner', () => {});
