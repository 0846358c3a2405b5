import assert from 'node:assert/strict';
import { test } from 'node:test';

const passing = [
  'comma-is-quoted',
  'quote-is-doubled',
  'line-breaks-are-quoted',
  'several-at-once',
  'others-stay-bare',
];
const failing = ['must-fail-other-sign', 'must-fail-all-quoted'];
for (const id of passing) test(id, () => {});
for (const id of failing) test(id, () => assert.fail('as wanted'));
